#include "parallel/replicas.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "graph/tower_description.h"
#include "parallel/tower_threads.h"
#include "system/log.h"
#include "system/machine.h"

namespace tpack {

Replicas::Replicas(const TowerFunction& tower, std::vector<Update> updates, Plan& plan,
                   ReplicaOptions options)
    : function_(tower),
      updates_(std::move(updates)),
      graphs_(tower, updates_),
      plan_(plan),
      options_(std::move(options)) {}

std::unique_ptr<Program> Replicas::backward_program(size_t update, Device& device, Averages averages,
                                                    const std::shared_ptr<std::mutex>& compiling) {
  const auto make = [this, update, type = device.float_type(), averages](const Signature& fed) {
    return graphs_.backward(update, table_, fed, type, options_.fetches, averages);
  };
  const char* const name = averages == Averages::kStay ? "backward of a worker" : "backward";
  return std::make_unique<Program>(updates_[update].program_name(name), device, plan_, make, compiling);
}

std::unique_ptr<Program> Replicas::update_program(size_t update, Device& device,
                                                  const std::shared_ptr<std::mutex>& compiling,
                                                  size_t devices) {
  const auto make = [this, update, type = device.float_type()](const Signature& /*none*/) {
    return graphs_.update(update, table_, type, gradient_scale());
  };
  return std::make_unique<Program>(updates_[update].program_name("update"), device, plan_, make, compiling,
                                   devices);
}

std::unique_ptr<Program> Replicas::check_program(size_t update, Device& device,
                                                 const std::shared_ptr<std::mutex>& compiling,
                                                 size_t devices) {
  const auto make = [this, update, type = device.float_type()](const Signature& /*none*/) {
    return graphs_.largest_gradient(update, table_, type);
  };
  return std::make_unique<Program>(updates_[update].program_name("check"), device, plan_, make, compiling,
                                   devices);
}

bool Replicas::is_finite(Program& check, const RunInfo& info) {
  return std::isfinite(check.run({}, info).fetched(0).at(0));
}

std::vector<std::vector<int>> Replicas::processors_of_towers() const {
  std::vector<std::vector<int>> processors(options_.towers);
  if (options_.towers == 1) return processors;
  const auto parts = divide_processors(allowed_cpus(), options_.towers);
  for (size_t k = 0; k < options_.towers; ++k)
    processors[k] = parts.at(options_.processor_parts.empty() ? k : options_.processor_parts.at(k));
  return processors;
}

int64_t Replicas::replicas() const {
  return static_cast<int64_t>(options_.towers) * (has_processes() ? options_.world->size() : 1);
}

int64_t Replicas::replica(size_t tower) const {
  const int64_t process = has_processes() ? options_.world->rank() : 0;
  return process * static_cast<int64_t>(options_.towers) + static_cast<int64_t>(tower);
}

std::vector<std::string> Replicas::declare(const Signature& signature) {
  const DType type = device().float_type();
  const bool batched = function_.inputs().front().batched;
  const auto samples = static_cast<double>((batched ? signature.front().shape[0] : 1) * batches_of_step());
  graphs_.declare(table_, signature, type, samples);
  reject_nested_names();
  std::vector<std::string> names;
  std::vector<size_t> fetched(updates_.size(), 0);  // so far, by update
  statistics_.clear();
  const TowerDescription& tower = function_.description({Phase::kTraining, type}, signature);
  counts_differ_ = !tower.counted().empty();
  for (const Statistic& statistic : tower.statistics()) {
    names.push_back(statistic.name);
    const size_t update = graphs_.update_of(statistic);
    statistics_.push_back({update, fetched[update]++, Tally(statistic), statistic.known_goal()});
  }
  check(tower.graph());
  return names;
}

/// A checkpoint stores variables by path, so a variable cannot have the name of a folder of other variables.
void Replicas::reject_nested_names() const {
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

void Replicas::create_variables(Device& device, const std::function<void()>& make) const {
  try {
    if (make) return make();
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

void Replicas::warn_of_a_foreign_plan(const Signature& signature) const {
  if (plan_.sections.empty()) return;
  const std::string section = section_name(updates_[0].program_name("backward"), signature);
  if (!plan_.sections.contains(section)) {
    log::warning("the plan has no section '" + section +
                 "', so it is planned again; was the plan made for another batch size or model?");
  }
  const std::string& here = device().hardware();
  if (plan_.hardware.empty() || here.empty() || plan_.hardware == here) return;
  log::warning("the plan was made on other hardware (" + plan_.hardware + ", this is " + here +
               "): results may differ in the last bits");
}

const Tally& Replicas::statistic(size_t index) const {
  read(statistics_[index]);
  return statistics_[index].tally;
}

void Replicas::set_statistic(size_t index, const std::vector<double>& parts) {
  statistics_[index].tally.set_parts(parts);
}

}  // namespace tpack
