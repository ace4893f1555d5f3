#include "train/data_parallel_trainer.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/layout.h"
#include "parallel/async_parallel.h"
#include "parallel/data_parallel.h"
#include "parallel/ranks.h"
#include "train/saved_state.h"

namespace tpack {

/// Asynchronous towers may still read.
DataParallelTrainer::~DataParallelTrainer() {
  reading_.request_stop();
  agent_.reset();  // before the device that it asks
  replicas_.reset();
}

void DataParallelTrainer::setup(const TrainSetup& setup) {
  setup_ = setup;
  data_ = setup.train_flow();
  const auto& names = choice_.devices;
  if (!choice_.uses_world && setup.world->size() > 1) {
    throw ConfigError("mpirun started " + std::to_string(setup.world->size()) +
                      " processes, but this trainer uses one; use trainer: {Horovod: {}}");
  }
  if (choice_.uses_world) setup.world->set_timeout(choice_.timeout_s);
  ReplicaOptions options;
  options.make_device = [names, engine = setup.engine](size_t k, int threads) {
    return open_device(names[k].name, engine, engine.threads > 0 ? engine.threads : threads);
  };
  options.towers = names.size();
  options.processor_parts = processor_parts(names);
  options.world = choice_.uses_world ? setup.world : nullptr;
  options.variables = choice_.variables;
  options.average = choice_.average;
  options.bucket_bytes = choice_.bucket_bytes;
  options.compression = choice_.compression;
  options.accumulate = choice_.accumulate;
  options.seed = setup.seed;
  agent_ = AgentLink::of(*data_, setup);
  if (agent_) options.fetches = agent_->fetches();
  if (choice_.asynchronous) {
    replicas_ = std::make_unique<AsyncParallel>(*setup.tower, setup.updates, *setup.plan, std::move(options));
  } else {
    replicas_ = std::make_unique<DataParallel>(*setup.tower, setup.updates, *setup.plan, std::move(options));
  }
  batches_ = [this](size_t k, int64_t number) -> std::span<const Tensor> {
    // After a step has begun, it waits for its other batches, because moving averages have seen the first
    // ones.
    const auto stop = number == 0 ? reading_.get_token() : std::stop_token();
    return readers_[k]->next(stop) ? readers_[k]->tensors() : std::span<const Tensor>();
  };
  const auto batch = data_->batch_size();
  if (!batch)
    throw ConfigError(data_->origin(),
                      "data.train produces single samples; end it with BatchData: {batch_size: ...}");
  signature_ = signature(*batch);
  Diagnostics errors;  // of the data and of the model at once
  const auto keep = [&](const auto& act) {
    try {
      act();
    } catch (const ConfigError& error) {
      errors.add(error, {});
    }
  };
  keep([&] { components_ = bind_inputs(setup.tower->inputs(), data_->spec(), "data.train"); });
  const auto fed = errors.ok() ? std::optional(signature_) : signature_of_data(signature_);
  if (fed) keep([&] { statistics_ = replicas_->declare(*fed); });
  errors.throw_if_any();
  if (agent_) connect_agent();
}

/// What a step is fed: mixed labels are probabilities where the model declares class numbers.
Signature DataParallelTrainer::signature(int64_t batch) const {
  Signature fed = batch_specs(*setup_.tower, batch);
  const std::vector<TowerInput>& inputs = setup_.tower->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto at = data_->spec().find(inputs[i].component);
    if (!at || !data_->spec()[*at].is_mixed_label || inputs[i].spec != data_->spec()[*at].declared())
      continue;
    const TensorSpec& mixed = data_->spec()[*at].tensor;
    fed[i] = {mixed.dtype, Shape{batch, mixed.shape[1]}};
  }
  return fed;
}

/// The specs of the data if they differ from the model's declarations; empty for different axes, which may
/// have caused the model's errors.
std::optional<Signature> DataParallelTrainer::signature_of_data(Signature declared) const {
  const std::vector<TowerInput>& inputs = setup_.tower->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto at = data_->spec().find(inputs[i].component);
    if (!at || data_->spec()[*at].tensor.shape.rank() != declared[i].shape.rank()) return std::nullopt;
    const auto sizes = data_->spec()[*at].tensor.shape.sizes();
    if (std::find(sizes.begin(), sizes.end(), Shape::kUnknown) != sizes.end()) return std::nullopt;
    declared[i] = data_->spec()[*at].tensor;
  }
  return declared;
}

void DataParallelTrainer::connect_agent() {
  if (replicas_->batches_of_step() != 1 || choice_.asynchronous)
    throw ConfigError(data_->origin(),
                      "data.train plays with the model; this needs a trainer that takes one batch in a step, "
                      "such as Simple");
  agent_->connect(*model_handle(), setup_);
}

void DataParallelTrainer::compile() {
  if (compiled_) return;
  compiled_ = true;
  // All possible batches of the data, so that the plan is complete before the first step.
  std::vector<Signature> smaller;
  if (const int64_t left = data_->batching()->remainder(); left > 0) smaller.push_back(signature(left));
  replicas_->build(signature_, smaller);
  if (agent_) agent_->compile();
}

void DataParallelTrainer::initialize() {
  compile();
  replicas_->initialize();
  if (agent_) agent_->take_variables(replicas_->variables());
  open_inputs({});
}

void DataParallelTrainer::open_inputs(DataPosition position) {
  waited_before_ = waited_s();
  readers_.clear();
  position_ = position;
  for (size_t k = 0; k < replicas_->local_towers(); ++k) {
    InputSetup input;
    input.flow = data_;
    input.components = components_;
    input.nominal = signature_;
    input.seed = setup_.seed;
    input.replica = replicas_->replica(k);
    input.replicas = replicas_->replicas();
    input.position = position;
    readers_.push_back(setup_.input->open(input));
  }
}

bool DataParallelTrainer::step(int64_t global_step, const std::stop_token& stop) {
  const std::stop_callback end_readers(stop_if_alone(*setup_.world, stop),
                                       [this] { reading_.request_stop(); });
  if (!replicas_->step(global_step, batches_)) return false;
  position_ = readers_[0]->position();
  if (agent_) agent_->after_step(*replicas_);
  return true;
}

std::string DataParallelTrainer::end_of_data() const {
  const int64_t replica = replicas_->ended_on();
  if (replica == 0) return StepData::end_of_data();
  const auto towers = static_cast<int64_t>(replicas_->local_towers());
  std::string where;
  if (towers > 1) where += " of tower " + std::to_string(replica % towers);
  if (step_size().ranks > 1) where += " of rank " + std::to_string(replica / towers);
  return "the data" + where + " ended";
}

std::vector<StepStatistic> DataParallelTrainer::statistics() const {
  std::vector<StepStatistic> all;
  for (size_t i = 0; i < statistics_.size(); ++i) {
    const std::string& name = statistics_[i];
    const bool minimized = std::any_of(setup_.updates.begin(), setup_.updates.end(),
                                       [&](const Update& update) { return update.cost.name == name; });
    all.push_back({.name = name, .minimized = minimized, .goal = replicas_->goal_of_statistic(i)});
  }
  if (agent_) all.insert(all.end(), AgentLink::statistics().begin(), AgentLink::statistics().end());
  return all;
}

std::optional<double> DataParallelTrainer::statistic(size_t index) const {
  if (index >= statistics_.size()) return agent_->statistic(index - statistics_.size());
  const Tally& tally = replicas_->statistic(index);
  return tally.has_value() ? std::optional(tally.value()) : std::nullopt;
}

std::optional<int64_t> DataParallelTrainer::steps_per_pass() const {
  const auto batches = data_->finite_size();
  return batches ? std::optional(*batches / replicas_->batches_of_step()) : std::nullopt;
}

StepSize DataParallelTrainer::step_size() const {
  const int64_t ranks = choice_.uses_world ? setup_.world->size() : 1;
  return {data_->batch_size().value_or(0), static_cast<int64_t>(replicas_->local_towers()), ranks,
          replicas_->device().threads(), choice_.accumulate};
}

double DataParallelTrainer::waited_s() const {
  double all = waited_before_;
  for (const auto& reader : readers_) all += reader->waited_s();
  return all;
}

std::optional<InputQueue> DataParallelTrainer::input_queue() const {
  return readers_.empty() ? std::nullopt : readers_[0]->queue();
}

void DataParallelTrainer::share_variables() {
  replicas_->broadcast();
  if (agent_) agent_->take_variables(replicas_->variables());
}

std::vector<std::string> DataParallelTrainer::hyper_parameters() const {
  std::vector<std::string> names = replicas_->variable_table().hyper_parameters();
  if (!agent_) return names;
  for (const Agent::HyperParameter& one : agent_->hyper_parameters()) names.push_back(one.name);
  return names;
}

double DataParallelTrainer::hyper_parameter(const std::string& name) const {
  if (const auto* own = agent_ ? agent_->hyper_parameter(name) : nullptr) return own->value;
  return replicas_->variables().number(name);
}

void DataParallelTrainer::set_hyper_parameter(const std::string& name, double value) {
  if (auto* own = agent_ ? agent_->hyper_parameter(name) : nullptr) {
    own->value = value;
    return;
  }
  replicas_->variables().set_number(name, value);
  for (size_t k = 0; k < replicas_->local_towers(); ++k)
    replicas_->device(k).variables().set_number(name, value);
}

std::map<std::string, std::shared_ptr<const Schedule>> DataParallelTrainer::schedules() const {
  auto found = replicas_->variable_table().schedules();
  if (!agent_) return found;
  for (const Agent::HyperParameter& one : agent_->hyper_parameters()) {
    if (one.schedule) found[one.name] = one.schedule;
  }
  return found;
}

TrainerMemory DataParallelTrainer::memory() const {
  const size_t towers = replicas_->local_towers();
  TrainerMemory memory;
  memory.activations = replicas_->device().arena_bytes();
  // Validation, which runs on the first device alone, may need the largest arena.
  if (towers > 1) memory.activations += (towers - 1) * replicas_->device(towers - 1).arena_bytes();
  memory.variables = replicas_->variable_bytes();
  for (const NamedExecutable& program : replicas_->executables(0))
    memory.constants += towers * program.executable->report().constant_bytes;
  return memory;
}

std::optional<ModelHandle> DataParallelTrainer::model_handle() {
  return ModelHandle{setup_.tower, &replicas_->device(), &replicas_->variable_table(), setup_.plan};
}

std::vector<ModelHandle> DataParallelTrainer::model_handles() {
  const size_t count = replicas_->idle_towers();
  std::vector<ModelHandle> models(count, *model_handle());
  for (size_t k = 0; count > 1 && k < count; ++k) models[k].device = &replicas_->device(k);
  return models;
}

void DataParallelTrainer::watch_batches(const std::function<void(const TowerBatch&)>& watch) {
  watches_.push_back(watch);
  replicas_->watch([this](std::span<const Tensor> batch, const RunInfo& info) {
    for (const auto& each : watches_) each({batch, info});
  });
}

std::optional<TowerBatch> DataParallelTrainer::last_batch(size_t tower) const {
  const std::span<const Tensor> batch = replicas_->last_batch(tower);
  if (batch.empty()) return std::nullopt;
  return TowerBatch{batch, replicas_->last_info(tower)};
}

std::vector<std::string> DataParallelTrainer::skipped_updates() const {
  std::vector<std::string> names;
  for (const size_t update : replicas_->skipped_updates()) {
    const std::string& name = setup_.updates[update].name;
    names.push_back(name.empty() ? "" : "update " + name);
  }
  return names;
}

std::optional<double> DataParallelTrainer::gradient_scale(const std::string& variable) const {
  if (replicas_->last_batch(0).empty()) return std::nullopt;
  for (const ParameterGroup& group : replicas_->variable_table().groups()) {
    if (std::find(group.variables.begin(), group.variables.end(), variable) == group.variables.end())
      continue;
    const auto update = std::find_if(setup_.updates.begin(), setup_.updates.end(),
                                     [&](const Update& one) { return one.name == group.name; });
    const bool was_due =
        replicas_->was_due_in_last_step(static_cast<size_t>(update - setup_.updates.begin()));
    return was_due ? std::optional(replicas_->gradient_scale()) : std::nullopt;
  }
  return std::nullopt;
}

void DataParallelTrainer::before_epoch() {
  if (choice_.broadcast_every_epoch && replicas_->replicas() > 1) replicas_->broadcast();
}

std::vector<std::string> DataParallelTrainer::local_variables() const {
  return saved_names(replicas_->variable_table(), VariableScope::kLocal);
}

bool DataParallelTrainer::saves_together() const {
  return choice_.uses_world && setup_.world->size() > 1 && !local_variables().empty();
}

/// All ranks send the bytes of their towers' local variables, one after the other.
void DataParallelTrainer::gather() {
  const std::vector<std::string> names = local_variables();
  const size_t towers = replicas_->local_towers();
  std::string own;
  for (size_t k = 0; k < towers; ++k) {
    for (const std::string& name : names) {
      const Tensor value = replicas_->device(k).variables().value(name);
      own.append(reinterpret_cast<const char*>(value.raw()), value.bytes());
    }
  }
  const std::vector<std::string> ranks = setup_.world->all_gather(own, "local variables");
  gathered_.clear();
  int64_t replica = 0;
  for (const std::string& rank : ranks) {
    TPACK_ASSERT(rank.size() == own.size(), "ranks have different local variables");
    size_t at = 0;
    for (size_t k = 0; k < towers; ++k, ++replica) {
      for (const std::string& name : names) {
        const Tensor value(replicas_->variables().spec(name));
        std::memcpy(value.raw(), rank.data() + at, value.bytes());
        at += value.bytes();
        gathered_[local_entry(replica, name)] = value;
      }
    }
  }
}

void DataParallelTrainer::save(CheckpointContent& content) const {
  save_variables(replicas_->variables(), content);
  for (const std::string& name : local_variables()) {
    for (size_t k = 1; k < replicas_->local_towers(); ++k)
      content.tensors[local_entry(replicas_->replica(k), name)] =
          replicas_->device(k).variables().value(name);
  }
  for (const auto& [entry, value] : gathered_) content.tensors.emplace(entry, value);
  State data;
  save_position(position_, data);
  data.put("replicas", replicas_->replicas());
  data.put("batches_of_step", replicas_->batches_of_step());
  data.put("batch_size", step_size().batch);
  data.put("seed", static_cast<int64_t>(setup_.seed));
  // An update that skips steps may skip the next one.
  const bool any_skips = std::any_of(setup_.updates.begin(), setup_.updates.end(),
                                     [](const Update& update) { return !update.schedule.is_always(); });
  for (size_t i = 0; any_skips && i < statistics_.size(); ++i)
    data.put("statistic " + statistics_[i], replicas_->statistic(i).parts());
  content.texts[layout::kData] = data.to_json();
  if (agent_) agent_->save(content);
}

/// A resumed run must continue as if it had never stopped, or not at all.
void DataParallelTrainer::check_resumable(const CheckpointContent& content, const std::string& source) const {
  const State data = data_state(content, source);
  // Fewer ranks may continue with the same samples, if they accumulate more batches.
  const auto before = data.get<int64_t>("batches_of_step");
  const int64_t here = replicas_->batches_of_step();
  if (before != here) {
    const int64_t replicas = replicas_->replicas();
    throw CheckpointError(
        source, "was made with " + std::to_string(before) +
                    " batches in each step (towers x ranks x accumulate), " + "this run has " +
                    std::to_string(here) +
                    (before % replicas == 0
                         ? "; set accumulate: " + std::to_string(before / replicas) + " of the trainer"
                         : "; resume with a different number of towers or ranks") +
                    ", or start a new run with these weights (init)");
  }
  // Each replica continues with its own local variables.
  const std::vector<std::string> local = local_variables();
  const auto replicas = data.get<int64_t>("replicas", 1);
  if (!local.empty() && replicas != replicas_->replicas()) {
    throw CheckpointError(
        source, "was made with " + std::to_string(replicas) + " replicas (towers x ranks), this run has " +
                    std::to_string(replicas_->replicas()) + ", and the model has local variables ('" +
                    local[0] +
                    "') of each; resume with as many, or start a new run with these weights (init)");
  }
  require_batch_size(content, source, data, step_size().batch);
  require_same(data, source, "seed", static_cast<int64_t>(setup_.seed));
  require_seek(data, source, *data_);
}

/// Those of all but replica 0. A replica of another process has the first tower's so far.
void DataParallelTrainer::load_local_variables(const CheckpointContent& content, const std::string& source) {
  for (size_t k = 0; k < replicas_->local_towers(); ++k) {
    for (const std::string& name : local_variables()) {
      const std::string entry = local_entry(replicas_->replica(k), name);
      VariableStore& store = replicas_->device(k).variables();
      const auto found = content.tensors.find(entry);
      if (found == content.tensors.end() || !(found->second.spec() == store.spec(name)))
        throw CheckpointError(source, "has no " + entry + " of the type " + store.spec(name).str());
      store.set(name, found->second);
    }
  }
}

void DataParallelTrainer::load(const CheckpointContent& content, const std::string& source) {
  check_resumable(content, source);
  load_variables(content, source, replicas_->variables());
  replicas_->broadcast();
  load_local_variables(content, source);
  const State data = data_state(content, source);
  for (size_t i = 0; i < statistics_.size(); ++i)
    replicas_->set_statistic(i, data.get("statistic " + statistics_[i], std::vector<double>()));
  if (agent_) {
    agent_->take_variables(replicas_->variables());
    agent_->load(content, source);
  }
  open_inputs(position_for(data, *data_));
}

}  // namespace tpack
