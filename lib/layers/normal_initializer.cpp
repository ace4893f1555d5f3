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
  Initialize make(Fans /*fans*/) const override {
    return fill_with([p = p_](Rng& rng) { return p.mean + p.stddev * rng.normal(); });
  }

 private:
  Params p_;
};

TPACK_REGISTER(Initializer, NormalInitializer, "Normal");

}  // namespace
}  // namespace tpack
