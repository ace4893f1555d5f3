#include "nn/embedding.h"

#include "layers/option_fields.h"

namespace tpack {
namespace {

struct EmbeddingParams : nn::EmbeddingOptions {
  Part<Initializer> component;
};

/// A row of W for each number; NaN for a number outside of 0 .. entries - 1, so that CheckNumerics reports
/// it. Shapes: x integers [N, ...] -> y [N, ..., units]; W [entries, units]. W is drawn from the standard
/// normal distribution, as in PyTorch.
class Embedding final : public Layer {
 public:
  using Params = EmbeddingParams;
  static Schema<Params> schema() {
    return Schema<Params>("A trained vector for each number, such as a class or a word.")
        .example("Embedding: {entries: 10, units: 16}")
        .field("entries", option<Params>(&Params::entries), at_least(1),
               "number of entries; numbers are from 0 to entries - 1")
        .required()
        .field("units", option<Params>(&Params::units), at_least(1), "size of each vector")
        .required()
        .field("initializer", &Params::component,
               "initial values of W; default: normal numbers with standard deviation 1");
  }
  explicit Embedding(const Params& p) : options_(static_cast<const nn::EmbeddingOptions&>(p)) {
    options_.initializer = initializer_of(p.component);
  }

  Symbol build(Builder& b, Symbol x) const override { return nn::embedding(b, x, options_); }

 private:
  nn::EmbeddingOptions options_;
};

TPACK_REGISTER(Layer, Embedding, "Embedding");

}  // namespace
}  // namespace tpack
