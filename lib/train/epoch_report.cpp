// The line for each epoch in the log.
#include <cstdio>

#include "core/text.h"
#include "system/log.h"
#include "system/machine.h"
#include "train/data_wait.h"
#include "train/loop.h"

namespace tpack {

SlowData Loop::slow_data_since(const EpochStart& start, double seconds, double samples_per_s) const {
  const auto& data = trainer_.part<StepData>();
  auto queue = data.input_queue();
  if (!queue) return {};
  DataWait wait{.samples_per_s = samples_per_s, .processors = available_processors()};
  wait.seconds = (data.waited_s() - start.waited_s) / static_cast<double>(data.step_size().towers);
  wait.share = wait.seconds / seconds;
  if (const int64_t taken = queue->stats.batches - start.queue.batches; taken > 0)
    wait.queue_fill =
        static_cast<double>(queue->stats.found - start.queue.found) / static_cast<double>(taken);
  wait.queue = std::move(*queue);
  return slow_data(wait);
}

void Loop::report_epoch(const EpochStart& start) {
  if (!run_.is_chief()) return;
  const double seconds = start.watch.seconds();
  const int64_t steps = run_.global_step_ - start.step;
  const StepSize size = trainer_.part<StepData>().step_size();
  std::string text = "Epoch " + std::to_string(run_.epoch_) + " (global_step " +
                     std::to_string(run_.global_step_) + ") finished, " + human_duration(seconds);
  SlowData slow;
  if (steps > 0 && seconds > 0) {
    const auto samples_per_s =
        static_cast<double>((trainer_.part<StepData>().samples() - start.samples) * size.ranks) / seconds;
    if (samples_per_s > 0) text += ", " + with_thousands(static_cast<int64_t>(samples_per_s)) + " samples/s";
    const double waited = trainer_.part<StepData>().waited_s() - start.waited_s;
    char share[64];
    std::snprintf(share, sizeof share, ", %.1f %% waiting for data",
                  100 * waited / (seconds * static_cast<double>(size.towers)));
    text += share;
    slow = slow_data_since(start, seconds, samples_per_s);
    if (!slow.part.empty()) text += ", most for " + slow.part;
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
  if (slow.cause.empty() || slow.cause == told_cause_) return;
  told_cause_ = slow.cause;
  log::warning(slow.advice);
}

}  // namespace tpack
