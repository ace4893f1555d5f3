#include "callbacks/best_saver.h"

namespace tpack {
namespace {

/// Source: tensorpack callbacks/saver.py, MaxSaver.
class MaxSaver final : public BestSaver {
 public:
  using Params = BestSaver::Params;
  static Schema<Params> schema() {
    return with_fields(
        Schema<Params>("Saves checkpoints/max-STATISTIC.h5 whenever a statistic is the largest so far.")
            .example("MaxSaver: {monitor: validation_accuracy}"));
  }
  explicit MaxSaver(Params p) : BestSaver("callback MaxSaver", "MinSaver", std::move(p), Goal::kMax) {}
};

TPACK_REGISTER(Callback, MaxSaver, "MaxSaver");

}  // namespace
}  // namespace tpack
