#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/program.h"
#include "graph/tower_function.h"
#include "optim/update.h"

namespace tpack {

/// Whether a program has the tower's own assignments: the moving averages.
enum class Averages : uint8_t { kMove, kStay };

/// The fetch of a batch's weight.
inline constexpr const char* kBatchWeight = "@weight";

/// The computation of a training step: a tower and the updates that train it, in order.
class TrainingGraphs {
 public:
  /// Both must outlive it. The updates have different names.
  TrainingGraphs(const TowerFunction& tower, std::span<const Update> updates);

  /// The first program of an update: forward, and the gradient of its cost into its group's gradient block.
  /// It fetches the statistics of the update's cost; that of the first update also fetches metrics, costs
  /// that no update minimizes, and the outputs named in `fetches`. If batches are weighed (weigh_batches),
  /// the gradient is that of the cost times the batch's weight, which is fetched as kBatchWeight. A variable
  /// that is not trained but assigned by the tower (a moving average) is assigned in the program of the
  /// update that trains the variables nearest to it in the tree of names, so once per step; if those are
  /// frozen, it does not change. Errors: ConfigError if the cost is missing or depends on no variable of the
  /// update.
  Graph backward(size_t update, VariableTable& table, const Signature& fed, DType float_type,
                 const std::vector<std::string>& fetches = {}, Averages averages = Averages::kMove) const;
  /// The second program: the optimizer's update of the group from its gradient block times `scale`.
  Graph update(size_t update, VariableTable& table, DType float_type, double scale) const;

  /// Fetches the largest absolute value of the gradient block: NaN or infinite if the gradient is not finite.
  Graph largest_gradient(size_t update, VariableTable& table, DType float_type) const;

  /// Declares every variable of training in `table` by building all programs once for a signature, and sets
  /// its groups, and closes it. `samples`: number in a step on all replicas together, for learning rates that
  /// depend on it. Call it before the device makes its variables. Errors: ConfigError for variables that two
  /// updates train, and for patterns that select none.
  void declare(VariableTable& table, const Signature& fed, DType float_type, double samples = 1);

  /// For steps of several batches: each gradient is multiplied by the weight of its batch, so that the sum of
  /// the gradients, divided by the sum of the weights, is the gradient of one large batch. The weight is the
  /// number of losses that count, 1 for a full batch (`nominal` samples) where all do.
  void weigh_batches(int64_t nominal) { nominal_ = nominal; }

  /// For steps of several batches: from now on the first program adds to the gradient block.
  void add_to_gradients() { adds_ = true; }

  /// Variables that the first program of an update assigns besides gradients: moving averages, and local
  /// variables. After declare.
  std::vector<std::string> moved_in(size_t update, const VariableTable& table) const;
  /// The update whose program fetches this statistic.
  size_t update_of(const Statistic& statistic) const;

 private:
  bool trains_all() const { return updates_.size() == 1 && updates_[0].selects_all(); }
  bool moves_in(size_t update, const std::string& variable, const VariableTable& table) const;
  ParameterGroup trained_by(size_t update, const VariableTable& table, const Graph& graph) const;
  void require_same_variables(size_t index, const std::vector<const VariableSpec*>& trained) const;
  void check_patterns(const VariableTable& table) const;

  const TowerFunction& tower_;
  std::span<const Update> updates_;
  const ParameterGroup& group_of(size_t update, std::span<const ParameterGroup> groups) const;
  Symbol weight_of(Builder& b, size_t update, const TowerResult& result, const Signature& fed) const;

  double samples_ = 1;                          // of a step
  bool adds_ = false;                           // backward adds to the gradients
  std::optional<int64_t> nominal_;              // samples of a full batch; empty: batches are not weighed
  std::vector<std::set<std::string>> trained_;  // by update, found by `declare`
};

}  // namespace tpack
