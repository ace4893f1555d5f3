#include "parallel/async_parallel.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/stop.h"
#include "ops/replica_mean.h"
#include "parallel/tower_threads.h"
#include "system/machine.h"

namespace tpack {

/// One replica. Everything except the counters is used by its own thread, or while that thread waits for its
/// next turn.
struct AsyncParallel::Tower {
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<Program>> backward;  // by update
  std::vector<std::unique_ptr<Program>> check;     // of guarded updates
  std::vector<Executable*> last_backward;
  std::vector<bool> has_run;
  std::span<const Tensor> batch;
  std::vector<std::pair<Tensor, Tensor>> taken;  // variables: its own, and those of the server
  std::vector<std::pair<Tensor, Tensor>> moved;  // averages, of the first tower: those of the server, its own
  std::vector<std::pair<Tensor, Tensor>> given;  // gradients by update: those of the server, its own
  std::atomic<int64_t> steps = 0;
  std::atomic<int64_t> samples = 0;
  std::thread thread;
};

/// The place of the variables, and the lock for access to them.
struct AsyncParallel::Server {
  std::unique_ptr<Device> device;
  std::vector<std::unique_ptr<Program>> update;  // by update
  std::vector<Executable*> last_update;
  std::mutex variables;              // held by the caller between steps
  std::vector<size_t> skipped = {};  // updates since the last step; with `variables`

  std::mutex turn;  // what follows
  std::condition_variable changed;
  const Batches* batches = nullptr;  // from the first step on
  int64_t first_step = 0;            // of the run
  int64_t asked = 0;                 // steps of tower 0 so far, including the current one
  int64_t done = 0;
  bool at_end = false;
  bool ending = false;
  std::exception_ptr error;
};

AsyncParallel::AsyncParallel(const TowerFunction& tower, std::vector<Update> updates, Plan& plan,
                             ReplicaOptions options)
    : Replicas(tower, std::move(updates), plan, std::move(options)), server_(std::make_unique<Server>()) {
  if (has_processes())
    throw ConfigError("asynchronous towers must be in one process; start it without mpirun");
  if (options_.accumulate != 1) throw ConfigError("asynchronous towers do not accumulate batches");
  const int threads = threads_of_each_tower(available_processors(), options_.towers);
  server_->device = options_.make_device(0, threads);
  for (size_t k = 0; k < options_.towers; ++k) {
    towers_.push_back(std::make_unique<Tower>());
    towers_.back()->device = options_.make_device(k, threads);
  }
  server_->variables.lock();
  try {
    const auto processors = processors_of_towers();
    for (size_t k = 0; k < options_.towers; ++k) {
      towers_[k]->thread = std::thread([this, k, own = processors[k]] {
        bind_this_thread(own, "tower" + std::to_string(k));
        run_on_thread(k);
      });
    }
  } catch (const std::system_error& failure) {
    end();
    throw ResourceError("cannot start the threads of " + std::to_string(options_.towers) +
                        " towers: " + failure.what());
  } catch (...) {
    end();
    throw;
  }
}

AsyncParallel::~AsyncParallel() { end(); }

void AsyncParallel::end() {
  {
    const std::lock_guard lock(server_->turn);
    server_->ending = true;
  }
  server_->changed.notify_all();
  server_->variables.unlock();
  for (const auto& tower : towers_) {
    if (tower->thread.joinable()) tower->thread.join();
  }
}

void AsyncParallel::build(const Signature& signature, const std::vector<Signature>& smaller) {
  warn_of_a_foreign_plan(signature);
  const auto compiling = std::make_shared<std::mutex>();
  create_variables(device());
  for (size_t i = 0; i < updates_.size(); ++i) {
    server_->update.push_back(update_program(i, device(), compiling));
    server_->last_update.push_back(&server_->update.back()->compile({}));
  }
  for (size_t k = 0; k < towers_.size(); ++k) {
    Tower& tower = *towers_[k];
    create_variables(*tower.device);
    const VariableStore& own = tower.device->variables();
    for (const auto& group : table_.groups()) {
      const std::string parameters = FlatBlock{kParameters, group.name}.name();
      const std::string gradient = FlatBlock{kGradient, group.name}.name();
      tower.taken.emplace_back(own.tensor(parameters), variables().tensor(parameters));
      tower.given.emplace_back(variables().tensor(gradient), own.tensor(gradient));
    }
    for (const VariableSpec* spec : table_.all()) {
      if (spec->scope != VariableScope::kModel || own.has(gradient_name(spec->name))) continue;
      tower.taken.emplace_back(own.tensor(spec->name), variables().tensor(spec->name));
      if (k == 0 && !spec->trainable)
        tower.moved.emplace_back(variables().tensor(spec->name), own.tensor(spec->name));
    }
    const auto averages = k == 0 ? Averages::kMove : Averages::kStay;
    for (size_t i = 0; i < updates_.size(); ++i) {
      tower.backward.push_back(backward_program(i, *tower.device, averages, compiling));
      tower.last_backward.push_back(&tower.backward.back()->compile(signature));
      for (const Signature& other : smaller) tower.backward.back()->compile(other, Choosing::kByRules);
      if (!guards_) continue;
      tower.check.push_back(check_program(i, *tower.device, compiling));
      tower.check.back()->compile({});
    }
    tower.has_run.resize(updates_.size(), false);
  }
}

void AsyncParallel::check(const Graph& model) const {
  const auto all = table_.all();
  const auto local = std::find_if(
      all.begin(), all.end(), [](const VariableSpec* spec) { return spec->scope == VariableScope::kLocal; });
  if (local != all.end()) {
    throw ConfigError(function_.origin(), "variable '" + (*local)->name +
                                              "' is local to a replica, which asynchronous towers cannot "
                                              "save; use SyncMultiGPU");
  }
  for (const auto& node : model.nodes()) {
    if (op_cast<ReplicaMean>(*node) == nullptr) continue;
    throw ConfigError(node->origin,
                      "statistics over all towers (sync_statistics) need synchronous towers; remove it, or "
                      "use SyncMultiGPU");
  }
}

void AsyncParallel::initialize() { variables().initialize(options_.seed); }

bool AsyncParallel::step(int64_t global_step, const Batches& batches) {
  Server& server = *server_;
  last_step_ = global_step;
  server.variables.unlock();
  {
    std::unique_lock lock(server.turn);
    if (server.batches == nullptr) {
      server.batches = &batches;
      server.first_step = global_step;
    }
    ++server.asked;
    server.changed.notify_all();
    server.changed.wait(lock, [&] { return server.done == server.asked || server.at_end || server.error; });
  }
  server.variables.lock();
  skipped_.clear();
  std::swap(skipped_, server.skipped);
  const std::lock_guard lock(server.turn);
  if (server.error) std::rethrow_exception(server.error);
  return !server.at_end;
}

/// Tower 0 waits for its turn; the others run freely after the first step.
void AsyncParallel::run_on_thread(size_t k) {
  Server& server = *server_;
  const auto may_go_on = [&] { return k == 0 ? server.done < server.asked : server.asked > 0; };
  while (true) {
    {
      std::unique_lock lock(server.turn);
      server.changed.wait(lock, [&] { return server.ending || server.error || may_go_on(); });
      if (server.ending || server.error) return;
    }
    bool goes_on = false;
    std::exception_ptr error;
    try {
      goes_on = step_of(k);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(server.turn);
    if (error && !server.error) server.error = error;
    if (k == 0 && goes_on) ++server.done;
    if (!goes_on && k == 0) server.at_end = true;
    if (k == 0 || error) server.changed.notify_all();
    if (!goes_on) return;
  }
}

bool AsyncParallel::step_of(size_t k) {
  Tower& tower = *towers_[k];
  const std::span<const Tensor> batch = (*server_->batches)(k, 0);
  tower.batch = batch;
  if (batch.empty()) return false;
  // The steps of tower 0 are those of the run, so that updates that skip some are due at the right steps; the
  // others count from the same start.
  const int64_t number = k == 0 ? last_step_ : server_->first_step + tower.steps.load();
  const RunInfo info{options_.seed, number, replica(k)};
  if (k == 0 && watch_) {
    const std::lock_guard lock(server_->variables);
    watch_(batch, info);
  }
  for (size_t i = 0; i < updates_.size(); ++i) {
    if (!updates_[i].schedule.includes(number)) continue;
    take_variables(tower);
    tower.last_backward[i] = &tower.backward[i]->run(batch, info);
    tower.has_run[i] = true;
    apply(k, i, info);
  }
  ++tower.steps;
  tower.samples += batch[0].shape()[0];
  return true;
}

void AsyncParallel::take_variables(Tower& tower) const {
  const std::lock_guard lock(server_->variables);
  for (const auto& [own, theirs] : tower.taken) own.copy_from(theirs);
}

void AsyncParallel::apply(size_t k, size_t update, const RunInfo& info) {
  Tower& tower = *towers_[k];
  const std::lock_guard lock(server_->variables);
  const auto& [theirs, own] = tower.given[update];
  if (guards_ && !is_finite(*tower.check[update], info)) {  // takes its averages from the server again
    std::vector<size_t>& skipped = server_->skipped;
    if (std::find(skipped.begin(), skipped.end(), update) == skipped.end()) skipped.push_back(update);
    return;
  }
  theirs.copy_from(own);
  for (const auto& [average, moved] : tower.moved) average.copy_from(moved);
  server_->last_update[update] = &server_->update[update]->run({}, info);
}

/// The others continue meanwhile.
std::span<const Tensor> AsyncParallel::last_batch(size_t tower) const {
  return tower == 0 ? towers_[0]->batch : std::span<const Tensor>();
}

int64_t AsyncParallel::samples() const {
  int64_t all = 0;
  for (const auto& tower : towers_) all += tower->samples.load();
  return all;
}

int64_t AsyncParallel::steps_of(size_t tower) const { return towers_[tower]->steps.load(); }

/// For tower 0, which defines the step.
void AsyncParallel::read(const FetchedStatistic& statistic) const {
  const Tower& tower = *towers_[0];
  if (!tower.has_run[statistic.update]) return;
  statistic.tally.clear();
  add_fetched(*tower.last_backward[statistic.update], statistic.number, statistic.tally);
}

const Tensor& AsyncParallel::fetched(const std::string& name) const {
  const Tower& tower = *towers_[0];
  return tower.last_backward[0]->fetched(tower.backward[0]->fetch_index(name));
}

Device& AsyncParallel::device(size_t tower) const { return *towers_[tower]->device; }
Device& AsyncParallel::device() const { return *server_->device; }

uint64_t AsyncParallel::variable_bytes() const {
  uint64_t bytes = device().variables().bytes();
  for (const auto& tower : towers_) bytes += tower->device->variables().bytes();
  return bytes;
}

std::vector<NamedExecutable> AsyncParallel::executables(size_t tower) const {
  std::vector<NamedExecutable> all;
  for (size_t i = 0; i < updates_.size(); ++i) {
    all.push_back({updates_[i].program_name("backward"), towers_[tower]->last_backward[i]});
    if (guards_) all.push_back({updates_[i].program_name("check"), &towers_[tower]->check[i]->compile({})});
    all.push_back({updates_[i].program_name("update"), server_->last_update[i]});
  }
  return all;
}

}  // namespace tpack
