#include "core/registry.h"
#include "dataflow/repeated_points.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

struct RepeatedDataPointParams {
  int64_t num = 0;
};

/// Source: tensorpack dataflow/common.py, RepeatedDataPoint.
class RepeatedDataPoint final : public Stage {
 public:
  using Params = RepeatedDataPointParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Gives each item several times in a row. Random maps after it draw new numbers for each copy; "
               "maps before it do not.")
        .example("RepeatedDataPoint: {num: 2}")
        .field("num", &Params::num, between(1, 1 << 20), "number of times")
        .required()
        .shorthand();
  }
  explicit RepeatedDataPoint(Params p) : p_(p) {}

  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    return repeated_points(std::move(up), p_.num, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, RepeatedDataPoint, "RepeatedDataPoint");

}  // namespace
}  // namespace tpack
