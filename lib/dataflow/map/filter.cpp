#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map.h"
#include "dataflow/sample_formula.h"

namespace tpack {
namespace {

struct SampleFilterParams {
  SampleExpression condition;
};

/// Drops a sample whose condition is false. Source: tensorpack dataflow/common.py, MapData, with a function
/// that returns None.
class SampleFilter final : public Map {
 public:
  using Params = SampleFilterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Keeps the samples for which a condition is true. Their number is known only after reading "
               "them; `infer` predicts all samples.")
        .example("Filter: age > 0 and fare < 500")
        .field("condition", &Params::condition,
               "an expression of components that is true or false for each sample, as in Compute. "
               "Comparisons with NaN are false, except !=")
        .required()
        .shorthand();
  }
  explicit SampleFilter(Params p) : p_(std::move(p)) {}

  bool may_drop() const override { return true; }
  std::optional<std::vector<std::string>> narrow(std::vector<std::string> /*wanted*/) override {
    return std::nullopt;
  }
  Spec bind(const Spec& in) override {
    formula_ = SampleFormula(p_.condition, in, "map Filter");
    const TensorSpec& result = formula_.result();
    if (result == TensorSpec{DType::kBool, {}}) return in;
    const std::string fix = result.dtype != DType::kBool
                                ? "compare it, such as `x > 0`"
                                : "write all(...) or any(...) of it, before BatchData";
    throw ConfigError(p_.condition.position(), "map Filter: '" + p_.condition.text() + "' is " +
                                                   result.str() + ", not true or false for the sample; " +
                                                   fix);
  }
  bool apply(Datapoint& d, const SampleKey& /*key*/) const override { return formula_.value(d) != 0; }

 private:
  Params p_;
  SampleFormula formula_;
};

TPACK_REGISTER(Map, SampleFilter, "Filter");

}  // namespace
}  // namespace tpack
