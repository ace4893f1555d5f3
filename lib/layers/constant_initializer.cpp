#include "layers/initializer.h"

namespace tpack {
namespace {

struct ConstantInitializerParams {
  double value = 0;
};

/// w = value.
class ConstantInitializer final : public Initializer {
 public:
  using Params = ConstantInitializerParams;
  static Schema<Params> schema() {
    return Schema<Params>("The same value everywhere.")
        .example("Constant: 0.1")
        .field("value", &Params::value, "the value")
        .shorthand();
  }
  explicit ConstantInitializer(Params p) : p_(p) {}
  Initialize make(nn::Fans fans) const override { return nn::constant(p_.value)(fans); }

 private:
  Params p_;
};

TPACK_REGISTER(Initializer, ConstantInitializer, "Constant");

}  // namespace
}  // namespace tpack
