#include "search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <poll.h>

#include "core/clock.h"
#include "core/text.h"
#include "parallel/tower_threads.h"
#include "run/folder_lock.h"
#include "search/results.h"
#include "system/dependent_process.h"
#include "system/file_io.h"
#include "system/log.h"
#include "system/machine.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConsole = "console.txt";
constexpr const char* kResultsFile = "sweep.csv";
constexpr int kMissedGate = static_cast<int>(ErrorKind::kGateMissed);

/// A run in training.
struct Job {
  size_t run = 0;
  std::unique_ptr<DependentProcess> process;
  Stopwatch watch;
};

/// The processes of the runs. Threads: `stop` from any, all others from one.
class Jobs {
 public:
  explicit Jobs(size_t count) : jobs_(count) {}

  /// A free slot; empty if there is none.
  std::optional<size_t> free_place() const {
    for (size_t i = 0; i < jobs_.size(); ++i)
      if (!jobs_[i]) return i;
    return std::nullopt;
  }
  bool none() const {
    return std::none_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.has_value(); });
  }
  /// False after `stop`, which prevents starts.
  bool start(size_t place, size_t run, const std::function<std::unique_ptr<DependentProcess>()>& make) {
    const std::scoped_lock lock(mutex_);
    if (!is_stopped_) jobs_[place].emplace(Job{run, make(), {}});
    return !is_stopped_;
  }
  /// Waits for the end of a job. Needs a running job.
  Job next_ended() {
    std::vector<pollfd> watched;
    std::vector<size_t> places;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (!jobs_[i]) continue;
      watched.push_back({jobs_[i]->process->descriptor(), POLLIN, 0});
      places.push_back(i);
    }
    while (poll(watched.data(), watched.size(), -1) <= 0) continue;  // a signal
    const auto ready =
        std::find_if(watched.begin(), watched.end(), [](const pollfd& p) { return p.revents != 0; });
    const std::scoped_lock lock(mutex_);
    auto& slot = jobs_[places[static_cast<size_t>(ready - watched.begin())]];
    Job ended = std::move(*slot);
    slot.reset();
    return ended;
  }
  void stop() {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    for (const auto& job : jobs_)
      if (job) job->process->signal(SIGTERM);
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<Job>> jobs_;
  bool is_stopped_ = false;
};

/// The last line of `console` with an error; empty if there is none.
std::string last_error(const std::string& console) {
  const std::string text = read_whole_file(console).value_or("");
  const std::string mark = "\nerror: ";
  const size_t begin = ("\n" + text).rfind(mark);
  if (begin == std::string::npos) return "";
  const size_t first = begin + mark.size() - 1;
  return text.substr(first, text.find('\n', first) - first);
}

std::string why_failed(const std::string& folder, int exit_code) {
  const std::string text = last_error(folder + "/" + kConsole);
  constexpr int kKilled = 128 + 9;
  if (exit_code == kKilled) return "killed; the machine may be out of memory";
  if (exit_code == kMissedGate) return text.empty() ? "a gate is missed" : text;
  if (exit_code > 128) return "killed by signal " + std::to_string(exit_code - 128);
  return text.empty() ? "no message" : text;
}

class SearchDriver {
 public:
  SearchDriver(const PlannedSearch& planned, const SearchJobs& options, const std::string& config,
               const Interruption& interruption)
      : planned_(planned),
        options_(options),
        config_(config),
        stop_(interruption.token),
        jobs_(static_cast<size_t>(options.jobs)) {}

  SearchOutcome run() {
    enter_folder();
    const std::stop_callback pass_on(stop_, [this] { jobs_.stop(); });
    std::vector<size_t> runs(record_.runs.size());
    for (size_t i = 0; i < runs.size(); ++i) runs[i] = i;
    for (size_t rung = 0; rung < planned_.rungs.size() && !stop_.stop_requested(); ++rung) {
      if (rung > 0) runs = survivors(runs, rung);
      train(runs, rung);
    }
    write();
    write_whole_file(planned_.folder + "/" + kResultsFile, SearchResults(record_, planned_.folder).csv());
    return {record_, stop_.stop_requested()};
  }

 private:
  void enter_folder() {
    std::error_code failure;
    fs::create_directories(planned_.folder, failure);
    if (failure)
      throw ResourceError(planned_.folder + ": the folder cannot be created: " + failure.message());
    lock_.emplace(planned_.folder, "another process works");
    const std::string path = planned_.folder + "/" + kSearchFile;
    if (const auto text = read_whole_file(path)) {
      record_ = SearchRecord::from_json(*text, path);
      require_same_plan(path);
    } else {
      require_empty();
    }
    record_.plan = planned_.plan;
    record_.keys = searched_keys(planned_.settings);
    for (size_t i = record_.runs.size(); i < planned_.points.size(); ++i)
      record_.runs.push_back({run_name(i, record_.keys, planned_.points[i]), planned_.points[i]});
    if (options_.retry_failed) forget_failures();
    write();
  }

  void require_same_plan(const std::string& path) const {
    const std::vector<std::string> differences = plan_differences(record_.plan, planned_.plan);
    if (differences.empty()) return;
    throw ConfigError(path + ": belongs to another search: " + join(differences, "; ") +
                      "; use the same options to continue it, or another folder (--log-dir DIR)");
  }

  void require_empty() const {
    for (const auto& entry : fs::directory_iterator(planned_.folder)) {
      if (entry.path().filename() == FolderLock::kFile) continue;
      throw ConfigError(planned_.folder + ": has files, but no " + kSearchFile +
                        "; use another folder (--log-dir DIR)");
    }
  }

  void forget_failures() {
    for (SearchRun& run : record_.runs)
      if (run.state == RunState::kFailed) run.state = RunState::kInterrupted;
  }

  /// The best runs of the previous rung.
  std::vector<size_t> survivors(const std::vector<size_t>& runs, size_t rung) const {
    std::vector<std::optional<double>> scores;
    for (const size_t run : runs) {
      const SearchRun& one = record_.runs[run];
      scores.push_back(one.has_trained(rung - 1) ? std::optional(one.scores[rung - 1]) : std::nullopt);
    }
    std::vector<size_t> kept;
    for (const size_t i : best_of(scores, planned_.rungs[rung].runs, planned_.plan.metric.goal))
      kept.push_back(runs[i]);
    return kept;
  }

  bool is_due(const SearchRun& run, size_t rung) const {
    return !run.has_trained(rung) && run.state != RunState::kFailed;
  }

  /// Trains these runs until the end of the rung.
  void train(const std::vector<size_t>& runs, size_t rung) {
    std::vector<size_t> waiting;
    for (const size_t run : runs)
      if (is_due(record_.runs[run], rung)) waiting.push_back(run);
    if (waiting.empty()) return;
    if (rung > 0)
      log::info("the best " + std::to_string(runs.size()) + " of the runs continue to epoch " +
                std::to_string(last_epoch_of(rung)));
    processors_ = processors_of_jobs(allowed_cpus(), available_processors(),
                                     std::min(waiting.size(), static_cast<size_t>(options_.jobs)));
    size_t next = 0;
    while (true) {
      while (next < waiting.size() && jobs_.free_place() && !stop_.stop_requested())
        start(waiting[next++], rung);
      if (jobs_.none()) return;
      end(jobs_.next_ended(), rung);
    }
  }

  int64_t last_epoch_of(size_t rung) const {
    return planned_.starting_epoch - 1 + planned_.rungs[rung].epochs;
  }
  std::string folder_of(const SearchRun& run) const { return planned_.folder + "/" + run.name; }

  void start(size_t number, size_t rung) {
    SearchRun& run = record_.runs[number];
    std::error_code exists;
    fs::create_directories(folder_of(run), exists);
    std::vector<std::string> words = {options_.program, "train",    config_, "--log-dir",
                                      folder_of(run),   "--resume", "auto"};
    for (const std::string& change : overrides_of(planned_.settings, run.values)) {
      words.emplace_back("--set");
      words.push_back(change);
    }
    if (rung + 1 < planned_.rungs.size()) {
      words.emplace_back("--until-epoch");
      words.push_back(std::to_string(last_epoch_of(rung)));
    }
    if (!wait_for_folder(run)) return;
    const size_t place = *jobs_.free_place();
    const bool is_started = jobs_.start(place, number, [&] {
      return std::make_unique<DependentProcess>(
          DependentProcess::Options{.program = "/proc/self/exe",
                                    .words = words,
                                    .output = folder_of(run) + "/" + kConsole,
                                    .processors = processors_[place % processors_.size()]});
    });
    if (!is_started) return;
    run.state = RunState::kRunning;
    write();
    log::info("run " + run.name + " started");
  }

  /// A run of a killed sweep finishes its step and saves before it ends. False if this sweep ends meanwhile.
  bool wait_for_folder(const SearchRun& run) const {
    constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
    for (bool is_first = true; FolderLock::is_held(folder_of(run)); is_first = false) {
      if (is_first)
        log::info("run " + run.name + " waits: another process still trains in " + folder_of(run));
      std::mutex unused;
      std::unique_lock lock(unused);
      std::condition_variable_any never;
      never.wait_for(lock, stop_, kBetweenLooks, [] { return false; });
      if (stop_.stop_requested()) return false;
    }
    return true;
  }

  void end(Job job, size_t rung) {
    SearchRun& run = record_.runs[job.run];
    run.exit_code = job.process->wait();
    run.seconds += job.watch.seconds();
    run.reason = run.exit_code == kMissedGate ? why_failed(folder_of(run), run.exit_code) : "";
    if (run.exit_code == 0 || run.exit_code == kMissedGate) {
      finish(run, rung);
    } else if (stop_.stop_requested() && run.exit_code > 128) {
      run.state = RunState::kInterrupted;
    } else {
      run.state = RunState::kFailed;
      run.reason = why_failed(folder_of(run), run.exit_code);
      log::warning("run " + run.name + " failed with exit code " + std::to_string(run.exit_code) + ": " +
                   run.reason + " (see " + folder_of(run) + "/" + kConsole + ")");
    }
    write();
  }

  void finish(SearchRun& run, size_t rung) const {
    const MetricValues values = read_metric(folder_of(run), planned_.plan.metric);
    run.scores.resize(rung);
    run.scores.push_back(values.best.value_or(std::numeric_limits<double>::quiet_NaN()));
    const bool is_last = rung + 1 == planned_.rungs.size();
    run.state = !is_last                       ? RunState::kStopped
                : run.exit_code == kMissedGate ? RunState::kGateMissed
                                               : RunState::kFinished;
    log::info("run " + run.name +
              (is_last ? " finished: " : " reached epoch " + std::to_string(last_epoch_of(rung)) + ": ") +
              (values.best ? "best " + planned_.plan.metric.name + " " + short_number(*values.best)
                           : "no value of " + planned_.plan.metric.name));
  }

  void write() const { write_whole_file(planned_.folder + "/" + kSearchFile, record_.to_json()); }

  const PlannedSearch& planned_;
  const SearchJobs& options_;
  const std::string& config_;
  std::stop_token stop_;
  Jobs jobs_;
  std::vector<std::vector<int>> processors_;
  std::optional<FolderLock> lock_;
  SearchRecord record_;
};

}  // namespace

std::vector<std::vector<int>> processors_of_jobs(const std::vector<int>& own, size_t available, size_t jobs) {
  std::vector<std::vector<int>> parts = divide_processors(own, std::min(jobs, own.size()));
  const size_t most = std::max<size_t>(1, available / jobs);
  for (std::vector<int>& part : parts) part.resize(std::min(part.size(), most));
  return parts;
}

void require_processors(const PlannedSearch& planned, int jobs) {
  const size_t at_once = std::min(planned.points.size(), static_cast<size_t>(jobs));
  const size_t each = processors_of_jobs(allowed_cpus(), available_processors(), at_once)[0].size();
  if (at_once == 1 || planned.most_towers <= static_cast<int64_t>(each)) return;
  throw ConfigError("--jobs " + std::to_string(jobs) + ": " + planned.run_of_most_towers + " has " +
                    std::to_string(planned.most_towers) + " towers, but each of " + std::to_string(at_once) +
                    " parallel runs gets " + std::to_string(each) + " of the " +
                    std::to_string(available_processors()) +
                    " processors, and each tower needs one; use fewer jobs or fewer devices");
}

SearchOutcome run_search(const PlannedSearch& planned, const SearchJobs& jobs, const std::string& config,
                         const Interruption& interruption) {
  interruption.on_watched();
  return SearchDriver(planned, jobs, config, interruption).run();
}

}  // namespace tpack
