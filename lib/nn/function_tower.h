#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/tower_function.h"

namespace tpack::nn {

/// A tower function from a function: its inputs, and the function that builds it. Threads: const, if the
/// function may run at once.
class FunctionTower final : public TowerFunction {
 public:
  using Build = std::function<TowerResult(Builder& b, const std::map<std::string, Symbol>& in)>;

  FunctionTower(std::vector<TowerInput> inputs, Build build)
      : inputs_(std::move(inputs)), build_(std::move(build)) {}
  const std::vector<TowerInput>& inputs() const override { return inputs_; }
  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    return build_(b, in);
  }

 private:
  std::vector<TowerInput> inputs_;
  Build build_;
};

}  // namespace tpack::nn
