#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"

namespace tpack {

/// Values of one component, learned by a source of the training data, for all data of the model.
struct FittedComponent {
  std::string source;  // StageContext::name of the source
  std::string component;
  std::vector<std::string> columns = {};  // names of its columns, in order
  std::vector<std::string> classes = {};  // names of the classes, in the order of their labels
  std::string learned = {};               // other learned values of the source: State::to_json; or nothing

  bool operator==(const FittedComponent&) const = default;
};

/// Everything learned from the training data besides the weights. Stored in checkpoints. A value.
class FittedData {
 public:
  FittedData() = default;
  explicit FittedData(std::vector<FittedComponent> components, std::map<std::string, State> maps = {})
      : components_(std::move(components)), maps_(std::move(maps)) {}

  const std::vector<FittedComponent>& components() const { return components_; }
  /// The values of the same source, or the only ones for that component; nothing if there are none.
  std::optional<FittedComponent> find(const std::string& source, const std::string& component) const;
  /// Learned values of maps, by fitted_name.
  const std::map<std::string, State>& maps() const { return maps_; }
  /// The values with this name, or the only ones with the name inside or outside of a JoinData. Errors:
  /// ConfigError if there are none.
  const State& map(const std::string& name) const;

 private:
  std::vector<FittedComponent> components_;
  std::map<std::string, State> maps_;
};

/// The name of a map's learned values: its type and its component, "standardize x", and a number for a second
/// one. `stage`: StageContext::name; `known`: those of the maps before it.
std::string fitted_name(const std::string& stage, const std::string& component,
                        const std::map<std::string, State>& known);

/// The same without the surrounding JoinData: "standardize x" of "join_data_0/1/standardize x".
std::string without_joins(const std::string& fitted_name);

/// The learned values of the sources and maps of a flow, as far as they are known: all of them after the flow
/// is prepared.
FittedData fitted_data(const DataFlow& flow);

/// Gives sources of other flows the learned values of data.train: stored with the model, or from data.train
/// itself. Threads: any number at once.
class Fit {
 public:
  explicit Fit(FittedData stored) : known_(std::move(stored)) {}
  explicit Fit(DataFlow train) : train_(std::move(train)) {}

  /// The values known before data.train is opened.
  FittedData declared() const;
  /// Opens data.train if necessary. Errors: those of DataFlow::prepare.
  FittedData opened();

 private:
  mutable std::mutex mutex_;
  std::optional<FittedData> known_;
  std::optional<DataFlow> train_;
};

}  // namespace tpack
