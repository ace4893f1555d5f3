#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"

namespace tpack {

/// What a source of the training data fixes for one component of all data of the model.
struct FittedComponent {
  std::string source;  // StageContext::name of the source
  std::string component;
  std::vector<std::string> columns = {};  // names of the columns that it is read from, in order
  std::vector<std::string> classes = {};  // names of the classes, in the order of their labels
  std::string learned = {};               // what else the source learned of it: State::to_json; or nothing

  bool operator==(const FittedComponent&) const = default;
};

/// All that is learned from the training data besides the weights. A checkpoint keeps it. A value.
class FittedData {
 public:
  FittedData() = default;
  explicit FittedData(std::vector<FittedComponent> components, std::map<std::string, State> maps = {})
      : components_(std::move(components)), maps_(std::move(maps)) {}

  const std::vector<FittedComponent>& components() const { return components_; }
  /// That of the same source, or the only one of that component; nothing if there is none.
  std::optional<FittedComponent> find(const std::string& source, const std::string& component) const;
  /// What maps learned, by fitted_name.
  const std::map<std::string, State>& maps() const { return maps_; }
  /// That of this name, or the only one of the name inside or outside of a JoinData. Errors: ConfigError if
  /// there is none.
  const State& map(const std::string& name) const;

 private:
  std::vector<FittedComponent> components_;
  std::map<std::string, State> maps_;
};

/// Under which name a map's fit is kept: its type and its component, "standardize x", and a number for a
/// second one. `stage`: StageContext::name; `known`: those of the maps before it.
std::string fitted_name(const std::string& stage, const std::string& component,
                        const std::map<std::string, State>& known);

/// The same without the JoinData that the map is inside of: "standardize x" of "join_data_0/1/standardize x".
std::string without_joins(const std::string& fitted_name);

/// What the sources and maps of a flow fix, as far as it is known: all of it once the flow is prepared.
FittedData fitted_data(const DataFlow& flow);

/// Where sources of other flows find what data.train fixes: it was stored with the model, or data.train
/// tells. Threads: any number at once.
class Fit {
 public:
  explicit Fit(FittedData stored) : known_(std::move(stored)) {}
  explicit Fit(DataFlow train) : train_(std::move(train)) {}

  /// What is known before data.train is opened.
  FittedData declared() const;
  /// Opens data.train if need be. Errors: those of DataFlow::prepare.
  FittedData opened();

 private:
  mutable std::mutex mutex_;
  std::optional<FittedData> known_;
  std::optional<DataFlow> train_;
};

}  // namespace tpack
