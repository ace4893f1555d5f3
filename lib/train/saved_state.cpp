#include "train/saved_state.h"

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

/// Errors: CheckpointError if the file has variables that the store does not have, and that `others` does not
/// name: they would be lost.
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

void save_state(const State& state, const std::string& entry, const std::string& arrays,
                CheckpointContent& content) {
  content.texts[entry] = state.to_json();
  for (const auto& [name, tensor] : state.tensors()) content.tensors[arrays + name] = tensor;
}

std::optional<State> load_state(const CheckpointContent& content, const std::string& source,
                                const std::string& entry, const std::string& arrays) {
  const auto text = content.texts.find(entry);
  if (text == content.texts.end()) return std::nullopt;
  State state = State::from_json(text->second, source);
  for (auto at = content.tensors.lower_bound(arrays);
       at != content.tensors.end() && at->first.starts_with(arrays); ++at)
    state.put(at->first.substr(arrays.size()), at->second);
  return state;
}

void save_position(const DataPosition& position, State& state) {
  state.put("pass", position.pass);
  state.put("index", position.index);
}

DataPosition load_position(const State& state) {
  return {state.get<int64_t>("pass"), state.get<int64_t>("index")};
}

State data_state(const CheckpointContent& content, const std::string& source) {
  const auto state = content.texts.find(layout::kData);
  if (state == content.texts.end()) throw CheckpointError(source, "has no position in the data");
  return State::from_json(state->second, source);
}

void require_same(const State& data, const std::string& source, const std::string& name, int64_t here) {
  const auto there = data.get<int64_t>(name);
  if (there == here) return;
  throw CheckpointError(source,
                        "was made with " + name + " " + std::to_string(there) + ", this run has " +
                            std::to_string(here) +
                            "; resume with the same value, or start a new run with these weights (init)");
}

void require_batch_size(const CheckpointContent& content, const std::string& source, const State& data,
                        int64_t here) {
  const auto there = data.get<int64_t>("batch_size");
  if (there == here) return;
  const auto text = content.texts.find(layout::kRun);
  if (text == content.texts.end()) return require_same(data, source, "batch_size", here);
  const State run = State::from_json(text->second, source);
  if (run.get<int64_t>("epoch_done") != 0) return;
  const std::string epoch = std::to_string(run.get<int64_t>("epoch"));
  throw CheckpointError(
      source, "was made with batch_size " + std::to_string(there) + " in the middle of epoch " + epoch +
                  ", this run has " + std::to_string(here) +
                  "; the batch size can change at the end of an epoch: finish epoch " + epoch +
                  " with batch_size " + std::to_string(there) + " first (--until-epoch " + epoch +
                  "), or resume from a checkpoint of the end of an epoch");
}

DataPosition position_for(const State& data, const DataFlow& flow) {
  DataPosition at = load_position(data);
  const auto before = data.get<int64_t>("batch_size");
  const auto now = flow.batching();
  if (!now || before == now->batch_size) return at;
  if (now->samples && *now->samples != kEndless) {
    const int64_t batches = (*now->samples + (now->keeps_remainder ? before - 1 : 0)) / before;
    if (batches > 0 && at.index >= batches) return {at.pass + 1, 0};
  }
  at.index = at.index * before / now->batch_size;
  return at;
}

void require_seek(const State& data, const std::string& source, const DataFlow& flow) {
  const DataPosition place = load_position(data);
  if (flow.seek() == Seek::kNone && place.pass + place.index > 0)
    throw CheckpointError(source,
                          "cannot be resumed: data.train cannot continue from a position (seek: none)");
}

}  // namespace tpack
