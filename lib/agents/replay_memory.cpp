#include "agents/replay_memory.h"

#include <algorithm>
#include <utility>

namespace tpack {
namespace {

int64_t rounded_up(int64_t size, int64_t to) { return (size + to - 1) / to * to; }

}  // namespace

ReplayMemory::ReplayMemory(int64_t size, int64_t environments, const TensorSpec& observation)
    : size_(rounded_up(size, environments)),
      environments_(environments),
      observation_(observation),
      observations_(Tensor::zeros({observation.dtype, observation.shape.prepend(size_)})),
      actions_(Tensor::zeros({DType::kInt32, {size_}})),
      rewards_(Tensor::zeros({DType::kFloat32, {size_}})),
      ends_(Tensor::zeros({DType::kUInt8, {size_}})) {}

std::span<EpisodeEnd> ReplayMemory::ends() const {
  static_assert(sizeof(EpisodeEnd) == sizeof(uint8_t));
  return {reinterpret_cast<EpisodeEnd*>(ends_.raw()), static_cast<size_t>(size_)};
}

void ReplayMemory::add(const Tensor& observations, std::span<const int32_t> actions,
                       std::span<const StepOutcome> outcomes) {
  const size_t first =
      row(added_);  // the rest follows without a break: the size is a multiple of their number
  observations_.rows(static_cast<int64_t>(first), static_cast<int64_t>(first) + environments_)
      .copy_from(observations);
  for (size_t i = 0; i < actions.size(); ++i) {
    actions_.span<int32_t>()[first + i] = actions[i];
    rewards_.span<float>()[first + i] = outcomes[i].reward;
    ends()[first + i] = outcomes[i].end;
  }
  added_ += environments_;
}

void ReplayMemory::read(int64_t step, Datapoint& out) const {
  TPACK_ASSERT(step >= begin() && step < end(), "a step that is not in the memory");
  const size_t at = row(step);
  const auto next = static_cast<int64_t>(row(step + environments_));
  out.renew(0, observation_).copy_from(observations_.row(static_cast<int64_t>(at)));
  *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = actions_.span<int32_t>()[at];
  *out.renew(2, {DType::kFloat32, {}}).data<float>() = rewards_.span<float>()[at];
  *out.renew(3, {DType::kFloat32, {}}).data<float>() = ends()[at] == EpisodeEnd::kOver ? 1.0F : 0.0F;
  out.renew(4, observation_).copy_from(observations_.row(next));
}

State ReplayMemory::save() const {
  State state;
  state.put("added", added_);
  state.put("observations", observations_.rows(0, filled()));
  state.put("actions", actions_.rows(0, filled()));
  state.put("rewards", rewards_.rows(0, filled()));
  state.put("ends", ends_.rows(0, filled()));
  return state;
}

void ReplayMemory::load(const State& state) {
  added_ = state.get<int64_t>("added");
  for (const auto& [name, own] : {std::pair("observations", &observations_),
                                  {"actions", &actions_},
                                  {"rewards", &rewards_},
                                  {"ends", &ends_}}) {
    const Tensor saved = state.get<Tensor>(name);
    const Tensor here = own->rows(0, filled());
    if (!(saved.spec() == here.spec()))
      throw CheckpointError("the memory of ExpReplay", std::string("has ") + name + " " + saved.spec().str() +
                                                           " in the checkpoint, " + here.spec().str() +
                                                           " in this run; memory_size, environment and "
                                                           "environments must be the same");
    here.copy_from(saved);
  }
}

}  // namespace tpack
