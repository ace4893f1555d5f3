#include "run/train.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "config/yaml_reader.h"
#include "core/digest.h"
#include "core/failure.h"
#include "core/substitute.h"
#include "core/text.h"
#include "experiment/check.h"
#include "experiment/experiment.h"
#include "experiment/gates.h"
#include "experiment/ignored_labels.h"
#include "experiment/initial_weights.h"
#include "experiment/without_effect.h"
#include "learner/stored_data.h"
#include "predict/evaluation_flow.h"
#include "run/bad_sample_list.h"
#include "run/config_changes.h"
#include "run/data_changes.h"
#include "run/data_report.h"
#include "run/precision_times.h"
#include "run/start_report.h"
#include "system/file_io.h"
#include "system/log.h"
#include "system/machine.h"

namespace tpack {
namespace {

class TrainRun {
 public:
  TrainRun(const TrainOptions& options, Comm& world, const Interruption& interruption)
      : options_(options), world_(world), interruption_(interruption) {}

  LoopResult run();

 private:
  void train();
  void prepare_data();
  void enter_folder();
  void reject_to_replace_the_config(const std::string& folder) const;
  void read_checkpoint();
  void restore(Loop& loop);
  void begin_folder();
  void choose_plan();
  std::optional<Plan> stored_plan() const;
  void check_for_earlier_bf16(const Plan& stored) const;
  void compare_with_checkpoint();
  void warn_of_config_changes() const;
  void compare_ranks(const char* what, const std::string& text) const;
  LoopOptions loop_options();
  void start(Loop& loop);
  void use_changed_hyper_parameters(Run& run);
  void end() const;
  void write_plan() const;
  void write_exit(int code, const std::string& reason) const;
  bool chief() const { return world_.rank() == 0; }

  const TrainOptions& options_;
  Comm& world_;
  const Interruption& interruption_;
  BadSampleList bad_samples_;
  std::optional<Experiment> experiment_;
  std::string effective_;            // the config as YAML
  std::optional<RunFolder> folder_;  // of the chief
  bool folder_begun_ = false;
  std::string checkpoint_path_;  // empty: a new run
  CheckpointContent checkpoint_;
  std::string restored_;                             // what was loaded from it, or from `init`
  std::vector<std::string> config_changes_;          // since the checkpoint
  std::vector<std::string> changed_values_;          // of hyper-parameters, changed by the config
  std::vector<std::string> kept_values_;             // hyper-parameters that the config could not change
  ChangeHistory changes_;                            // changes of the config, in this run and earlier ones
  std::string data_record_;                          // the data of this run
  std::map<std::string, std::string> data_changes_;  // since the checkpoint, by flow
  Plan plan_;
  std::unique_ptr<Monitors> monitors_;
  LoopResult result_;
};

LoopResult TrainRun::run() {
  try {
    train();
    write_exit(result_.ending == StopReason::kInterrupted ? interruption_.exit_code() : 0, result_.reason);
    return result_;
  } catch (...) {
    const Failure failure = current_failure();
    if (!folder_begun_) warn_of_config_changes();  // which may be why it failed
    write_exit(failure.exit_code, failure.text);
    throw;
  }
}

void TrainRun::train() {
  experiment_ = load_experiment(options_.config, options_.overrides);
  Experiment& e = *experiment_;
  e.require_for_training();
  effective_ = to_yaml(e.effective());
  compare_ranks("config", effective_);
  enter_folder();
  if (checkpoint_path_.empty()) check_init(e.config.init);
  read_checkpoint();
  choose_plan();
  compare_ranks("plan", plan_.to_json());
  compare_with_checkpoint();
  for (const auto& [name, flow] : e.flows) bad_samples_.watch(name, flow);  // inputs read ahead at once
  open_data_and_set_up(
      e, [this] { prepare_data(); }, [this] { set_up_trainer(*experiment_, plan_, world_); });
  require_same_data(world_, e.flows);
  if (chief()) warn_of_unsaved_weights(e);
  if (chief()) warn_of_counted_labels(e.config.model);
  if (chief()) warn_of_what_has_no_effect(e);
  if (!checkpoint_path_.empty()) e.trainer->check_resumable(checkpoint_, checkpoint_path_);
  monitors_ =
      std::make_unique<Monitors>(chief() ? std::move(e.monitors) : std::vector<std::unique_ptr<Monitor>>());
  if (chief() && e.tower) log::info("compiling the network");
  Loop loop(*e.trainer, std::move(e.callbacks), *monitors_, loop_options());
  loop.set_up();
  if (chief()) {
    check_monitor_needs(e.monitor_needs, loop.scalars(), e.flow_names());
    check_gates(e.config.gates, loop.scalars(), e.flow_names());
    remark_of_no_validation(e, loop.scalars());
  }
  restore(loop);
  begin_folder();
  start(loop);
  interruption_.on_watched();
  try {
    result_ = loop.run();
  } catch (...) {
    result_ = loop.result();
    throw;
  }
  write_plan();
  end();
}

void TrainRun::prepare_data() {
  const ScopedActivity busy(world_, "opening the data");
  prepare(experiment_->flows);
  check_same_classes(experiment_->flows);
  const DataRecord record(experiment_->flows);
  data_record_ = record.to_json();
  const auto earlier = checkpoint_.texts.find(layout::kFlows);
  if (earlier != checkpoint_.texts.end())
    data_changes_ = record.changes_since(DataRecord::from_json(earlier->second, checkpoint_path_));
  if (const DataFlow* train = experiment_->train_flow())
    check_same_labels(stored_labels(checkpoint_, checkpoint_path_), experiment_->tower.get(), *train,
                      "train");
}

void TrainRun::enter_folder() {
  if (chief()) {
    const std::string path = run_folder_path(options_, experiment_->config.name);
    reject_to_replace_the_config(path);
    folder_.emplace(path, options_.resume);
    if (folder_->checkpoint()) checkpoint_path_ = *folder_->checkpoint();
  }
  checkpoint_path_ = world_.all_gather(checkpoint_path_, "the checkpoint to resume from")[0];
}

/// The config.yaml of a run folder has all defaults and no comments.
void TrainRun::reject_to_replace_the_config(const std::string& folder) const {
  std::error_code none;
  const bool is_a_run = std::filesystem::exists(folder + "/log.txt", none);
  if (is_a_run || !std::filesystem::equivalent(options_.config, folder + "/config.yaml", none)) return;
  throw ConfigError(options_.config +
                    ": would be replaced by the config.yaml of the run folder; use another " +
                    "folder (--log-dir DIR) or another name");
}

void TrainRun::read_checkpoint() {
  if (checkpoint_path_.empty()) return;
  checkpoint_ = load_checkpoint(checkpoint_path_);
  if (auto fit = stored_fit(checkpoint_, checkpoint_path_)) follow(*experiment_, std::move(*fit));
}

/// Files of an earlier run change only now, after all checks of the config.
void TrainRun::begin_folder() {
  if (chief()) {
    folder_->begin();
    folder_begun_ = true;
    std::error_code none;
    std::filesystem::remove(folder_->file("gates.json"), none);  // of an earlier run
    log::to_file(folder_->file("log.txt"));
    log::info("run folder " + folder_->path());
  }
  if (chief() && !restored_.empty()) log::info(restored_);
  warn_of_config_changes();
  if (chief()) {
    for (const std::string& change : changed_values_) log::info("from here on, " + change);
    for (const std::string& value : kept_values_) log::warning(value);
    for (const auto& [flow, change] : data_changes_) log::warning(change);
  }
  const std::string folder = world_.all_gather(folder_ ? folder_->path() : "", "the run folder")[0];
  const std::string rank = chief() ? "" : "-rank" + std::to_string(world_.rank());
  bad_samples_.write_to(folder + "/bad_samples" + rank + ".txt");
}

void TrainRun::choose_plan() {
  const std::string precision = name_of(experiment_->config.engine.precision);
  std::optional<Plan> stored = stored_plan();
  if (stored) check_for_earlier_bf16(*stored);
  if (!options_.plan.empty()) {
    const std::optional<std::string> plan = read_whole_file(options_.plan, Reads::kStreams);
    if (!plan) throw ConfigError(options_.plan + ": cannot be read");
    plan_ = Plan::from_json(*plan, options_.plan);
    plan_.remedy = "remove --plan to plan again";
    if (!plan_.precision.empty() && plan_.precision != precision)
      throw PlanError(options_.plan + ": this plan is for engine.precision " + plan_.precision +
                      ", the run has " + precision + "; " + plan_.remedy);
    if (plan_.sections.empty())
      log::warning(options_.plan + ": this plan is empty, so everything is planned again");
  } else if (stored && !options_.replan && (stored->precision.empty() || stored->precision == precision)) {
    plan_ = std::move(*stored);
  }
  plan_.precision = precision;
}

/// That of the checkpoint; nothing, with a warning, if it cannot be read.
std::optional<Plan> TrainRun::stored_plan() const {
  const auto text = checkpoint_.texts.find(layout::kPlan);
  if (text == checkpoint_.texts.end()) return std::nullopt;
  try {
    return Plan::from_json(text->second, checkpoint_path_);
  } catch (const PlanError& error) {
    log::warning(error.what() + std::string(kPlannedAgain));
    return std::nullopt;
  }
}

/// Versions that wrote no precision into their plans had another bf16. Errors: ConfigError without --replan.
void TrainRun::check_for_earlier_bf16(const Plan& stored) const {
  const auto text = checkpoint_.texts.find(layout::kConfig);
  if (!stored.precision.empty() || text == checkpoint_.texts.end()) return;
  if (experiment_->config.engine.precision != Precision::kBf16) return;
  const ConfigNode before = parse_yaml(text->second, checkpoint_path_);
  const ConfigNode* const engine = before.find("engine");
  const ConfigNode* const precision = engine == nullptr ? nullptr : engine->find("precision");
  if (precision == nullptr || precision->text() != name_of(Precision::kBf16)) return;
  const std::string what =
      "the bf16 of " + checkpoint_path_ +
      " rounded the factors of matrix products only; now it also rounds those of convolutions, and images";
  if (!options_.replan)
    throw ConfigError(experiment_->position_of("engine"),
                      "'precision' of engine: " + what +
                          ". Resume with --replan to use it from here on, or with --precision fp32");
  if (chief()) log::warning(what);
}

/// Ranks that compute different things would hang or, worse, not hang.
void TrainRun::compare_ranks(const char* what, const std::string& text) const {
  if (world_.size() == 1) return;
  const std::vector<std::string> all =
      world_.all_gather(digest_of(text), (std::string("the hash of the ") + what).c_str());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw DistributedError("rank " + std::to_string(rank) + " has a different " + what +
                           " than rank 0 (hash " + all[rank] + ", not " + all[0] +
                           "); start all ranks with the same files and options");
  }
}

void TrainRun::compare_with_checkpoint() {
  const auto text = checkpoint_.texts.find(layout::kConfig);
  if (text == checkpoint_.texts.end()) return;
  const ConfigNode before = parse_yaml(text->second, checkpoint_path_);
  const ConfigNode now = parse_yaml(effective_, options_.config);
  if (const auto changes = split_changes(before, now); !changes.empty())
    throw ConfigError(
        experiment_->position_of("split"),
        "the parts of the data would change: " + join(changes, "; ") +
            "; training samples would move to other parts; resume with the same split, or start a new run");
  config_changes_ = config_changes(
      before, now, experiment_->updates.empty() ? Position() : experiment_->updates[0].position);
}

void TrainRun::warn_of_config_changes() const {
  if (config_changes_.empty() || !chief()) return;
  log::warning("the config differs from that of the checkpoint: " + join(config_changes_, "; ") +
               "; the new values are used from now on" +
               (kept_values_.empty() ? "" : ", except for those below") +
               ", with the variables and the position in the data of the checkpoint");
}

LoopOptions TrainRun::loop_options() {
  LoopOptions options;
  const ExperimentConfig& config = experiment_->config;
  options.length = {config.starting_epoch, config.max_epoch, resolved_steps_per_epoch(*experiment_)};
  options.until_epoch = options_.until_epoch;
  if (folder_) options.folder = folder_->path();
  options.world = &world_;
  options.interrupt = interruption_.token;
  options.save_request = interruption_.save_request;
  options.flows = experiment_->flows;
  options.seed = static_cast<uint64_t>(config.seed);
  const DataFlow* train = experiment_->train_flow();
  const std::string labels = train == nullptr ? "" : labels_json(experiment_->tower.get(), *train);
  const std::string fitted = train == nullptr ? "" : fitted_json(fitted_data(*train));
  options.texts["config"] = "```yaml\n" + effective_ + "```\n";  // TensorBoard shows Markdown
  const std::string written = to_yaml(with_environment(experiment_->source.merged));
  const std::string folder =
      std::filesystem::absolute(options_.config).parent_path().lexically_normal().string();
  options.add_to_checkpoint = [this, labels, fitted, written, folder](CheckpointContent& content) {
    content.texts[layout::kConfig] = effective_;
    content.texts[layout::kWritten] = written;
    content.texts[layout::kWrittenIn] = folder;
    content.texts[layout::kPlan] = plan_.to_json();
    content.texts[layout::kFlows] = data_record_;
    if (const VariableStore* store = experiment_->trainer->part<TrainedVariables>().variables())
      content.texts[layout::kHyperParameters] = to_json(first_values(store->table()));
    if (!changes_.empty()) content.texts[layout::kChanges] = changes_.to_json();
    if (!labels.empty()) content.texts[layout::kLabels] = labels;
    if (!fitted.empty()) content.texts[layout::kFitted] = fitted;
  };
  return options;
}

/// The parts that may still fail for a wrong file, before the run folder changes.
void TrainRun::restore(Loop& loop) {
  if (!checkpoint_path_.empty()) {
    loop.resume(checkpoint_, checkpoint_path_);
    use_changed_hyper_parameters(loop.state());
    if (const auto text = checkpoint_.texts.find(layout::kChanges); text != checkpoint_.texts.end())
      changes_ = ChangeHistory(text->second, checkpoint_path_);
    changes_.add(loop.state().global_step(), config_changes_);
    changes_.add(loop.state().global_step(), kept_values_);
    checkpoint_ = {};
    restored_ = "resuming from " + checkpoint_path_ + " (global_step " +
                std::to_string(loop.state().global_step()) + ")";
  } else {
    restored_ = load_initial_weights(*experiment_, chief());
    take_values_from_data(*experiment_, chief() && restored_.empty());
  }
}

void TrainRun::start(Loop& loop) {
  Experiment& e = *experiment_;
  if (!chief()) return;
  const bool is_changed =
      checkpoint_path_.empty() || folder_->archive_later_checkpoints(loop.state().global_step());
  // Otherwise epochs after the last save would be lost.
  if (!is_changed && loop.nothing_is_left()) monitors_->detach();
  for (const auto& [flow, change] : data_changes_)
    if (flow != "train") folder_->set_best_aside(flow);
  write_plan();
  write_whole_file(folder_->file("config.yaml"), effective_);
  log::info("the data\n" + describe_data(e.flows, e.tower.get()));
  for (const auto& [flow, text] : known_bad_samples(e.flows)) log::warning(text);
  log::info("the run\n" +
            describe_run(e.trainer->part<StepData>().step_size(), loop.state().length(), e.train_flow()));
  const VariableStore* store = e.trainer->part<TrainedVariables>().variables();
  if (store != nullptr && !e.updates.empty())
    log::info("trained variables\n" + describe_variables(*store, e.updates));
  if (e.config.engine.precision != Precision::kFp32)
    log::info(std::string("engine.precision: ") + name_of(e.config.engine.precision));
  if (const std::string faster = faster_precision(e); !faster.empty()) log::info(faster);
  if (e.config.max_epoch == ExperimentConfig{}.max_epoch && !options_.until_epoch)
    log::info("no max_epoch: runs until stopped");
}

/// A number that the config has changed is used from now on, unless a callback has set it since: then the
/// checkpoint has a different value than its config.
void TrainRun::use_changed_hyper_parameters(Run& run) {
  const VariableStore* store = experiment_->trainer->part<TrainedVariables>().variables();
  const auto text = checkpoint_.texts.find(layout::kHyperParameters);
  if (store == nullptr) return;
  const bool is_known = text != checkpoint_.texts.end();  // versions before 0.2 do not store it
  const FirstValues before = is_known ? first_values_from(text->second, checkpoint_path_) : FirstValues();
  const auto same = [](double a, double b) { return static_cast<float>(a) == static_cast<float>(b); };
  for (const auto& [name, now] : first_values(store->table())) {
    if (!now) continue;  // it has a schedule
    const double actual = run.hyper_parameter(name);
    const auto at = before.find(name);
    const bool was_scheduled = at != before.end() && !at->second;
    if (same(actual, *now) || (at != before.end() && at->second && same(*at->second, *now))) continue;
    if (was_scheduled || (at != before.end() && same(actual, *at->second))) {
      run.set_hyper_parameter(name, *now);
      changed_values_.push_back(name + " was " + short_text(actual) + ", is " + short_text(*now));
    } else {
      kept_values_.push_back(name + " stays " + short_text(actual) +
                             (is_known ? ", because a callback has set it" : ", as in the checkpoint") +
                             ", not " + short_text(*now) +
                             "; to change it, add ScheduledHyperParamSetter: {param: " + name +
                             ", step_based: true, values: [[" + std::to_string(run.global_step() + 1) + ", " +
                             short_text(*now) + "]]} to the callbacks");
    }
  }
}

/// Reports after an end without an error. Errors: ResourceError, GateMissed.
void TrainRun::end() const {
  for (const auto& [name, flow] : experiment_->flows)
    warn_of_bad_samples("data." + name, flow, "; bad_samples.txt lists them");
  if (result_.lacks_a_save)
    throw ResourceError(result_.missing_checkpoint + " could not be saved; see the messages above");
  const bool is_over = result_.ending != StopReason::kInterrupted && result_.ending != StopReason::kPaused;
  const std::vector<Gate>& gates = experiment_->config.gates;
  if (!chief() || !is_over || gates.empty()) return;
  const std::vector<GateResult> results = gate_results(gates, *monitors_, result_.restored_step);
  if (folder_) write_whole_file(folder_->file("gates.json"), to_json(results).dump(1) + "\n");
  require_gates(results);
}

void TrainRun::write_plan() const {
  if (folder_) write_whole_file(folder_->file("plan.json"), plan_.to_json());
}

void TrainRun::write_exit(int code, const std::string& reason) const {
  // A run that could not begin keeps the file of an earlier one.
  if (!folder_ || (!folder_begun_ && std::filesystem::exists(folder_->file("exit.json")))) return;
  const ExitRecord record{.exit_code = code,
                          .reason = reason,
                          .epoch = result_.epoch,
                          .global_step = result_.global_step,
                          .peak_memory_bytes = peak_resident_memory(),
                          .is_paused = code == 0 && result_.ending == StopReason::kPaused};
  try {
    write_whole_file(folder_->file("exit.json"), record.to_json());
  } catch (const ResourceError& error) {
    log::error(error.what());
  }
}

}  // namespace

std::string run_folder_path(const TrainOptions& options, const std::string& name) {
  return options.log_dir.empty() ? "train_log/" + name : options.log_dir;
}

LoopResult train(const TrainOptions& options, Comm& world, const Interruption& interruption) {
  return TrainRun(options, world, interruption).run();
}

}  // namespace tpack
