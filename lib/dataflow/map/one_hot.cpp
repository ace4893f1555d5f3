#include <cstring>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map/tensor_map.h"
#include "fields/tensor_fields.h"

namespace tpack {
namespace {

struct OneHotMapParams {
  int64_t classes = 0;
  DType dtype = DType::kFloat32;
};

/// Shapes: x [...] of integers -> y [..., classes].
class OneHotMap final : public TensorMap {
 public:
  using Params = OneHotMapParams;
  static Schema<Params> schema() {
    return Schema<Params>("Turns class numbers into vectors that are 1 at the class and 0 elsewhere.")
        .example("OneHot: 10")
        .field("classes", &Params::classes, between(1, 1 << 24), "number of classes")
        .required()
        .shorthand()
        .field("dtype", &Params::dtype, "type of the vectors");
  }
  explicit OneHotMap(Params p) : p_(p) {}

  TensorSpec spec(const TensorSpec& in) const override {
    if (is_float(in.dtype)) throw ConfigError("OneHot needs class numbers, not " + in.str());
    std::vector<int64_t> sizes(in.shape.sizes().begin(), in.shape.sizes().end());
    sizes.push_back(p_.classes);
    return {p_.dtype, Shape(sizes)};
  }
  void apply(const Tensor& in, const Tensor& out) const override {
    std::memset(out.raw(), 0, out.bytes());
    for (int64_t i = 0; i < in.elements(); ++i) {
      const auto label = static_cast<int64_t>(in.at(i));
      if (label < 0 || label >= p_.classes) {
        throw DataError("OneHot: class " + std::to_string(label) + " is out of range; must be from 0 to " +
                        std::to_string(p_.classes - 1));
      }
      visit(p_.dtype, [&](auto zero) { out.data<decltype(zero)>()[i * p_.classes + label] = 1; });
    }
  }

 private:
  Params p_;
};

TPACK_REGISTER(TensorMap, OneHotMap, "OneHot");

}  // namespace
}  // namespace tpack
