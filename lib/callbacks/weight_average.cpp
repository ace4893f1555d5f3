#include "callbacks/weight_average.h"

#include <span>
#include <type_traits>

namespace tpack {
namespace {

Tensor next_mean(const Tensor& mean, const Tensor& value, double rate) {
  Tensor next = value.clone();
  visit(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<T> to = next.span<T>();
      const std::span<const T> old = mean.span<T>();
      for (size_t i = 0; i < to.size(); ++i) {
        const auto before = static_cast<double>(old[i]);
        to[i] = static_cast<T>(before + (static_cast<double>(to[i]) - before) * rate);
      }
    }
  });
  return next;
}

}  // namespace

void WeightAverage::add(const std::map<std::string, Tensor>& values, double rate) {
  ++count_;
  for (const auto& [name, value] : values) {
    const auto found = values_.find(name);
    const bool is_first = found == values_.end() || !(found->second.spec() == value.spec());
    values_[name] = is_first ? value.clone() : next_mean(found->second, value, rate);
  }
}

void WeightAverage::save(State& state) const {
  state.put("count", count_);
  for (const auto& [name, value] : values_) state.put(name, value);
}

void WeightAverage::load(const State& state) {
  count_ = state.get<int64_t>("count");
  values_ = state.tensors();
}

}  // namespace tpack
