#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/layer.h"

namespace tpack {

/// A list of layers that can be called several times with the same variables, which are below its name. It
/// sees its own inputs and layers, and nothing of the places where it is called.
struct Network {
  std::string name;
  std::vector<std::string> inputs;  // {"input"} if it does not name them
  ParsedList layers;
};

/// A place where a block is used as a layer, or a network is called.
struct BlockUse {
  std::string name;  // "block residual", "network generator"
  Position position;
};

/// Says in errors of a block or network where it is used. One that several uses have is reported for the
/// first.
class BlockNotes {
 public:
  /// `uses`: outermost first; none: the error is outside of blocks and is added as it is. Problems without a
  /// position get `fallback`.
  void add(const ConfigError& error, const std::vector<BlockUse>& uses, const Position& fallback,
           Diagnostics& errors);

 private:
  std::set<std::string> seen_;
};

}  // namespace tpack
