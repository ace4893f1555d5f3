#include "model/cost.h"

namespace tpack {
namespace {

struct RegularizeParams : CostParams {
  Ref<VariablePattern> variables = {".*/W", {}};
  double l2 = 0;
  double l1 = 0;
};

/// l2 * sum(w^2) / 2 + l1 * sum |w| over the variables; nothing in inference. Source: tensorpack
/// models/regularize.py, where the pattern may match anywhere in the name; here it must match the whole name.
class Regularize final : public Cost {
 public:
  using Params = RegularizeParams;
  static Schema<Params> schema() {
    return with_weights(
        Schema<Params>(
            "Weight decay, next to another cost: minimized with it, but not part of the statistic cost.")
            .example("Regularize: {variables: \".*/W\", l2: 1.0e-4}")
            .field("variables", &Params::variables,
                   "regular expression for whole names of trainable variables, or a name with everything "
                   "below it")
            .field("l2", &Params::l2, at_least(0), "factor of half the sum of squares")
            .field("l1", &Params::l1, at_least(0), "factor of the sum of absolute values"));
  }
  explicit Regularize(Params p) : Cost(p), p_(std::move(p)) {
    if (p_.l1 == 0 && p_.l2 == 0)
      throw ConfigError("cost Regularize: 'l2' and 'l1' are both 0; set at least one");
  }

  bool in_inference() const override { return false; }

 private:
  SampleLosses losses(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "regularize", p_.variables.position);
    Symbol total;
    const auto add = [&](Symbol term) { total = total ? b.add(total, term) : term; };
    for (const Symbol& w : model.trainable(p_.variables)) {
      if (p_.l2 > 0) add(b.mul(b.reduce_sum(b.square(w)), p_.l2 / 2));
      if (p_.l1 > 0) add(b.mul(b.reduce_sum(b.abs(w)), p_.l1));
    }
    return total;
  }

  Params p_;
};

TPACK_REGISTER(Cost, Regularize, "Regularize");

}  // namespace
}  // namespace tpack
