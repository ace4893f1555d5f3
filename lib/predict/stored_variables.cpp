#include "predict/stored_variables.h"

#include <array>

#include "checkpoint/layout.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr std::array kSaved = {VariableScope::kModel, VariableScope::kOptimizer, VariableScope::kLocal};

}  // namespace

std::string entry_of(VariableScope scope, const std::string& name) {
  switch (scope) {
    case VariableScope::kModel:
      return layout::kModel + name;
    case VariableScope::kOptimizer:
      return layout::kOptimizer + (name.starts_with('@') ? name.substr(1) : name);
    default:
      return local_entry(0, name);
  }
}

std::string local_entry(int64_t replica, const std::string& name) {
  const std::string entry = layout::kLocal + name;
  return replica == 0 ? entry : layout::kReplicas + std::to_string(replica) + "/" + entry;
}

void save_variables(const VariableStore& store, CheckpointContent& content) {
  for (const VariableScope scope : kSaved) {
    for (const std::string& name : store.names(scope))
      content.tensors[entry_of(scope, name)] = store.value(name);
  }
}

namespace {

/// Errors: CheckpointError if the file has variables that are neither in the store nor in `others`, because
/// they would be lost.
void reject_lost_variables(const CheckpointContent& content, const std::string& source,
                           const VariableStore& store, const std::set<std::string>& others) {
  std::set<std::string> known = others;
  for (const VariableScope scope : kSaved)
    for (const std::string& name : store.names(scope)) known.insert(entry_of(scope, name));
  std::vector<std::string> lost;
  for (const auto& [entry, value] : content.tensors) {
    const bool is_variable = entry.starts_with(layout::kModel) || entry.starts_with(layout::kOptimizer) ||
                             entry.starts_with(layout::kLocal);
    if (is_variable && !known.contains(entry)) lost.push_back(entry);
  }
  if (lost.empty()) return;
  throw CheckpointError(
      source, "has " + join_first(lost) +
                  ", which this run does not have; to resume, use the same model, and updates that train the "
                  "same variables; to start a new run with the matching weights, use `init`");
}

}  // namespace

void load_variables(const CheckpointContent& content, const std::string& source, VariableStore& store,
                    const std::set<std::string>& others) {
  reject_lost_variables(content, source, store, others);
  for (const VariableScope scope : kSaved) {
    for (const std::string& name : store.names(scope)) {
      const std::string entry = entry_of(scope, name);
      const auto found = content.tensors.find(entry);
      if (found == content.tensors.end())
        throw CheckpointError(source, "has no " + entry +
                                          "; to resume, use the same model, and updates that train the same "
                                          "variables; to start with its weights, use `init`");
      const TensorSpec here = store.spec(name);
      if (!(found->second.spec() == here)) {
        throw CheckpointError(
            source, entry + " is " + found->second.spec().str() + ", but the model needs " + here.str() +
                        "; to resume, use the same model; to load parts of another model, use `init`");
      }
      store.set(name, found->second);
    }
  }
}

}  // namespace tpack
