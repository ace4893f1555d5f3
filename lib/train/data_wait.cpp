#include "train/data_wait.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace tpack {
namespace {

/// The part that takes most of the work; null if nothing was measured.
const FlowPart* slowest_part(const InputQueue& queue) {
  const FlowPart* slowest = nullptr;
  double most = 0;
  for (const FlowPart& part : queue.parts) {
    const auto found = queue.times.parts.find(part.name);
    if (found == queue.times.parts.end() || found->second.seconds <= most) continue;
    most = found->second.seconds;
    slowest = &part;
  }
  return slowest;
}

std::string part_text(const FlowPart& part, const PartTimes::Totals& times) {
  const double share = times.parts.at(part.name).seconds / times.seconds();
  const std::string where = part.position.known() ? " (" + part.position.str() + ")" : "";
  return part.name + where + ", " + std::to_string(std::lround(100 * share)) + " % of the work";
}

/// The command that shows more, at the pace that the network would have with faster data.
std::string bench_command(const DataWait& wait, const FlowPart& part) {
  const bool is_in_file = part.position.known() && part.position.line > 0;
  if (!is_in_file || wait.share >= 1) return "";
  const auto need = std::lround(wait.samples_per_s / (1 - wait.share));
  return "; `tpack data bench " + *part.position.file + " --need " + std::to_string(std::max(need, 1L)) +
         "` shows the time of each part";
}

}  // namespace

SlowData slow_data(const DataWait& wait) {
  constexpr double kShare = 0.1;
  constexpr double kSeconds = 1;
  if (wait.share < kShare || wait.seconds < kSeconds) return {};
  SlowData slow;
  const FlowPart* part = slowest_part(wait.queue);
  if (part != nullptr) slow.part = part_text(*part, wait.queue.times);
  const std::string details = part == nullptr ? "" : bench_command(wait, *part);
  const auto room = static_cast<double>(wait.queue.stats.slots) - 1;
  if (wait.queue.workers < wait.processors) {
    slow.cause = "workers";
    slow.advice = "steps wait for data, made by " + std::to_string(wait.queue.workers) +
                  (wait.queue.workers == 1 ? " worker on " : " workers on ") +
                  std::to_string(wait.processors) + " processors; write workers: auto for data.train" +
                  details;
  } else if (room > 0 && wait.queue_fill >= room / 2) {
    slow.cause = "bursts";
    slow.advice = "steps wait for data, although " + shortest(std::round(10 * wait.queue_fill) / 10) +
                  " of " + std::to_string(wait.queue.stats.slots - 1) +
                  " batches are ready on average, so some batches take longer than others; write prefetch: " +
                  std::to_string(4 * (wait.queue.stats.slots - 1)) +
                  " for data.train (or a larger `capacity` of Queue, if it is set)" + details;
  } else if (part != nullptr) {
    slow.cause = part->name;
    slow.advice = "steps wait for data; most of the work is " + slow.part + details;
  }
  return slow;
}

}  // namespace tpack
