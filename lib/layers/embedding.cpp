#include "layers/initializer.h"
#include "layers/layer.h"
#include "layers/layer_shapes.h"
#include "ops/gather.h"

namespace tpack {
namespace {

struct EmbeddingParams {
  int64_t entries = 0;
  int64_t units = 0;
  Part<Initializer> initializer;
};

/// A row of W for each number; NaN for a number outside of 0 .. entries - 1, so that CheckNumerics sees it.
/// Shapes: x integers [N, ...] -> y [N, ..., units]; W [entries, units]. W is drawn from the standard normal
/// distribution, as in PyTorch.
class Embedding final : public Layer {
 public:
  using Params = EmbeddingParams;
  static Schema<Params> schema() {
    return Schema<Params>("A trained vector for each number, such as a class or a word.")
        .example("Embedding: {entries: 10, units: 16}")
        .field("entries", &Params::entries, at_least(1), "how many numbers there are, from 0")
        .required()
        .field("units", &Params::units, at_least(1), "size of each vector")
        .required()
        .field("initializer", &Params::initializer,
               "values of W; default normal numbers with standard deviation 1");
  }
  explicit Embedding(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    const Initialize standard = fill_with([](Rng& rng) { return rng.normal(); });
    const Symbol w = b.variable("W", Shape{p_.entries, p_.units},
                                p_.initializer ? p_.initializer->make({1, p_.units}) : standard);
    return gather(b, w, integers(b, x, "numbers"), 0);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, Embedding, "Embedding");

}  // namespace
}  // namespace tpack
