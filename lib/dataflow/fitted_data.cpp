#include "dataflow/fitted_data.h"

#include "core/text.h"
#include "dataflow/source.h"

namespace tpack {

std::optional<FittedComponent> FittedData::find(const std::string& source,
                                                const std::string& component) const {
  const FittedComponent* only = nullptr;
  bool is_only = true;
  for (const FittedComponent& one : components_) {
    if (one.component != component) continue;
    if (one.source == source) return one;
    is_only = only == nullptr;
    only = &one;
  }
  return only != nullptr && is_only ? std::optional(*only) : std::nullopt;
}

const State& FittedData::map(const std::string& name) const {
  const auto found = maps_.find(name);
  if (found != maps_.end()) return found->second;
  // It may be inside a JoinData in only one of the flows.
  const State* only = nullptr;
  int count = 0;
  std::vector<std::string> known;
  for (const auto& [other, state] : maps_) {
    known.push_back(other);
    if (without_joins(other) != without_joins(name)) continue;
    only = &state;
    ++count;
  }
  if (count == 1) return *only;
  throw ConfigError("this flow uses the fitted maps of data.train, which has no map '" + name + "' (" +
                    (known.empty() ? "it has none" : "it has " + join(known, ", ")) +
                    "); give both flows the same fitted maps");
}

std::string fitted_name(const std::string& stage, const std::string& component,
                        const std::map<std::string, State>& known) {
  const std::string first = stage.substr(0, stage.rfind('_')) + " " + component;
  std::string name = first;
  for (int number = 2; known.contains(name); ++number) name = first + " " + std::to_string(number);
  return name;
}

std::string without_joins(const std::string& fitted_name) {
  return fitted_name.substr(fitted_name.rfind('/') + 1);
}

FittedData fitted_data(const DataFlow& flow) {
  std::vector<FittedComponent> all;
  for (const Source* source : flow.flow()->sources()) {
    std::vector<FittedComponent> some = source->part<LearnedValues>().fitted();
    all.insert(all.end(), some.begin(), some.end());
  }
  return FittedData(std::move(all), flow.flow()->learned());
}

FittedData Fit::declared() const {
  const std::lock_guard lock(mutex_);
  if (known_) return *known_;
  return train_->knows_spec() ? fitted_data(*train_) : FittedData();
}

FittedData Fit::opened() {
  const std::lock_guard lock(mutex_);
  if (!known_) {
    train_->prepare();
    known_ = fitted_data(*train_);
  }
  return *known_;
}

}  // namespace tpack
