#include "layers/initializer.h"

namespace tpack {
namespace {

struct NormalParams {
  double mean = 0;
  double stddev = 0.05;
};

/// w = mean + stddev * z, with z from the standard normal distribution.
class NormalInitializer final : public Initializer {
 public:
  using Params = NormalParams;
  static Schema<Params> schema() {
    return Schema<Params>("Normally distributed values.")
        .example("Normal: {stddev: 0.02}")
        .field("mean", &Params::mean, "mean")
        .field("stddev", &Params::stddev, at_least(0), "standard deviation");
  }
  explicit NormalInitializer(Params p) : p_(p) {}
  Initialize make(nn::Fans fans) const override { return nn::normal(p_.mean, p_.stddev)(fans); }

 private:
  Params p_;
};

TPACK_REGISTER(Initializer, NormalInitializer, "Normal");

}  // namespace
}  // namespace tpack
