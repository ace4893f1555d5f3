#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/field.h"

namespace tpack {

/// Which part of a dataset: the training part, or the part that training never sees.
enum class Split : uint8_t { kTrain, kTest };

template <>
struct EnumNames<Split> {
  static constexpr std::array<std::pair<const char*, Split>, 2> kNames = {
      {{"train", Split::kTrain}, {"test", Split::kTest}}};
};

}  // namespace tpack
