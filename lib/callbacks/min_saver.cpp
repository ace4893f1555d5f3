#include "callbacks/best_saver.h"

namespace tpack {
namespace {

struct MinSaverParams {
  Ref<Stat> monitor;
};

/// Source: tensorpack callbacks/saver.py, MinSaver.
class MinSaver final : public BestSaver {
 public:
  using Params = MinSaverParams;
  static Schema<Params> schema() {
    return Schema<Params>("Saves checkpoints/min-STATISTIC.h5 whenever a statistic is the smallest so far.")
        .example("MinSaver: {monitor: validation_cost}")
        .field("monitor", &Params::monitor, "the statistic, which a callback before this one reports")
        .required();
  }
  explicit MinSaver(Params p) : BestSaver("callback MinSaver", "min", std::move(p.monitor), std::less<>()) {}
};

TPACK_REGISTER(Callback, MinSaver, "MinSaver");

}  // namespace
}  // namespace tpack
