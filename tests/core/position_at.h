#pragma once

#include <memory>
#include <string>

#include "core/position.h"

namespace tpack {

/// A place in a file "a.yaml".
inline Position at(int line, int column) {
  return {std::make_shared<const std::string>("a.yaml"), line, column};
}

}  // namespace tpack
