#include "nn/table_input.h"

#include "model/layer.h"

namespace tpack {
namespace {

/// Each column of a table, and ReLU(W [sin(2 pi c x), cos(2 pi c x)] + b) of each. Shapes: x [N, columns] ->
/// y [N, columns (1 + width)]. Source: Gorishniy et al. 2022, "On Embeddings for Numerical Features in
/// Tabular Deep Learning", PLR(lite).
class TableInput final : public Layer {
 public:
  using Params = nn::TableInputOptions;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Columns of a table as a network learns best from them: each one gets an embedding, a few "
               "numbers "
               "made of sines and cosines with learned frequencies, next to itself. For `auto` columns, "
               "whose "
               "numbers are scaled and whose categories have a place each.")
        .example("TableInput: {width: 8}")
        .field("width", &Params::width, at_least(1), "numbers that each column becomes, besides itself")
        .field("frequencies", &Params::frequencies, at_least(1),
               "sines and cosines of each column, whose frequencies are learned")
        .field(
            "deviation", &Params::deviation, above(0),
            "of the first frequencies, in periods for a change of x by 1: more for targets that change fast "
            "with a column, less for smooth ones");
  }
  explicit TableInput(Params p) : p_(p) {}

  Symbol build(Builder& b, Symbol x) const override { return nn::table_input(b, x, p_); }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, TableInput, "TableInput");

}  // namespace
}  // namespace tpack
