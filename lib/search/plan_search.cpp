#include "search/plan_search.h"

#include <algorithm>
#include <optional>

#include "core/text.h"
#include "draw/text_table.h"
#include "experiment/check.h"
#include "search/points.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Information of the configs of the runs for the search.
struct CheckedRun {
  KnownStatistics statistics;
  std::string name;
  std::string effective;
  int64_t starting_epoch = 1;
  int64_t max_epoch = 1;
  bool has_max_epoch = false;  // written, not the default
  bool saves_weights = false;
  int64_t towers = 1;
};

CheckedRun check_run(const std::string& config, const std::vector<std::string>& overrides) {
  CheckedExperiment checked(config, overrides, true);
  const Experiment& e = checked.experiment();
  CheckedRun run;
  run.statistics = known_statistics(checked);
  run.name = e.config.name;
  run.effective = to_yaml(e.effective());
  run.starting_epoch = e.config.starting_epoch;
  run.max_epoch = e.config.max_epoch;
  run.has_max_epoch = e.source.root.find("max_epoch") != nullptr;
  run.towers = e.trainer->part<StepData>().step_size().towers;
  run.saves_weights = std::any_of(e.callbacks.begin(), e.callbacks.end(), [](const NamedCallback& named) {
    return !checkpoints_of(*named.callback).empty();
  });
  return run;
}

std::string described(const std::vector<SearchSetting>& settings, const SearchPoint& point) {
  return "the run with " + join(overrides_of(settings, point), ", ");
}

class SearchPlanner {
 public:
  explicit SearchPlanner(const SearchOptions& options) : o_(options) {}

  PlannedSearch plan() {
    planned_.settings = parse_search_settings(o_.settings);
    if (searched_keys(planned_.settings).empty())
      throw ConfigError("nothing to search: no --set has a list of values; write --set 'KEY=[VALUE, VALUE]'");
    find_points();
    check_runs();
    planned_.folder = o_.log_dir.empty() ? "train_log/" + first_.name + "-sweep" : o_.log_dir;
    while (planned_.folder.size() > 1 && planned_.folder.back() == '/') planned_.folder.pop_back();
    planned_.starting_epoch = first_.starting_epoch;
    SearchPlan& plan = planned_.plan;
    plan.method = o_.method;
    plan.settings = o_.settings;
    plan.trials = o_.trials;
    plan.seed = o_.seed;
    plan.metric = choose_metric(o_.metric, first_.statistics);
    plan.config = first_.effective;
    require_metric();
    make_rungs();
    return std::move(planned_);
  }

 private:
  bool is_drawn() const { return o_.trials > 0; }

  void find_points() {
    if (o_.method == Method::kRandom && !is_drawn())
      throw ConfigError("--search random: the number of runs is missing; add --trials N");
    if (o_.method == Method::kGrid && is_drawn())
      throw ConfigError("--trials: a grid has one run per combination; remove it, or use --search random");
    const auto count = static_cast<size_t>(o_.trials);
    planned_.points = is_drawn() ? random_points(planned_.settings, count, static_cast<uint64_t>(o_.seed))
                                 : grid_points(planned_.settings);
  }

  /// All of them, so that no mistake appears only after hours. Warnings are those of the first run.
  void check_runs() {
    const log::Level level = log::set_level(log::Level::kWarning);
    Diagnostics errors;
    for (size_t i = 0; i < planned_.points.size(); ++i) {
      try {
        CheckedRun run = check_run(o_.config, overrides_of(planned_.settings, planned_.points[i]));
        if (runs_.empty()) first_ = run;
        if (runs_.empty() || run.towers > planned_.most_towers) {
          planned_.most_towers = run.towers;
          planned_.run_of_most_towers = described(planned_.settings, planned_.points[i]);
        }
        log::set_level(log::Level::kError);
        runs_.push_back({std::move(run), i});
      } catch (const ConfigError& error) {
        errors.add(error, {});
      }
    }
    log::set_level(level);
    errors.throw_if_any();
  }

  void require_metric() const {
    for (const auto& [run, number] : runs_) {
      const StatisticGoals& known = run.statistics.statistics;
      if (known.contains(planned_.plan.metric.name)) continue;
      throw ConfigError("--metric: " + described(planned_.settings, planned_.points[number]) +
                        " does not report '" + planned_.plan.metric.name + "'; it reports " +
                        join(names_of(known), ", "));
    }
  }

  void make_rungs() {
    const size_t count = planned_.points.size();
    if (o_.method != Method::kHalving) {
      planned_.rungs = {{first_.max_epoch - first_.starting_epoch + 1, count}};
      return;
    }
    check_halving();
    planned_.plan.eta = o_.eta;
    planned_.plan.least_epochs = o_.least_epochs;
    planned_.rungs = halving_rungs(count, o_.least_epochs, epochs_of(first_), o_.eta);
  }

  static int64_t epochs_of(const CheckedRun& run) { return run.max_epoch - run.starting_epoch + 1; }

  void check_halving() const {
    if (!first_.has_max_epoch)
      throw ConfigError(
          "--search halving: the best runs are trained up to max_epoch, which the config does not set; add "
          "--set max_epoch=N");
    for (const auto& [run, number] : runs_) {
      const std::string who = described(planned_.settings, planned_.points[number]);
      if (epochs_of(run) != epochs_of(first_) || run.starting_epoch != first_.starting_epoch)
        throw ConfigError("--search halving: " + who + " has " + std::to_string(epochs_of(run)) +
                          " epochs, but the first one has " + std::to_string(epochs_of(first_)) +
                          "; all need the same max_epoch");
      if (!run.saves_weights)
        throw ConfigError("--search halving: " + who +
                          " saves no checkpoints to continue from; add ModelSaver to the callbacks");
    }
    if (o_.least_epochs >= epochs_of(first_))
      throw ConfigError("--min-epochs is " + std::to_string(o_.least_epochs) + ", but the config has " +
                        std::to_string(epochs_of(first_)) + (epochs_of(first_) == 1 ? " epoch" : " epochs") +
                        ", so no run could be stopped early; lower it, or raise max_epoch");
  }

  struct NumberedRun {
    CheckedRun run;
    size_t number = 0;
  };

  const SearchOptions& o_;
  PlannedSearch planned_;
  CheckedRun first_;
  std::vector<NumberedRun> runs_;
};

}  // namespace

std::string PlannedSearch::str() const {
  const std::vector<std::string> keys = searched_keys(settings);
  std::vector<std::string> header = {"run"};
  for (std::string& key : short_keys(keys)) header.push_back(std::move(key));
  header.emplace_back("folder");
  TextTable table(header);
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string name = run_name(i, keys, points[i]);
    std::vector<std::string> cells = {name.substr(0, name.find('-'))};
    cells.insert(cells.end(), points[i].begin(), points[i].end());
    cells.push_back(name);
    table.add(std::move(cells));
  }
  std::string text = table.str();
  if (plan.method != Method::kHalving) return text;
  TextTable stages({"epochs", "runs"});
  for (const Rung& rung : rungs) stages.add({std::to_string(rung.epochs), std::to_string(rung.runs)});
  return text + "\n" + stages.str();
}

PlannedSearch plan_search(const SearchOptions& options) { return SearchPlanner(options).plan(); }

}  // namespace tpack
