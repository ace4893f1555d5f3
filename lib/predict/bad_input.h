#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/tower_function.h"
#include "predict/class_counts.h"

namespace tpack {

struct BadInput {
  std::string what;  // "input 'x' (a.yaml:12:5) has nan at [3, 0]"
  std::string fix;
};

/// Finds the reason of a NaN cost in the inputs of a tower: a value that is NaN or infinite, a number that is
/// too large for the model, a binary label that is not from 0 to 1, soft labels that do not add up to 1, or,
/// for a cost that compares samples of a class, labels without two samples of one class.
class BadInputFinder {
 public:
  /// `flow`: the name of its flow in `data`. The tower must outlive it.
  BadInputFinder(const TowerFunction& tower, std::string flow) : tower_(tower), flow_(std::move(flow)) {}

  /// The first one in a batch; nothing if there is none. `where`: which batch it is, for the message.
  std::optional<BadInput> find(std::span<const Tensor> batch, const std::string& where);
  /// True if the tower takes anything by a number that it is fed.
  bool has_choices();

 private:
  /// Finds what the costs and layers expect of each input.
  void look_at_model();
  std::optional<BadInput> look_at(size_t input, const Tensor& values, const std::string& where);

  const TowerFunction& tower_;
  std::string flow_;
  bool has_looked_ = false;
  std::vector<NumberedChoice> choices_;
  std::vector<size_t> probabilities_;  // inputs from 0 to 1
  std::vector<size_t> distributions_;  // those of them whose rows add up to 1
  std::vector<size_t> compared_;       // labels of which batches need several of one class, and others
};

}  // namespace tpack
