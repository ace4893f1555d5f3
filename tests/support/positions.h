#pragma once

#include <memory>

#include "core/position.h"

namespace tpack {

/// A place in a file named train.yaml.
inline Position in_train_yaml(int line, int column) {
  return {std::make_shared<const std::string>("train.yaml"), line, column};
}

}  // namespace tpack
