#include "train/saved_state.h"

#include "checkpoint/layout.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {

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
  return {state.count("pass", State::kMostPasses), state.count("index")};
}

State data_state(const CheckpointContent& content, const std::string& source) {
  const auto state = content.texts.find(layout::kData);
  if (state == content.texts.end())
    throw CheckpointError(
        source,
        "has no state of a training, only what predictions need; `init: {from: FILE}` starts "
        "a new run from it");
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
  const int64_t before = data.count("batch_size", State::kMostPasses);
  const auto now = flow.batching();
  if (!now || before < 1 || before == now->batch_size) return at;
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
