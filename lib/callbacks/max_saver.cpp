#include "callbacks/best_saver.h"

namespace tpack {
namespace {

struct MaxSaverParams {
  Ref<Stat> monitor;
};

/// Source: tensorpack callbacks/saver.py, MaxSaver.
class MaxSaver final : public BestSaver {
 public:
  using Params = MaxSaverParams;
  static Schema<Params> schema() {
    return Schema<Params>("Saves checkpoints/max-STATISTIC.h5 whenever a statistic is the largest so far.")
        .example("MaxSaver: {monitor: validation_accuracy}")
        .field("monitor", &Params::monitor, "the statistic, which a callback before this one reports")
        .required();
  }
  explicit MaxSaver(Params p)
      : BestSaver("callback MaxSaver", "max", std::move(p.monitor), std::greater<>()) {}
};

TPACK_REGISTER(Callback, MaxSaver, "MaxSaver");

}  // namespace
}  // namespace tpack
