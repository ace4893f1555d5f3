#include <algorithm>
#include <array>
#include <cmath>

#include "graph/variable_pattern.h"
#include "ops/matmul.h"
#include "optim/adam_rule.h"
#include "optim/decoupled_decay.h"
#include "optim/moving_mean.h"
#include "optim/per_variable.h"

namespace tpack {

template <>
struct EnumNames<MuonAdjust> {
  static constexpr std::array<std::pair<const char*, MuonAdjust>, 2> kNames = {
      {{"match_rms_adamw", MuonAdjust::kMatchRmsAdamW}, {"original", MuonAdjust::kOriginal}}};
};

namespace {

/// A kernel as the matrix that becomes orthogonal, row by row in its part of the block.
struct KernelMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t outputs = 0;  // one of the two
  int64_t inputs = 0;   // the other
};

KernelMatrix matrix_of(KernelKind kind, const Shape& shape) {
  const int64_t rows = shape[0];
  const int64_t columns = shape.elements() / rows;
  if (kind == KernelKind::kConvolution) return {rows, columns, rows, columns};
  return {rows, columns, columns, rows};
}

/// Kernels: m <- momentum * m + (1 - momentum) * g; u = m, or with nesterov momentum * m + (1 - momentum) *
/// g; p <- p - lr * weight_decay * p - lr * ratio * O(u). O is u / max(|u|, 1e-7) after some steps x <- a x +
/// (b x x' + c (x x')^2) x, which take its singular values near 1. ratio = 0.2 sqrt(max(outputs, inputs)), or
/// sqrt(max(1, outputs / inputs)) (`original`). Other variables: AdamW, with the rate lr * others_rate.
/// Sources: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"; Liu et al. 2025,
/// "Muon is Scalable for LLM Training" (the first ratio); torch.optim.Muon of PyTorch 2.9, except that its
/// products have 16 bits and these 32.
class Muon final : public Optimizer {
 public:
  using Params = MuonParams;
  static Schema<Params> schema() {
    auto schema =
        moments_schema<Params>(
            "Muon: the step of each kernel of a dense layer or a convolution is a momentum made orthogonal, "
            "so that no direction of it is small. `beta1`, `beta2` and `epsilon` are those of AdamW, which "
            "trains all other variables (biases, embeddings, parameters of normalization, those of "
            "`others`).")
            .example("Muon: {learning_rate: 1.0e-3, weight_decay: 0.05}")
            .field("momentum", &Params::momentum, between(0, 1),
                   "decay of the mean of the gradients of kernels; below 1")
            .field("nesterov", &Params::nesterov, "look one step ahead along the momentum")
            .field("steps", &Params::steps, between(1, 20), "Newton-Schulz steps")
            .field(
                "adjust", &Params::adjust,
                "size of the steps of kernels. match_rms_adamw: like those of AdamW, so that learning rate "
                "and weight decay are those of AdamW; original: that of the source, whose learning rate is "
                "0.02, with `others_rate: 0.015`")
            .field("others", &Params::others,
                   "kernels that AdamW trains, too, such as the last layer: names with everything below "
                   "them, or regular expressions for whole names")
            .field("others_rate", &Params::others_rate, above(0),
                   "factor of the learning rate for what AdamW trains");
    return with_decay_fields(std::move(schema), "weight_decay", &Params::weight_decay);
  }
  explicit Muon(const Params& p)
      : Optimizer(p), p_(p), adam_(p, false, "optimizer Muon"), decay_(p.weight_decay, p.exclude) {
    if (p.momentum == 1) throw ConfigError("optimizer Muon: 'momentum' must be below 1");
  }

 private:
  Symbol apply(Builder& b, OptimizerState& state, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {
    const FlatLayout& layout = state.layout();
    check_patterns_of(layout, p_.others, "'others' of optimizer Muon");
    // 1 for kernels; others have the negative factor of their rate.
    const Symbol kinds =
        at_elements(b, layout, constants_of_variables(b, layout, [&](const FlatLayout::Entry& variable) {
                      return is_kernel(b, variable) ? 1 : -p_.others_rate;
                    }));
    const Symbol in_kernel = b.greater(kinds, 0.0);
    const Symbol decay = b.select(in_kernel, p_.momentum, p_.beta1);
    const Symbol mean = b.add(b.mul(state.slot("m"), decay), b.mul(gradient, b.sub(1.0, decay)));
    state.assign_slot("m", mean);
    const Symbol adam = adam_.step_along(b, state, mean, gradient, 1.0);
    const Symbol ahead = p_.nesterov ? moved_mean(b, mean, gradient, p_.momentum) : mean;
    const Symbol step = b.select(in_kernel, orthogonal(b, layout, ahead), adam);
    const Symbol rate = b.mul(learning_rate, b.abs(kinds));
    return b.sub(parameters, decay_.added_to(b, layout, parameters, rate, b.mul(step, rate)));
  }

  bool is_kernel(Builder& b, const FlatLayout::Entry& variable) const {
    return b.variables().find(variable.name)->kernel != KernelKind::kNone &&
           !is_for_variable(p_.others, variable.name);
  }

  /// The orthogonal form of each kernel, times its ratio; 0 elsewhere. [n] -> [n].
  Symbol orthogonal(Builder& b, const FlatLayout& layout, Symbol block) const {
    const Symbol norms = b.max(norms_of_variables(b, layout, block), 1e-7);
    const Symbol scaled = b.div(block, at_elements(b, layout, norms));
    return block_of_values(b, layout, [&](const FlatLayout::Entry& variable) -> std::optional<Symbol> {
      if (!is_kernel(b, variable)) return std::nullopt;
      const KernelMatrix m = matrix_of(b.variables().find(variable.name)->kernel, variable.shape);
      const Symbol own = b.reshape(values_of_variable(b, variable, scaled), Shape{m.rows, m.columns});
      return b.mul(newton_schulz(b, own, m), ratio_of(m));
    });
  }

  /// x of norm 1 -> a matrix of the same shape whose singular values are near 1.
  Symbol newton_schulz(Builder& b, Symbol x, const KernelMatrix& m) const {
    constexpr std::array<double, 3> kCoefficients = {3.4445, -4.7750, 2.0315};  // of the source
    const bool is_tall = m.rows > m.columns;  // products of the short side are smaller
    for (int64_t i = 0; i < p_.steps; ++i) {
      const Symbol gram =
          is_tall ? matmul(b, x, x, {.transpose_a = true}) : matmul(b, x, x, {.transpose_b = true});
      const Symbol powers =
          b.add(b.mul(gram, kCoefficients[1]), b.mul(matmul(b, gram, gram), kCoefficients[2]));
      const Symbol turned = is_tall ? matmul(b, x, powers) : matmul(b, powers, x);
      x = b.add(b.mul(x, kCoefficients[0]), turned);
    }
    return x;
  }

  double ratio_of(const KernelMatrix& m) const {
    const auto outputs = static_cast<double>(m.outputs);
    const auto inputs = static_cast<double>(m.inputs);
    if (p_.adjust == MuonAdjust::kOriginal) return std::sqrt(std::max(1.0, outputs / inputs));
    return 0.2 * std::sqrt(std::max(outputs, inputs));
  }

  Params p_;
  AdamRule adam_;
  DecoupledDecay decay_;
};

TPACK_REGISTER(Optimizer, Muon, "Muon");

}  // namespace

std::unique_ptr<Optimizer> muon(const MuonParams& params) { return make_checked<Muon>(params); }

}  // namespace tpack
