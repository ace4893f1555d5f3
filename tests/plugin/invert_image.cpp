#include "core/registry.h"
#include "dataflow/map.h"

namespace tpack {
namespace {

/// Shapes: image uint8 any -> image same.
class InvertImage final : public Map {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Makes bright pixels dark and dark ones bright."); }
  explicit InvertImage(Params /*p*/) {}

  Spec bind(const Spec& in) override {
    image_ = in.index({"image"}, "map InvertImage");
    if (in[image_].tensor.dtype != DType::kUInt8) throw ConfigError("map InvertImage: 'image' is not uint8");
    return in;
  }
  bool apply(Datapoint& d, const SampleKey& /*key*/) const override {
    const Tensor before = d.to_tensor(image_);
    const uint8_t* from = before.data<uint8_t>();
    uint8_t* to = d.renew(image_, before.spec()).data<uint8_t>();
    for (int64_t i = 0; i < before.elements(); ++i) to[i] = static_cast<uint8_t>(255 - from[i]);
    return true;
  }

 private:
  size_t image_ = 0;
};

TPACK_REGISTER(Map, InvertImage, "InvertImage");

}  // namespace
}  // namespace tpack
