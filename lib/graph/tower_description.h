#pragma once

#include "graph/builder.h"
#include "graph/tower_function.h"

namespace tpack {

/// A tower built once: its computations, declarations and names, for all code that needs information about a
/// tower without running it (TowerFunction::description). Threads: const.
class TowerDescription {
 public:
  /// Errors: as TowerFunction::build.
  TowerDescription(const TowerFunction& tower, Builder::Options options, Signature fed);

  /// True if it was built with these options and inputs.
  bool is_for(const Builder::Options& options, const Signature& fed) const;
  const Signature& fed() const { return fed_; }
  /// The statistics are its fetches.
  const Graph& graph() const { return graph_; }
  /// In order of declaration; nothing is frozen or in a group.
  const VariableTable& variables() const { return variables_; }
  const std::vector<Statistic>& statistics() const { return built_.statistics; }
  const std::map<std::string, Symbol>& costs() const { return built_.costs; }
  const std::map<std::string, Symbol>& counted() const { return built_.counted; }
  const std::map<std::string, Symbol>& outputs() const { return built_.outputs; }
  /// The outputs in the order in which they are computed; a block comes after its last layer, whose output it
  /// has.
  std::vector<std::pair<std::string, Symbol>> outputs_in_order() const;
  const std::vector<PredictionTarget>& targets() const { return built_.targets; }

 private:
  Builder::Options options_;
  Signature fed_;
  Graph graph_;
  VariableTable variables_;
  TowerResult built_;
};

}  // namespace tpack
