#include "callbacks/numerics.h"

#include "tensor/finite.h"

namespace tpack {
namespace {

/// "variable fc/W", "optimizer slot momentum of variable fc/W", "variable learning_rate of the optimizer".
std::string called(const std::string& name, VariableScope scope) {
  const size_t slash = name.find('/');
  if (name.starts_with('@') && slash != std::string::npos)
    return "optimizer slot " + name.substr(1, slash - 1) + " of variable " + name.substr(slash + 1);
  return "variable " + name + (scope == VariableScope::kOptimizer ? " of the optimizer" : "");
}

}  // namespace

std::string bad_variable(Run& run) {
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const auto& [name, value] : run.variables(scope)) {
      const std::string bad = bad_element(value);
      if (!bad.empty()) return called(name, scope) + " has " + bad;
    }
  }
  return "";
}

void check_variables(Run& run) {
  const std::string bad = bad_variable(run);
  if (!bad.empty()) diverged(run, bad);
}

void diverged(const Run& run, const std::string& what, const std::string& fix) {
  throw Diverged("after global_step " + std::to_string(run.global_step()) + " " + what + "; " + fix);
}

}  // namespace tpack
