#include "train/run.h"

#include <algorithm>
#include <span>

#include "core/error.h"

namespace tpack {

Run::Run(Trainer& trainer, Monitors& monitors, RunLength length, std::string folder,
         const std::map<std::string, DataFlow>& flows, uint64_t seed, bool is_chief)
    : trainer_(trainer),
      monitors_(monitors),
      length_(length),
      folder_(std::move(folder)),
      flows_(flows),
      seed_(seed),
      is_chief_(is_chief),
      epoch_(length.starting_epoch - 1) {}

std::map<std::string, Tensor> Run::variables(VariableScope scope) {
  std::map<std::string, Tensor> all;
  VariableStore* store = trainer_.variables();
  if (store == nullptr) return all;
  for (const std::string& name : store->names(scope)) all.emplace(name, store->value(name));
  return all;
}

const DataFlow& Run::flow(const Ref<FlowName>& name) const {
  const auto found = flows_.find(name.name);
  if (found != flows_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [flow_name, flow] : flows_) known.push_back(flow_name);
  throw unknown_reference("flow", name.name, name.position, known);
}

void Run::require_hyper_parameter(const std::string& name) const {
  if (hyper_parameters_.empty()) hyper_parameters_ = trainer_.hyper_parameters();
  if (std::find(hyper_parameters_.begin(), hyper_parameters_.end(), name) == hyper_parameters_.end())
    throw unknown_reference("hyper-parameter", name, {}, hyper_parameters_);
}

double Run::hyper_parameter(const std::string& name) const {
  require_hyper_parameter(name);
  return trainer_.hyper_parameter(name);
}

void Run::set_hyper_parameter(const std::string& name, double value) {
  require_hyper_parameter(name);
  trainer_.set_hyper_parameter(name, value);
}

double Run::of_chief(double value) const {
  if (world_ == nullptr || world_->size() == 1) return value;
  world_->busy_with("");  // it is there for the others
  world_->broadcast(std::as_writable_bytes(std::span(&value, 1)), 0, "value of a callback");
  return value;
}

std::vector<std::string> Run::of_all_ranks(const std::string& own) const {
  if (ranks() == 1) return {own};
  world_->busy_with("");  // it is there for the others
  return world_->all_gather(own, "results of a callback");
}

void Run::request_checkpoint(CheckpointRequest request) {
  if (change_ && !request.change) {
    TPACK_ASSERT(request.purpose != CheckpointRequest::Purpose::kResume,
                 "a checkpoint to resume from has the state of the run as it is");
    request.change = change_;
  }
  requests_.push_back(std::move(request));
}

void Run::with_change(const std::function<void(CheckpointContent&)>& change,
                      const std::function<void()>& act) {
  change_ = change;
  try {
    act();
  } catch (...) {
    change_ = nullptr;
    throw;
  }
  change_ = nullptr;
}

void Run::while_busy(const std::string& what, const std::function<void()>& act) const {
  if (world_ == nullptr) return act();
  const BusyWith busy(*world_, what);
  act();
}

void Run::set_variable(const std::string& name, const Tensor& value) {
  trainer_.variables()->set(name, value);
}

std::vector<TowerPlace> Run::tower_places() {
  tower_place();
  return trainer_.tower_places();
}

TowerPlace Run::tower_place() {
  const auto place = trainer_.tower_place();
  if (!place) throw ConfigError("this trainer has no model to run on other data");
  return *place;
}

}  // namespace tpack
