#include "model/network_builder.h"
#include "model/tensor_formula.h"

namespace tpack {
namespace {

struct ElementwiseParams {
  Formula expression;
};

/// Shapes: x and the outputs in the expression, any that broadcast -> the broadcast shape, floats.
class Elementwise final : public Layer {
 public:
  using Params = ElementwiseParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Applies an expression to each element of its input, `x`, and of other outputs: `Elementwise: "
               "\"x * sigmoid(gate)\"`. Shapes broadcast as in NumPy.")
        .example("Elementwise: \"max(x, 0) + square(x) / 2\"")
        .field("expression", &Params::expression,
               ("expression of `x`, which is the layer's input, and of layers and inputs by name: " +
                TensorFormula::syntax() +
                "; a name with / or -, and an output that is itself called x, is in single quotes: 'body/fc'")
                   .c_str())
        .type(FieldType::text())
        .required()
        .shorthand();
  }
  explicit Elementwise(const Params& p) : formula_(p.expression, "layer Elementwise") {}

  Symbol build_nested(NetworkBuilder& network, std::span<const Symbol> in) const override {
    Builder& b = network.builder();
    if (in.size() != 1)
      throw ShapeError(b.origin(), b.path() + ": takes one input, not " + std::to_string(in.size()));
    return formula_.emit(b, [&](const TensorFormula::Name& name) {
      return is_input(name) ? in[0] : network.output(name.output);
    });
  }

  /// As a parameter of another layer, which cannot use other outputs.
  Symbol build(Builder& b, Symbol x) const override {
    return formula_.emit(b, [&](const TensorFormula::Name& name) {
      if (!is_input(name)) {
        throw ConfigError(name.output.position, "an activation can use only x, not '" + name.output.name +
                                                    "'; write it as a layer of its own");
      }
      return x;
    });
  }

 private:
  static bool is_input(const TensorFormula::Name& name) { return name.output.name == "x" && !name.quoted; }

  TensorFormula formula_;
};

TPACK_REGISTER(Layer, Elementwise, "Elementwise");

}  // namespace
}  // namespace tpack
