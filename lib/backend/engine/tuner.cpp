#include "backend/engine/tuner.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <unistd.h>

#include "core/clock.h"
#include "core/text.h"
#include "system/log.h"
#include "system/terminal.h"

namespace tpack {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::string key_of(const KernelRequest& r, const KernelQueue& queue) {
  std::string key = r.node.op->key();
  for (const Symbol& input : r.node.inputs) key += " " + input.spec().str();
  return key + " " + name_of(r.layout) + " " + r.algorithm + " " + std::to_string(r.pieces) + " pieces " +
         std::to_string(queue.threads()) + " threads";
}

/// One of the compared ways to run a node.
struct Contender {
  std::optional<TimedKernel> kernel;  // none: this CPU does not have it
  Measurement measured = {.seconds = kNever};
  int runs = 0;
  int undisturbed = 0;
  bool is_out = false;

  void run() {
    const TimedRun one = kernel->run();
    ++runs;
    undisturbed += one.interrupted ? 0 : 1;
    measured.seconds = std::min(measured.seconds, one.seconds / kernel->share);
    measured.disturbed = undisturbed == 0;
  }
};

std::vector<Contender> contenders_of(const TimingJob& job, KernelQueue& queue, const PrepareTimed& prepare) {
  std::vector<Contender> all;
  for (const KernelRequest& way : job.ways) {
    Contender& one = all.emplace_back(Contender{.kernel = prepare(way, queue)});
    one.is_out = !one.kernel;
    if (one.kernel) one.measured.scratch_bytes = one.kernel->scratch_bytes;
  }
  return all;
}

/// Drops those that are `times` as slow as the best; returns the number of the remaining ones.
size_t drop_slower(std::vector<Contender>& all, double times) {
  double best = kNever;
  for (const Contender& one : all) best = std::min(best, one.measured.seconds);
  for (Contender& one : all) one.is_out = one.is_out || one.measured.seconds > times * best;
  return static_cast<size_t>(std::ranges::count(all, false, &Contender::is_out));
}

/// Whether the runs so far decide if another way than the preferred one is chosen (comparable_seconds): none
/// is nearly fast enough, or one is much faster.
bool is_decided(const std::vector<Contender>& all, size_t preferred, int round) {
  const double too_little = round == 0 ? 1.15 : 0.97;
  const double clear_gain = round == 0 ? 0 : 0.7;
  const double rule = all[preferred].measured.seconds;
  double best = kNever;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != preferred) best = std::min(best, all[i].measured.seconds);
  }
  return rule < kNever && (best > too_little * rule || best < clear_gain * rule);
}

/// Runs the ways in turn until the fastest is clear. False if the time ended before each has run.
bool compete(std::vector<Contender>& all, size_t preferred, double end_s,
             const std::function<double()>& now) {
  constexpr int kUndisturbed = 5;
  constexpr int kMaxRuns = 12;
  constexpr double kClearlySlower = 1.5;  // by the first run
  constexpr double kSlower = 1.2;
  constexpr double kShortSeconds = 0.01;  // the longest run that may be repeated for a warm-up
  constexpr double kLongJobSeconds = 1;   // then two runs of each way are enough
  const double began_s = now();
  for (int round = 0; round < kMaxRuns; ++round) {
    for (Contender& one : all) {
      if (one.is_out) continue;
      if (now() >= end_s) return round > 0;
      one.run();
      if (round == 0 && one.measured.seconds * one.kernel->share < kShortSeconds) one.run();
    }
    if (drop_slower(all, round == 0 ? kClearlySlower : kSlower) < 2) return true;
    const bool is_known = std::ranges::all_of(
        all, [](const Contender& one) { return one.is_out || one.undisturbed >= kUndisturbed; });
    const bool is_long = round > 0 && now() - began_s > kLongJobSeconds;
    if (is_known || is_long || is_decided(all, preferred, round)) return true;
  }
  return true;
}

std::string name_of(const KernelRequest& way) {
  return way.algorithm + " in " + std::string(name_of(way.layout));
}

std::string kernels(size_t count) { return std::to_string(count) + (count == 1 ? " kernel" : " kernels"); }

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

}  // namespace

/// A job to measure, for all equal nodes.
struct Tuner::Work {
  const TimingJob* job = nullptr;
  double flops = 0;  // of all of these nodes
};

/// Shows the progress: a line that is redrawn on a terminal, otherwise a line every 10 s.
class Tuner::Progress {
 public:
  Progress(const std::vector<Work>& work, double budget_s) : count_(work.size()), budget_s_(budget_s) {
    for (const Work& one : work) all_flops_ += one.flops;
    const std::string limit =
        budget_s < kNever ? ", for at most " + shortest(budget_s) + " s (engine.timing_s)" : "";
    log::info("timing " + kernels(count_) + " that this machine has not timed yet" + limit);
  }

  void add(const Work& work, const std::vector<Measurement>& measured, double seconds) {
    ++timed_;
    flops_ += work.flops;
    const TimingJob& job = *work.job;
    const std::vector<double> times = comparable_seconds(measured, job.preferred);
    const auto best = static_cast<size_t>(std::ranges::min_element(times) - times.begin());
    found_ += best == job.preferred ? 0 : 1;
    std::string finding = job.ways[best].node.path + ": " + name_of(job.ways[best]);
    if (best != job.preferred) {
      char gain[64];
      std::snprintf(gain, sizeof gain, " is %.2g times as fast as ",
                    measured[job.preferred].seconds / measured[best].seconds);
      finding += gain + name_of(job.ways[job.preferred]);
    }
    show(finding, seconds);
  }

  void end(double seconds, const std::string& file) const {
    if (on_terminal_) log::end_redrawn();
    std::string text = "timed " + std::to_string(timed_) + " of " + kernels(count_) + " in " +
                       seconds_text(seconds) + "; another way than that of the rules is faster for " +
                       std::to_string(found_);
    if (timed_ < count_) {
      char share[64];
      std::snprintf(share, sizeof share, "%.0f %%", all_flops_ > 0 ? 100 * flops_ / all_flops_ : 0);
      text += "; these have " + std::string(share) + " of the work, the rules choose the rest";
    }
    if (!file.empty()) text += "; later runs use the timings in " + file;
    log::info(text);
    if (timed_ < count_)
      log::info(
          "to time more, raise engine.timing_s, or run tpack bench --time-all once; to train with the "
          "same choices as another run, use --plan RUN_FOLDER/plan.json");
  }

 private:
  void show(const std::string& finding, double seconds) {
    constexpr double kRedrawSeconds = 0.2;
    constexpr double kLineSeconds = 10;
    if (seconds - shown_s_ < (on_terminal_ ? kRedrawSeconds : kLineSeconds)) return;
    shown_s_ = seconds;
    const std::string of = budget_s_ < kNever ? " of at most " + shortest(budget_s_) + " s" : "";
    std::string line = "timing kernels: " + std::to_string(timed_) + " of " + std::to_string(count_) + ", " +
                       seconds_text(seconds) + of + "; " + finding;
    if (!on_terminal_) return log::info(line);
    const auto columns = static_cast<size_t>(terminal_size(STDERR_FILENO).columns);
    log::redraw(std::string_view(line).substr(0, columns - 1));
  }

  size_t count_;
  double budget_s_;
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  double all_flops_ = 0;
  double flops_ = 0;  // of those that were timed
  size_t timed_ = 0;
  size_t found_ = 0;
  double shown_s_ = 0;
};

Tuner::Tuner(const KernelLibrary& library, const Options& options)
    : Tuner(library, options, nullptr, monotonic_s) {}

Tuner::Tuner(const KernelLibrary& library, const Options& options, PrepareTimed prepare,
             std::function<double()> now)
    : library_(library),
      memory_(*options.memory),
      timings_(options.timings),
      budget_s_(options.budget_s),
      prepare_(std::move(prepare)),
      now_(std::move(now)),
      cache_(options.cache_dir, library.hardware(), library.version()) {
  if (timings_ == Timings::kAll) budget_s_ = kNever;
}

std::vector<std::vector<Measurement>> Tuner::measure(const std::vector<TimingJob>& jobs, KernelQueue& queue,
                                                     const std::function<void()>& before_timing) {
  const std::vector<Work> work = work_of(jobs, queue);
  if (!work.empty() && timings_ != Timings::kKnown && spent_s_ < budget_s_) {
    before_timing();
    time(work, queue);
  }
  std::vector<std::vector<Measurement>> all;
  for (const TimingJob& job : jobs) {
    std::vector<Measurement>& measured = all.emplace_back();
    for (const KernelRequest& way : job.ways) {
      const Measurement* const known = cache_.find(key_of(way, queue));
      if (known != nullptr) measured.push_back(*known);
    }
    if (measured.size() < job.ways.size()) measured.clear();
  }
  return all;
}

/// Disturbed timings are good enough, unless everything should be measured.
bool Tuner::knows(const TimingJob& job, const KernelQueue& queue) const {
  return std::ranges::all_of(job.ways, [&](const KernelRequest& way) {
    const Measurement* const known = cache_.find(key_of(way, queue));
    return known != nullptr && !(known->disturbed && timings_ == Timings::kAll);
  });
}

/// Jobs without timings, the most work first.
std::vector<Tuner::Work> Tuner::work_of(const std::vector<TimingJob>& jobs, const KernelQueue& queue) const {
  std::vector<Work> work;
  std::map<std::string, size_t> of_key;
  for (const TimingJob& job : jobs) {
    if (knows(job, queue)) continue;
    std::string key;
    for (const KernelRequest& way : job.ways) key += key_of(way, queue) + "\n";
    const auto [found, is_new] = of_key.emplace(key, work.size());
    if (is_new) work.push_back({.job = &job});
    const Node& node = job.ways[job.preferred].node;
    work[found->second].flops += node.op->flops(node);
  }
  std::ranges::stable_sort(work, std::greater<>(), &Work::flops);
  return work;
}

void Tuner::time(const std::vector<Work>& work, KernelQueue& queue) {
  constexpr double kSaveSeconds = 1;
  KernelTimer timer(library_, memory_);
  const PrepareTimed real = [&timer](const KernelRequest& way, KernelQueue& on) {
    return timer.prepare(way, on);
  };
  Progress progress(work, budget_s_ - spent_s_);
  began_s_ = now_();
  double saved_s = began_s_;
  for (const Work& one : work) {
    if (left_s() <= 0) break;
    if (!time_one(one, queue, prepare_ ? prepare_ : real)) continue;
    std::vector<Measurement> measured;
    for (const KernelRequest& way : one.job->ways) measured.push_back(*cache_.find(key_of(way, queue)));
    progress.add(one, measured, now_() - began_s_);
    if (now_() - saved_s < kSaveSeconds) continue;
    cache_.save();
    saved_s = now_();
  }
  cache_.save();
  progress.end(now_() - began_s_, cache_.path());
  spent_s_ += now_() - began_s_;
}

/// False if that would take, or took, longer than the remaining time.
bool Tuner::time_one(const Work& work, KernelQueue& queue, const PrepareTimed& prepare) {
  constexpr double kFirstGuess = 20e9;  // FLOPs per second of a thread
  constexpr int kMinRuns = 2;
  const TimingJob& job = *work.job;
  std::vector<Contender> all;
  try {
    all = contenders_of(job, queue, prepare);
  } catch (const ResourceError&) {
    return false;  // not enough memory to measure it
  }
  const Node& node = job.ways[job.preferred].node;
  const double flops = node.op->flops(node);
  const double speed = flops_per_s_ > 0 ? flops_per_s_ : kFirstGuess * queue.threads();
  double expected_s = 0;
  for (const Contender& one : all) {
    if (one.kernel) expected_s += kMinRuns * flops * one.kernel->share / speed;
  }
  if (expected_s > left_s() || !compete(all, job.preferred, now_() + left_s(), now_)) return false;
  double best = kNever;
  for (size_t i = 0; i < all.size(); ++i) {
    best = std::min(best, all[i].measured.seconds);
    cache_.put(key_of(job.ways[i], queue), all[i].measured);
  }
  if (best < kNever && best > 0) flops_per_s_ = flops / best;
  return true;
}

std::vector<double> comparable_seconds(const std::vector<Measurement>& measured, size_t preferred) {
  constexpr double kNearTie = 0.9;         // another way must be 10 % better
  constexpr double kNearTieIfBusy = 0.75;  // one of the two may have run while others did
  const Measurement& rule = measured[preferred];
  const bool has_rule = rule.seconds < kNever;
  std::vector<double> seconds;
  for (size_t i = 0; i < measured.size(); ++i) {
    const bool too_large = has_rule && measured[i].scratch_bytes > rule.scratch_bytes;
    const bool disturbed = measured[i].disturbed || rule.disturbed;
    const bool too_close = i != preferred && measured[i].seconds >= kNearTieIfBusy * rule.seconds;
    const bool not_comparable = has_rule && disturbed && too_close;
    seconds.push_back(too_large || not_comparable ? kNever
                                                  : measured[i].seconds * (i == preferred ? kNearTie : 1));
  }
  return seconds;
}

}  // namespace tpack
