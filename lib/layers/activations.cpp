// Elementwise functions as layers, one row each: the name, the formula in the syntax of Elementwise, aliases.
// The gradient, the reference page and the tests over the registry use the formula; a golden case
// (tests/golden/make_layers.py) compares it with PyTorch's function.
#include <algorithm>

#include "core/text.h"
#include "model/layer.h"
#include "model/tensor_formula.h"

namespace tpack {
namespace {

/// A function with a parameter.
struct AlphaRow {
  const char* formula = "";  // has `alpha` once
  double alpha = 1;          // by default
  Check allowed;
  const char* doc = "";  // what alpha is
  const char* example = "";
};

/// A formula of x.
class FormulaLayer : public Layer {
 public:
  Symbol build(Builder& b, Symbol x) const final {
    return formula_.emit(b, [x](const TensorFormula::Name& /*x*/) { return x; });
  }

 protected:
  explicit FormulaLayer(const std::string& formula)
      : formula_(Formula(ConfigNode::string(formula, {})), "an activation") {}

 private:
  TensorFormula formula_;
};

/// A string as a template parameter.
template <size_t kSize>
struct FormulaText {
  constexpr FormulaText(const char (&from)[kSize]) {  // NOLINT(google-explicit-constructor)
    std::copy(from, from + kSize, text);
  }
  char text[kSize] = {};
};

template <FormulaText kFormula>
class ActivationOf final : public FormulaLayer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>(std::string("y = ") + kFormula.text + "."); }
  explicit ActivationOf(Params /*p*/) : FormulaLayer(kFormula.text) {}
};

template <const AlphaRow& kRow>
class ActivationOfAlpha final : public FormulaLayer {
 public:
  struct Params {
    double alpha = kRow.alpha;
  };
  static Schema<Params> schema() {
    return Schema<Params>(std::string("y = ") + kRow.formula + ".")
        .example(kRow.example)
        .field("alpha", &Params::alpha, kRow.allowed, kRow.doc)
        .shorthand();
  }
  explicit ActivationOfAlpha(Params p) : FormulaLayer(formula_with(p.alpha)) {}

 private:
  static std::string formula_with(double alpha) {
    std::string text = kRow.formula;
    const std::string name = "alpha";
    return text.replace(text.find(name), name.size(), shortest(alpha));
  }
};

/// Shapes: x any -> y same. Source: Hendrycks and Gimpel 2016, "Gaussian Error Linear Units (GELUs)".
using Gelu = ActivationOf<"x * 0.5 * (1 + erf(x / sqrt(2)))">;
TPACK_REGISTER(Layer, Gelu, "GELU");

/// Shapes: x any -> y same.
using HardSigmoid = ActivationOf<"min(max(x + 3, 0), 6) / 6">;
TPACK_REGISTER(Layer, HardSigmoid, "HardSigmoid");

/// Shapes: x any -> y same. Source: Howard et al. 2019, "Searching for MobileNetV3".
using HardSwish = ActivationOf<"x * min(max(x + 3, 0), 6) / 6">;
TPACK_REGISTER(Layer, HardSwish, "HardSwish");

/// Shapes: x any -> y same.
using HardTanh = ActivationOf<"min(max(x, -1), 1)">;
TPACK_REGISTER(Layer, HardTanh, "HardTanh");

/// Shapes: x any -> y same.
using LogSigmoid = ActivationOf<"-softplus(-x)">;
TPACK_REGISTER(Layer, LogSigmoid, "LogSigmoid");

/// Shapes: x any -> y same. Source: Misra 2019, "Mish: A Self Regularized Non-Monotonic Activation Function".
using Mish = ActivationOf<"x * tanh(softplus(x))">;
TPACK_REGISTER(Layer, Mish, "Mish");

/// Shapes: x any -> y same.
using Relu = ActivationOf<"max(x, 0)">;
TPACK_REGISTER(Layer, Relu, "ReLU");

/// Shapes: x any -> y same.
using Relu6 = ActivationOf<"min(max(x, 0), 6)">;
TPACK_REGISTER(Layer, Relu6, "ReLU6");

/// Shapes: x any -> y same. Source: Klambauer et al. 2017, "Self-Normalizing Neural Networks". The unused
/// branch of expm1 is kept finite.
using Selu = ActivationOf<"1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * expm1(min(x, 1)))">;
TPACK_REGISTER(Layer, Selu, "SELU");

/// Shapes: x any -> y same.
using Sigmoid = ActivationOf<"sigmoid(x)">;
TPACK_REGISTER(Layer, Sigmoid, "Sigmoid");

/// Shapes: x any -> y same. Source: Elfwing et al. 2017, "Sigmoid-Weighted Linear Units".
using Silu = ActivationOf<"x * sigmoid(x)">;
TPACK_REGISTER(Layer, Silu, "SiLU", "Swish");

/// Shapes: x any -> y same.
using Softplus = ActivationOf<"softplus(x)">;
TPACK_REGISTER(Layer, Softplus, "Softplus");

/// Shapes: x any -> y same.
using Softsign = ActivationOf<"x / (1 + abs(x))">;
TPACK_REGISTER(Layer, Softsign, "Softsign");

/// Shapes: x any -> y same.
using Tanh = ActivationOf<"tanh(x)">;
TPACK_REGISTER(Layer, Tanh, "Tanh");

constexpr AlphaRow kElu = {.formula = "x if x > 0 else expm1(min(x, 1)) * alpha",
                           .alpha = 1,
                           .allowed = {.minimum = 0},
                           .doc = "minus the limit for large negative inputs",
                           .example = "ELU: {alpha: 0.5}"};
/// Shapes: x any -> y same. Source: Clevert et al. 2016, "Fast and Accurate Deep Network Learning by
/// Exponential Linear Units". The gradient at 0 is alpha.
using Elu = ActivationOfAlpha<kElu>;
TPACK_REGISTER(Layer, Elu, "ELU");

constexpr AlphaRow kLeakyRelu = {.formula = "max(x, x * alpha)",
                                 .alpha = 0.2,
                                 .allowed = {.minimum = 0, .maximum = 1},
                                 .doc = "slope for negative inputs",
                                 .example = "LeakyReLU: {alpha: 0.1}"};
/// Shapes: x any -> y same. Source: Maas et al. 2013, "Rectifier Nonlinearities".
using LeakyRelu = ActivationOfAlpha<kLeakyRelu>;
TPACK_REGISTER(Layer, LeakyRelu, "LeakyReLU");

}  // namespace
}  // namespace tpack
