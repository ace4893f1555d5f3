#include "nn/table_input.h"

#include "model/layer.h"

namespace tpack {
namespace {

/// Each column x of a table, and ReLU(W [sin(2 pi c x), cos(2 pi c x)] + b) for each. Shapes: x [N, columns]
/// -> y [N, columns (1 + width)]. Source: Gorishniy et al. 2022, "On Embeddings for Numerical Features in
/// Tabular Deep Learning", PLR(lite).
class TableInput final : public Layer {
 public:
  using Params = nn::TableInputOptions;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Prepares columns of a table for a network: next to each column, it adds an embedding, a few "
               "numbers made of sines and cosines with learned frequencies. For `auto` columns, where "
               "numbers are scaled and categories are one-hot.")
        .example("TableInput: {width: 8}")
        .field("width", &Params::width, at_least(1), "size of the embedding of each column")
        .field("frequencies", &Params::frequencies, at_least(1),
               "number of sines and cosines with learned frequencies per column")
        .field("deviation", &Params::deviation, above(0),
               "standard deviation of the initial frequencies, in periods per change of x by 1: use more for "
               "targets that change fast with a column, less for smooth ones");
  }
  explicit TableInput(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::table_input(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, TableInput, "TableInput");

}  // namespace
}  // namespace tpack
