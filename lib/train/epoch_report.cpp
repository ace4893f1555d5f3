// The line for each epoch in the log.
#include <cstdio>

#include "core/text.h"
#include "system/log.h"
#include "train/loop.h"

namespace tpack {

void Loop::report_epoch(const EpochStart& start) const {
  if (!run_.is_chief()) return;
  const double seconds = start.watch.seconds();
  const int64_t steps = run_.global_step_ - start.step;
  const StepSize size = trainer_.part<StepData>().step_size();
  std::string text = "Epoch " + std::to_string(run_.epoch_) + " (global_step " +
                     std::to_string(run_.global_step_) + ") finished, " + human_duration(seconds);
  if (steps > 0 && seconds > 0) {
    const auto samples =
        static_cast<double>((trainer_.part<StepData>().samples() - start.samples) * size.ranks);
    if (samples > 0) text += ", " + with_thousands(static_cast<int64_t>(samples / seconds)) + " samples/s";
    const double waited = trainer_.part<StepData>().waited_s() - start.waited_s;
    char share[64];
    std::snprintf(share, sizeof share, ", %.1f %% waiting for data",
                  100 * waited / (seconds * static_cast<double>(size.towers)));
    text += share;
  }
  // Ranks of this run do not count as other processes, but they cannot be identified.
  constexpr double kWorthSaying = 0.15;
  const auto taken = options_.world->size() == 1 ? start.processors.stolen() : std::nullopt;
  if (taken && *taken >= kWorthSaying) {
    char shared[96];
    std::snprintf(shared, sizeof shared, "; other processes used %.0f %% of the processors' time",
                  100 * *taken);
    text += shared;
  }
  log::info(text);
}

}  // namespace tpack
