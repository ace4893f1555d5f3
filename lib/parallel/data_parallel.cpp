#include "parallel/data_parallel.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/log.h"
#include "core/machine.h"
#include "core/text.h"

namespace tpack {

/// The programs of one update on one device.
struct DataParallel::UpdatePrograms {
  std::unique_ptr<Program> backward;
  std::unique_ptr<Program> update;
  Tensor gradient;          // the block that is reduced
  Tensor gradient_on_host;  // where it is reduced: itself, if the device uses the host's memory
  Executable* last_backward = nullptr;
  Executable* last_update = nullptr;
  bool has_run = false;
};

/// One replica on this machine. Everything here is used by its own thread only, but for reading between
/// steps.
struct DataParallel::Tower {
  std::unique_ptr<Device> device;
  std::vector<UpdatePrograms> programs;  // by update
  std::unique_ptr<Comm> local;
  Comm* comm = nullptr;  // null: alone
  std::span<const Tensor> batch;
};

namespace {

void reduce(Comm& comm, const Tensor& gradient) {
  if (gradient.dtype() == DType::kFloat64) {
    comm.all_reduce_sum(gradient.span<double>(), "gradients");
  } else {
    comm.all_reduce_sum(gradient.span<float>(), "gradients");
  }
}

}  // namespace

DataParallel::DataParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan,
                           DataParallelOptions options)
    : function_(tower),
      updates_(std::move(updates)),
      graphs_(tower, updates_),
      plan_(plan),
      options_(std::move(options)) {
  const bool processes = options_.world != nullptr && options_.world->size() > 1;
  if (processes && options_.towers > 1) {
    throw ConfigError(
        "several towers in each of several processes are not supported; use one device per process");
  }
  if (options_.towers > 1) group_ = std::make_unique<LocalGroup>(static_cast<int>(options_.towers));
  std::vector<std::vector<int>> processors(options_.towers);
  if (options_.towers > 1) {
    const auto parts = divide_processors(own_processors(), options_.towers);
    for (size_t k = 0; k < options_.towers; ++k)
      processors[k] = parts.at(options_.processor_parts.empty() ? k : options_.processor_parts.at(k));
  }
  threads_ = std::make_unique<TowerThreads>(processors);
  const int threads = threads_of_each_tower(available_processors(), options_.towers);
  for (size_t k = 0; k < options_.towers; ++k) {
    auto made = std::make_unique<Tower>();
    made->device = options_.make_device(k, threads);
    if (group_) made->local = group_->member(static_cast<int>(k));
    made->comm = group_ ? made->local.get() : (processes ? options_.world : nullptr);
    towers_.push_back(std::move(made));
  }
}

DataParallel::~DataParallel() = default;

int64_t DataParallel::replicas() const {
  return options_.world != nullptr && options_.world->size() > 1 ? options_.world->size()
                                                                 : static_cast<int64_t>(towers_.size());
}

int64_t DataParallel::replica(size_t tower) const {
  return options_.world != nullptr && options_.world->size() > 1 ? options_.world->rank()
                                                                 : static_cast<int64_t>(tower);
}

std::vector<std::string> DataParallel::declare(const Signature& signature) {
  const DType type = device().float_type();
  graphs_.declare(table_, signature, type);
  refuse_local_variables();
  refuse_nested_names();
  Graph graph;
  Builder b(graph, table_, {Phase::kTraining, type});
  std::vector<std::string> names;
  std::vector<size_t> fetched(updates_.size(), 0);  // so far, by update
  statistics_.clear();
  for (const Statistic& statistic : build_tower(b, function_, signature, {}).statistics) {
    names.push_back(statistic.name);
    const size_t update = graphs_.update_of(statistic);
    statistics_.push_back({update, fetched[update]++, Tally(statistic)});
  }
  return names;
}

/// A checkpoint holds the variables of replica 0, and `broadcast` gives them to all.
void DataParallel::refuse_local_variables() const {
  if (replicas() == 1) return;
  for (const VariableSpec* spec : table_.all()) {
    if (spec->scope != VariableScope::kLocal) continue;
    throw ConfigError("variable '" + spec->name +
                      "' is local to a replica, and checkpoints hold one replica; "
                      "train this model on one device, in one process");
  }
}

/// A checkpoint stores variables by path, so a variable cannot have the name of a folder of others.
void DataParallel::refuse_nested_names() const {
  for (const VariableScope scope :
       {VariableScope::kModel, VariableScope::kOptimizer, VariableScope::kLocal}) {
    std::set<std::string> paths;
    for (const std::string& name : saved_names(table_, scope))
      paths.insert(name.starts_with('@') ? name.substr(1) : name);
    for (const std::string& path : paths) {
      for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
        const std::string folder = path.substr(0, end);
        if (!paths.contains(folder)) continue;
        throw ConfigError(function_.origin(), "a checkpoint cannot store both variables '" + folder +
                                                  "' and '" + path + "'; rename a layer, network or update");
      }
    }
  }
}

std::vector<DataParallel::UpdatePrograms> DataParallel::make_programs(
    Device& device, const std::shared_ptr<std::mutex>& compiling) {
  const DType type = device.float_type();
  const double scale = 1.0 / static_cast<double>(replicas());
  std::vector<UpdatePrograms> all(updates_.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto backward = [this, i, type](const Signature& fed) {
      return graphs_.backward(i, table_, fed, type, options_.fetches);
    };
    const auto update = [this, i, type, scale](const Signature& /*none*/) {
      return graphs_.update(i, table_, type, scale);
    };
    const auto name = [&](const char* program) { return updates_[i].program_name(program); };
    all[i].backward = std::make_unique<Program>(name("backward"), device, plan_, backward, compiling);
    all[i].update = std::make_unique<Program>(name("update"), device, plan_, update, compiling);
    if (replicas() == 1) continue;
    all[i].gradient = device.variables().tensor(FlatBlock{kGradient, updates_[i].name}.name());
    all[i].gradient_on_host = all[i].gradient.host();
  }
  return all;
}

void DataParallel::build(const Signature& signature, const std::vector<Signature>& smaller) {
  const auto compiling = std::make_shared<std::mutex>();
  const std::function<void(size_t)> work = [&](size_t k) {
    Tower& tower = *towers_[k];
    create_variables(*tower.device);
    tower.programs = make_programs(*tower.device, compiling);
    for (UpdatePrograms& programs : tower.programs) {
      programs.last_backward = &programs.backward->compile(signature);
      for (const Signature& other : smaller) programs.backward->compile(other, Choosing::kByRules);
      programs.last_update = &programs.update->compile({});
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
  share_plan([&] {
    warn_of_a_foreign_plan(signature);
    threads_->run(first, no_peers);
    threads_->run(others, no_peers);
  });
}

void DataParallel::create_variables(Device& device) const {
  try {
    device.create_variables(table_);
  } catch (const ResourceError& error) {
    const auto smaller = [](const VariableSpec* a, const VariableSpec* b) {
      return a->spec.bytes() < b->spec.bytes();
    };
    const auto trainable = table_.trainable();
    if (trainable.empty()) throw;
    const VariableSpec& largest = **std::max_element(trainable.begin(), trainable.end(), smaller);
    const std::string text = std::string(error.what()) + "; the largest variable is '" + largest.name +
                             "', " + largest.spec.str() + " (" +
                             human_bytes(static_cast<uint64_t>(largest.spec.bytes())) + ")";
    throw ResourceError(Problem{function_.origin(), text}.str());
  }
}

void DataParallel::initialize() {
  const std::function<void(size_t)> work = [this](size_t k) {
    device(k).variables().initialize(options_.seed);
  };
  threads_->run(work, [](size_t /*tower*/) {});
  broadcast();
}

/// Made on another CPU (which rank 0 may have, too), or for something else.
void DataParallel::warn_of_a_foreign_plan(const Signature& signature) const {
  if (plan_.sections.empty()) return;
  const std::string section = section_name(updates_[0].program_name("backward"), signature);
  if (!plan_.sections.contains(section)) {
    log::warning("the plan has no section '" + section +
                 "', so it is planned again; was the plan made for another batch size or model?");
  }
  const std::string& here = towers_[0]->device->hardware();
  if (plan_.cpu.empty() || here.empty() || plan_.cpu == here) return;
  log::warning("the plan was made on another CPU (" + plan_.cpu + ", this is " + here +
               "): results may differ in the last bits");
}

void DataParallel::share_plan(const std::function<void()>& build) {
  Comm* world = towers_[0]->comm;
  const bool processes = world != nullptr && !group_;
  if (!processes) return build();
  // Rank 0 chooses; the others take its choices, so that all compute the same bits. What a program meets
  // later every rank chooses by the same rules.
  const auto build_alone = [&] {
    const BusyWith busy(*world, "choosing and compiling kernels");
    build();
  };
  if (world->rank() == 0) build_alone();
  const std::string plan = world->all_gather(world->rank() == 0 ? plan_.to_json() : "", "the plan")[0];
  if (world->rank() == 0) return;
  plan_ = Plan::from_json(plan, "the plan of rank 0");
  build_alone();
}

bool DataParallel::step(int64_t global_step, const Batches& batches) {
  const auto work = [&](size_t k) {
    Tower& tower = *towers_[k];
    tower.batch = batches(k);
    const bool empty = tower.batch.empty();
    if (tower.comm != nullptr && tower.comm->agree_max(empty ? 1 : 0, "the next batch") > 0) {
      tower.batch = {};
    }
    if (!tower.batch.empty()) step_of(k, global_step);
  };
  const auto on_error = [this](size_t k) {
    if (group_) group_->abort("tower " + std::to_string(k) + " failed");
  };
  threads_->run(std::cref(work), on_error);  // a reference: std::function would keep a copy on the heap
  for (const auto& tower : towers_) samples_ += tower->batch.empty() ? 0 : tower->batch[0].shape()[0];
  last_step_ = global_step;
  return !towers_[0]->batch.empty();
}

void DataParallel::step_of(size_t k, int64_t global_step) {
  Tower& tower = *towers_[k];
  const RunInfo info{options_.seed, global_step, replica(k)};
  for (size_t i = 0; i < updates_.size(); ++i) {
    if (global_step % updates_[i].every != 0) continue;
    UpdatePrograms& programs = tower.programs[i];
    programs.last_backward = &programs.backward->run(tower.batch, info);
    if (tower.comm != nullptr) {
      programs.gradient_on_host.copy_from(programs.gradient);
      reduce(*tower.comm, programs.gradient_on_host);
      programs.gradient.copy_from(programs.gradient_on_host);
    }
    programs.last_update = &programs.update->run({}, info);
    programs.has_run = true;
  }
}

/// Statistics are the first fetches of a program, each as sum and weight.
const Tally& DataParallel::statistic(size_t index) const {
  const FetchedStatistic& statistic = statistics_[index];
  if (!towers_[0]->programs[statistic.update].has_run) return statistic.tally;
  statistic.tally.clear();
  for (const auto& tower : towers_) {
    const Executable& done = *tower->programs[statistic.update].last_backward;
    statistic.tally.add(done.fetched(2 * statistic.number), done.fetched(2 * statistic.number + 1));
  }
  return statistic.tally;
}

void DataParallel::set_statistic(size_t index, const std::vector<double>& parts) {
  statistics_[index].tally.set_parts(parts);
}

const Tensor& DataParallel::fetched(const std::string& name) const {
  const UpdatePrograms& first = towers_[0]->programs[0];
  return first.last_backward->fetched(first.backward->fetch_index(name));
}

void DataParallel::broadcast() {
  for (size_t k = 1; k < towers_.size(); ++k) device(k).variables().copy_from(device(0).variables());
  if (towers_.size() > 1 || towers_[0]->comm == nullptr) return;
  VariableStore& store = device(0).variables();
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : store.names(scope)) {
      const Tensor value = store.value(name);
      towers_[0]->comm->broadcast({value.raw(), value.bytes()}, 0, "variables");
      store.set(name, value);
    }
  }
}

Device& DataParallel::device(size_t tower) const { return *towers_[tower]->device; }
std::vector<NamedExecutable> DataParallel::executables(size_t tower) const {
  std::vector<NamedExecutable> all;
  for (size_t i = 0; i < towers_[tower]->programs.size(); ++i) {
    const UpdatePrograms& programs = towers_[tower]->programs[i];
    all.push_back({updates_[i].program_name("backward"), programs.last_backward});
    all.push_back({updates_[i].program_name("update"), programs.last_update});
  }
  TPACK_ASSERT(!all.empty(), "build comes first");
  return all;
}

}  // namespace tpack
