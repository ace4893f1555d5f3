#include "parallel/data_parallel.h"

#include <algorithm>
#include <functional>

#include "comm/background_reducer.h"
#include "comm/grouped_comm.h"
#include "parallel/gradient_buckets.h"
#include "parallel/ranks.h"
#include "system/machine.h"

namespace tpack {
namespace {

constexpr const char* kGradients = "gradients";
constexpr const char* kStatistics = "statistics of layers";

void scale(const Tensor& values, double factor) {
  visit(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (T& value : values.span<T>()) value = static_cast<T>(static_cast<double>(value) * factor);
  });
}

/// Zeros of its type and shape in its memory.
Tensor like(const Tensor& tensor) { return {tensor.spec(), tensor.memory().allocate_zeros(tensor.bytes())}; }

}  // namespace

/// A part of a gradient block.
struct DataParallel::Bucket {
  Tensor gradient;
  Tensor on_host;
};

/// The programs of one update on one device.
struct DataParallel::UpdatePrograms {
  std::unique_ptr<Program> backward;
  std::unique_ptr<Program> update;  // null: the first tower has the optimizer
  std::unique_ptr<Program> check;   // of a guarded update; null: as above
  Tensor parameters;                // the block of the update's variables
  Tensor gradient;                  // of the same layout
  Tensor gradient_on_host;          // where it is reduced: itself, if the device uses the host's memory
  Tensor zeros;                     // of that layout, where a step has several batches
  std::vector<Tally> earlier;   // the statistics over the earlier batches of a step; empty: there are none
  std::vector<Bucket> buckets;  // that are reduced during backward; empty: afterwards
  Executable* last_backward = nullptr;
  Executable* last_update = nullptr;
  bool has_run = false;
  bool skipped = false;  // by the last run
  double weight = 0;     // of the batches of the step, if they are weighed
  // For a guarded update: what its backward assigns besides the gradient, and the values before.
  std::vector<std::pair<Tensor, Tensor>> before;
};

/// One replica on this machine. Everything here is only used by its own thread, except for reading between
/// steps.
struct DataParallel::Tower final : ReplicaAverage {
  /// For requests of a running program.
  void mean(const Tensor& values) override {
    if (reducer) {
      reducer->start(values, kStatistics, false);
      reducer->wait();
    } else {
      all_reduce_sum(*comm, values, kStatistics, Compression::kNone);
    }
    scale(values, 1.0 / comm->size());
  }

  std::unique_ptr<Device> device;
  std::vector<UpdatePrograms> programs;        // by update
  std::unique_ptr<Comm> local;                 // among the towers of this process
  std::unique_ptr<Comm> grouped;               // among those of all processes
  Comm* comm = nullptr;                        // null: alone
  std::unique_ptr<BackgroundReducer> reducer;  // null: nothing is reduced during backward
  bool ends_step = false;                      // the batch is the last one of its step
  std::vector<std::vector<Tensor>>
      kept;  // copies of a step's batches, if several updates use several batches
  std::span<const Tensor> batch;
  int ended_on = 0;  // the first replica without a batch
  int64_t samples = 0;
  uint32_t updates_seen = 0;
};

DataParallel::DataParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan,
                           ReplicaOptions options)
    : Replicas(tower, std::move(updates), plan, std::move(options)) {
  if (options_.towers > 1) group_ = std::make_unique<LocalGroup>(static_cast<int>(options_.towers));
  threads_ = std::make_unique<TowerThreads>(processors_of_towers());
  const int threads = threads_of_each_tower(available_processors(), options_.towers);
  for (size_t k = 0; k < options_.towers; ++k) {
    auto made = std::make_unique<Tower>();
    made->device = options_.make_device(k, threads);
    if (group_) made->local = group_->member(static_cast<int>(k));
    if (group_ && has_processes()) made->grouped = make_grouped_comm(*made->local, *options_.world);
    made->comm = made->grouped ? made->grouped.get() : group_ ? made->local.get() : nullptr;
    if (!group_ && has_processes()) made->comm = options_.world;
    towers_.push_back(std::move(made));
  }
  updates_once_ = group_ && (shares_variables() || device(0).can_share_variables());
}

DataParallel::~DataParallel() = default;

std::vector<DataParallel::UpdatePrograms> DataParallel::make_programs(
    size_t tower, const std::shared_ptr<std::mutex>& compiling) {
  Device& device = this->device(tower);
  // If towers share their variables, only the first one updates the averages.
  const auto averages = tower > 0 && shares_variables() ? Averages::kStay : Averages::kMove;
  std::vector<UpdatePrograms> all(updates_.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].backward = backward_program(i, device, averages, compiling);
    const size_t devices = updates_once_ ? local_towers() : 1;
    if (!is_worker(tower)) all[i].update = update_program(i, device, compiling, devices);
    if (!is_worker(tower) && guards_) all[i].check = check_program(i, device, compiling, devices);
    all[i].parameters = device.variables().tensor(FlatBlock{kParameters, updates_[i].name}.name());
    all[i].gradient = device.variables().tensor(FlatBlock{kGradient, updates_[i].name}.name());
    if (guards_) all[i].before = assigned_by_backward(tower, i);
    if (batches_of_step() == 1) continue;
    all[i].gradient_on_host = all[i].gradient.host();
    if (options_.accumulate > 1) all[i].zeros = like(all[i].gradient);
    make_buckets(tower, i, all[i]);
    if (options_.accumulate == 1) continue;
    for (const FetchedStatistic& statistic : statistics_) {
      if (statistic.update == i) all[i].earlier.push_back(statistic.tally);
    }
  }
  return all;
}

/// Moving averages and local variables, with memory for their values.
std::vector<std::pair<Tensor, Tensor>> DataParallel::assigned_by_backward(size_t tower, size_t update) {
  std::vector<std::pair<Tensor, Tensor>> all;
  for (const std::string& name : graphs_.moved_in(update, table_)) {
    const bool is_of_first = tower > 0 && shares_variables();
    if (is_of_first && table_.find(name)->scope != VariableScope::kLocal) continue;
    const Tensor variable = device(tower).variables().tensor(name);
    all.emplace_back(variable, like(variable));
  }
  return all;
}

/// Between processes a large gradient is reduced in parts, in the order in which backward computes them. Not
/// if batches are weighed, because the sum of the weights is known only after backward.
void DataParallel::make_buckets(size_t k, size_t update, UpdatePrograms& programs) {
  if (!has_processes() || options_.bucket_bytes == 0 || weighs_) return;
  const auto element = static_cast<int64_t>(size_of(programs.gradient.dtype()));
  const auto buckets =
      gradient_buckets(device(k).variables().layout(updates_[update].name), options_.bucket_bytes / element);
  if (buckets.size() < 2) return;
  AssignmentWatch watch;
  for (const GradientBucket& bucket : buckets) {
    const auto part = [&](const Tensor& block) {
      return block.window({block.dtype(), {bucket.size}}, static_cast<size_t>(bucket.begin * element));
    };
    programs.buckets.push_back({part(programs.gradient), part(programs.gradient_on_host)});
    watch.sets.emplace_back();
    for (const std::string& name : bucket.variables) watch.sets.back().push_back(gradient_name(name));
  }
  watch.reached = [this, k, update](size_t bucket) { reduce_bucket(k, update, bucket); };
  programs.backward->watch(std::move(watch));
  Tower& tower = *towers_[k];
  if (!tower.reducer) tower.reducer = std::make_unique<BackgroundReducer>(*tower.comm, options_.compression);
}

/// Called during the last backward of a step.
void DataParallel::reduce_bucket(size_t k, size_t update, size_t number) {
  Tower& tower = *towers_[k];
  if (!tower.ends_step) return;
  const Bucket& bucket = tower.programs[update].buckets[number];
  bucket.on_host.copy_from(bucket.gradient);
  tower.reducer->start(bucket.on_host, kGradients);
}

void DataParallel::build(const Signature& signature, const std::vector<Signature>& smaller) {
  weighs_ = batches_of_step() > 1 && (counts_differ_ || !smaller.empty());
  if (options_.accumulate > 1) graphs_.add_to_gradients();
  if (weighs_) graphs_.weigh_batches(function_.inputs().front().batched ? signature.front().shape[0] : 1);
  const auto compiling = std::make_shared<std::mutex>();
  const std::function<void(size_t)> work = [&](size_t k) {
    Tower& tower = *towers_[k];
    if (is_worker(k)) {
      const Sharing sharing = shares_variables() ? Sharing::kAll : Sharing::kOptimizer;
      create_variables(device(k), [&] { device(k).share_variables(table_, variables(), sharing); });
    } else {
      create_variables(device(k));
    }
    tower.programs = make_programs(k, compiling);
    for (UpdatePrograms& programs : tower.programs) {
      programs.last_backward = &programs.backward->compile(signature);
      for (const Signature& other : smaller) programs.backward->compile(other, Choosing::kByRules);
      if (programs.update) programs.last_update = &programs.update->compile({});
      if (programs.check) programs.check->compile({});
    }
  };
  // The first chooses (and measures while the others rest); they take its choices.
  const std::function<void(size_t)> first = [&](size_t k) {
    if (k == 0) work(k);
  };
  const std::function<void(size_t)> others = [&](size_t k) {
    if (k > 0) work(k);
  };
  const std::function<void(size_t)> no_peers = [](size_t /*tower*/) {};
  const auto build_all = [&] {
    warn_of_a_foreign_plan(signature);
    threads_->run(first, no_peers);
    threads_->run(others, no_peers);
  };
  if (!has_processes()) return build_all();
  build_with_plan_of_rank_0(*options_.world, device(0), plan_, build_all);
}

void DataParallel::initialize() {
  const std::function<void(size_t)> work = [this](size_t k) {
    device(k).variables().initialize(options_.seed);
  };
  threads_->run(work, [](size_t /*tower*/) {});
  broadcast();
}

/// The next batch of a tower. False, and no batch, if some replica has none.
bool DataParallel::take_batch(size_t k, int64_t number, const Batches& batches) {
  Tower& tower = *towers_[k];
  tower.batch = batches(k, number);
  if (tower.comm != nullptr) {
    // The first replica without a batch has the largest number.
    const auto all = static_cast<int>(replicas());
    const int wish = tower.batch.empty() ? all - static_cast<int>(replica(k)) : 0;
    const int agreed = tower.comm->agree_max(wish, "the next batch");
    tower.ended_on = all - agreed;
    if (agreed > 0) tower.batch = {};
  }
  if (tower.batch.empty()) return false;
  tower.samples += tower.batch[0].shape()[0];
  return true;
}

bool DataParallel::step(int64_t global_step, const Batches& batches) {
  const auto work = [&](size_t k) { step_of(k, global_step, batches); };
  const auto on_error = [this](size_t k) {
    if (group_) group_->abort("tower " + std::to_string(k) + " failed");
  };
  threads_->run(std::cref(work), on_error);  // a reference: std::function would keep a copy on the heap
  last_step_ = global_step;
  skipped_.clear();
  if (towers_[0]->batch.empty()) return false;
  for (size_t i = 0; i < updates_.size(); ++i) {
    if (updates_[i].schedule.includes(global_step) && towers_[0]->programs[i].skipped) skipped_.push_back(i);
  }
  return true;
}

std::span<const Tensor> DataParallel::last_batch(size_t tower) const { return towers_[tower]->batch; }

void DataParallel::on_towers(const std::function<void(size_t)>& work) {
  threads_->run(work, [](size_t /*tower*/) {});
}

int64_t DataParallel::ended_on() const { return towers_[0]->ended_on; }

void DataParallel::step_of(size_t k, int64_t global_step, const Batches& batches) {
  Tower& tower = *towers_[k];
  ReplicaAverage* const average = tower.comm != nullptr ? &tower : nullptr;
  const RunInfo info{options_.seed, global_step, replica(k), average};
  // Random draws depend on the batch of the step, not on the replica.
  const auto info_of = [&](int64_t number) {
    return RunInfo{options_.seed, global_step, number * replicas() + replica(k), average};
  };
  // Updates of all replicas draw the same numbers, so that their variables stay the same.
  const RunInfo update_info{options_.seed, global_step, 0, average};
  const auto is_due = [&](size_t update) { return updates_[update].schedule.includes(global_step); };
  // With one update, each batch is used immediately; several updates use the same batches one after the
  // other.
  const bool keeps = options_.accumulate > 1 && updates_.size() > 1;
  tower.kept.resize(keeps ? static_cast<size_t>(options_.accumulate) : 0);
  for (int64_t number = 0; number < options_.accumulate; ++number) {
    if (!take_batch(k, number, batches)) return;
    if (k == 0 && number == 0 && watch_) watch_(tower.batch, {options_.seed, global_step, replica(0)});
    if (!keeps && options_.accumulate > 1 && is_due(0)) backward(k, 0, number, info_of(number));
    if (!keeps) continue;
    std::vector<Tensor>& copies = tower.kept[static_cast<size_t>(number)];
    copies.clear();
    for (const Tensor& tensor : tower.batch) copies.push_back(tensor.clone());
  }
  for (size_t i = 0; i < updates_.size(); ++i) {
    if (!is_due(i)) continue;
    for (int64_t number = 0; keeps && number < options_.accumulate; ++number) {
      tower.batch = tower.kept[static_cast<size_t>(number)];
      backward(k, i, number, info_of(number));
    }
    if (options_.accumulate == 1) backward(k, i, 0, info);
    apply(k, i, update_info);
  }
}

/// Adds the gradient of a batch to those of the earlier batches in the step.
void DataParallel::backward(size_t k, size_t update, int64_t number, const RunInfo& info) {
  Tower& tower = *towers_[k];
  UpdatePrograms& programs = tower.programs[update];
  const bool first = number == 0;
  for (const auto& [variable, before] : programs.before) {
    if (first) before.copy_from(variable);
  }
  for (size_t i = 0; i < programs.earlier.size(); ++i) {
    if (first) {
      programs.earlier[i].clear();
    } else {
      add_fetched(*programs.last_backward, i, programs.earlier[i]);
    }
  }
  if (first && options_.accumulate > 1) programs.gradient.copy_from(programs.zeros);
  tower.ends_step = number + 1 == options_.accumulate;
  programs.last_backward = &programs.backward->run(tower.batch, info);
  programs.has_run = true;
  if (weighs_) {
    const Tensor& weight = programs.last_backward->fetched(programs.backward->fetch_index(kBatchWeight));
    programs.weight = (first ? 0 : programs.weight) + weight.at(0);
  }
}

/// Scales the gradient so that it is the mean of one large batch.
void DataParallel::weigh(Tower& tower, UpdatePrograms& programs) const {
  double all = programs.weight;
  if (tower.comm != nullptr) tower.comm->all_reduce_sum(std::span(&all, 1), "the weights of batches");
  const auto batches = static_cast<double>(batches_of_step());
  if (all > 0 && all != batches)
    scale(programs.gradient_on_host, batches / all);  // 0: the gradient is 0, too
}

/// The sum over all replicas, for those that update variables.
void DataParallel::reduce(Tower& tower, UpdatePrograms& programs) {
  if (tower.comm == nullptr && !weighs_) return;
  if (!programs.buckets.empty()) {
    tower.reducer->wait();
  } else {
    programs.gradient_on_host.copy_from(programs.gradient);
    if (weighs_) weigh(tower, programs);
    const auto sum = updates_once_ ? reduce_sum : all_reduce_sum;
    if (tower.comm != nullptr) sum(*tower.comm, programs.gradient_on_host, kGradients, options_.compression);
  }
  programs.gradient.copy_from(programs.gradient_on_host);
}

void DataParallel::apply(size_t k, size_t update, const RunInfo& info) {
  UpdatePrograms& programs = towers_[k]->programs[update];
  reduce(*towers_[k], programs);
  updates_once_ ? update_once(k, update, info) : run_update(programs, info);
  if (!programs.skipped) return;
  for (const auto& [variable, before] : programs.before) variable.copy_from(before);
}

/// Unless it is guarded and its gradient is not finite: replicas that each update their variables have the
/// same sum.
void DataParallel::run_update(UpdatePrograms& programs, const RunInfo& info) {
  programs.skipped = programs.check && !is_finite(*programs.check, info);
  if (!programs.skipped) programs.last_update = &programs.update->run({}, info);
}

/// The first tower updates its variables while the threads of the others help it. They are not used again
/// before the next sum, where all threads meet.
void DataParallel::update_once(size_t k, size_t update, const RunInfo& info) {
  UpdatePrograms& programs = towers_[k]->programs[update];
  // Buckets are summed before the end of backward, which may still read weights.
  if (!programs.buckets.empty()) towers_[k]->local->agree_max(0, "the update");
  const uint32_t turn = towers_[k]->updates_seen++;
  if (k > 0) {
    device(0).assist(updates_made_, turn);
    const UpdatePrograms& first = towers_[0]->programs[update];
    programs.skipped = first.skipped;
    if (!programs.skipped && !shares_variables()) programs.parameters.copy_from(first.parameters);
    return;
  }
  struct TellAtEnd {  // also after an error
    std::atomic<uint32_t>& made;
    ~TellAtEnd() {
      ++made;
      made.notify_all();
    }
  } const tell{updates_made_};
  run_update(programs, info);
}

int64_t DataParallel::samples() const {
  int64_t all = 0;
  for (const auto& tower : towers_) all += tower->samples;
  return all;
}

void DataParallel::read(const FetchedStatistic& statistic) const {
  if (!towers_[0]->programs[statistic.update].has_run) return;
  statistic.tally.clear();
  for (const auto& tower : towers_) {
    const UpdatePrograms& programs = tower->programs[statistic.update];
    if (!programs.earlier.empty()) statistic.tally.add(programs.earlier[statistic.number]);
    add_fetched(*programs.last_backward, statistic.number, statistic.tally);
  }
}

const Tensor& DataParallel::fetched(const std::string& name) const {
  const UpdatePrograms& first = towers_[0]->programs[0];
  return first.last_backward->fetched(first.backward->fetch_index(name));
}

void DataParallel::broadcast() {
  VariableStore& store = device(0).variables();
  if (has_processes()) broadcast_variables(*options_.world, store);
  for (size_t k = 1; k < towers_.size(); ++k) {
    device(k).variables().copy_from(store);
  }
}

Device& DataParallel::device(size_t tower) const { return *towers_[tower]->device; }

uint64_t DataParallel::variable_bytes() const {
  uint64_t bytes = 0;
  for (const auto& tower : towers_) bytes += tower->device->variables().bytes();
  return bytes;
}

std::vector<NamedExecutable> DataParallel::executables(size_t tower) const {
  std::vector<NamedExecutable> all;
  for (size_t i = 0; i < towers_[tower]->programs.size(); ++i) {
    const UpdatePrograms& programs = towers_[tower]->programs[i];
    all.push_back({updates_[i].program_name("backward"), programs.last_backward});
    if (programs.check) all.push_back({updates_[i].program_name("check"), &programs.check->compile({})});
    if (programs.update) all.push_back({updates_[i].program_name("update"), programs.last_update});
  }
  TPACK_ASSERT(!all.empty(), "build comes first");
  return all;
}

}  // namespace tpack
