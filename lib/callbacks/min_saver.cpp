#include "callbacks/best_saver.h"

namespace tpack {
namespace {

/// Source: tensorpack callbacks/saver.py, MinSaver.
class MinSaver final : public BestSaver {
 public:
  using Params = BestSaver::Params;
  static Schema<Params> schema() {
    return with_fields(
        Schema<Params>("Saves checkpoints/min-STATISTIC.h5 whenever a statistic is the smallest so far.")
            .example("MinSaver: {monitor: validation_cost}"));
  }
  explicit MinSaver(Params p) : BestSaver("callback MinSaver", "MaxSaver", std::move(p), Goal::kMin) {}
};

TPACK_REGISTER(Callback, MinSaver, "MinSaver");

}  // namespace
}  // namespace tpack
