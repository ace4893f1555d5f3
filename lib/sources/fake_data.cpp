#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "fields/tensor_fields.h"

namespace tpack {
namespace {

struct FakeDataParams {
  std::vector<Shape> shapes;
  std::vector<DType> dtype = {DType::kFloat32};
  std::vector<std::string> names;
  int64_t size = 1000;
  bool random = true;
  std::pair<double, double> domain = {0, 1};
};

/// Source: tensorpack dataflow/raw.py, FakeData.
class FakeData final : public RandomAccessSource {
 public:
  using Params = FakeDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Generates arrays, for tests and measurements.")
        .example(
            "FakeData: {shapes: [[28, 28, 1], []], dtype: [uint8, int32], names: [image, label], domain: [0, "
            "10]}")
        .field("shapes", &Params::shapes, "shape of each component")
        .required()
        .field("dtype", &Params::dtype, "type of each component, or one for all")
        .field("names", &Params::names, "name of each component; default: component_0, component_1, ...")
        .field("size", &Params::size, between(1, 1e12), "samples per pass")
        .field("random", &Params::random, "false: every sample is the same, so that it costs only a copy")
        .field("domain", &Params::domain, "values are in [low, high); integers are rounded down");
  }
  explicit FakeData(Params p) : p_(std::move(p)) {
    if (p_.shapes.empty())
      throw ConfigError("FakeData: 'shapes' is empty; name at least one, such as [[28, 28, 1]]");
    if (p_.dtype.size() == 1) p_.dtype.resize(p_.shapes.size(), p_.dtype[0]);
    if (p_.dtype.size() != p_.shapes.size()) {
      throw ConfigError("FakeData: 'dtype' has " + std::to_string(p_.dtype.size()) + " entries for " +
                        std::to_string(p_.shapes.size()) + " shapes; write one for all or one for each");
    }
    if (!p_.names.empty() && p_.names.size() != p_.shapes.size()) {
      throw ConfigError("FakeData: 'names' has " + std::to_string(p_.names.size()) + " entries for " +
                        std::to_string(p_.shapes.size()) + " shapes");
    }
    const auto [low, high] = p_.domain;
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
      throw ConfigError("FakeData: 'domain' is [" + shortest(low) + ", " + shortest(high) +
                        "]; write two numbers, the lower one first");
    }
    for (const DType dtype : p_.dtype) check_holds(dtype, low, high);
    for (const Shape& shape : p_.shapes) {
      if (!shape.known()) throw ConfigError("FakeData: shape " + shape.str() + " has an unknown size");
    }
  }

  Spec spec() const override {
    std::vector<ComponentSpec> components;
    for (size_t i = 0; i < p_.shapes.size(); ++i) {
      const std::string name = p_.names.empty() ? "component_" + std::to_string(i) : p_.names[i];
      const Shape& shape = p_.shapes[i];
      const bool image =
          p_.dtype[i] == DType::kUInt8 && shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3);
      components.push_back({name, {p_.dtype[i], shape}, image});
    }
    return Spec(std::move(components));
  }
  int64_t size() const override { return p_.size; }
  void prepare() override {
    for (size_t i = 0; !p_.random && i < p_.shapes.size(); ++i) {
      Rng rng = SampleKey{}.rng(i);
      fill(constant_.emplace_back(p_.dtype[i], p_.shapes[i]), rng);
    }
  }

  void get(int64_t /*index*/, const SampleKey& key, Datapoint& out) const override {
    for (size_t i = 0; i < p_.shapes.size(); ++i) {
      const Tensor& tensor = out.renew(i, {p_.dtype[i], p_.shapes[i]});
      if (p_.random) {
        Rng rng = key.rng(i);
        fill(tensor, rng);
      } else {
        std::memcpy(tensor.raw(), constant_[i].raw(), tensor.bytes());
      }
    }
  }

 private:
  static void check_holds(DType dtype, double low, double high) {
    visit(dtype, [&](auto zero) {
      using T = decltype(zero);
      constexpr auto kMin = static_cast<double>(std::numeric_limits<T>::lowest());
      constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
      if (low >= kMin && (std::is_floating_point_v<T> ? high <= kMax : high - 1 <= kMax)) return;
      throw ConfigError("FakeData: " + std::string(name_of(dtype)) + " cannot represent the 'domain' [" +
                        shortest(low) + ", " + shortest(high) + "]");
    });
  }

  void fill(const Tensor& tensor, Rng& rng) const {
    const auto [low, high] = p_.domain;
    visit(tensor.dtype(), [&, low = low, high = high](auto zero) {
      using T = decltype(zero);
      for (T& value : tensor.span<T>()) {
        const double drawn = low + (high - low) * static_cast<double>(rng.uniform());
        if constexpr (std::is_floating_point_v<T>) {
          value = static_cast<T>(drawn);
        } else {
          value = static_cast<T>(static_cast<int64_t>(std::floor(drawn)));
        }
      }
    });
  }

  Params p_;
  std::vector<Tensor> constant_;  // the only sample, if not random
};

TPACK_REGISTER(Source, FakeData, "FakeData");

}  // namespace
}  // namespace tpack
