#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/layer.h"

namespace tpack {

/// A list of layers that can be called several times with the same variables, which are below its name. It
/// only sees its own inputs and layers, not those of its callers.
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

/// Adds the place of use to errors of a block or network. An error of several uses is reported for the first
/// one.
class BlockNotes {
 public:
  /// `uses`: outermost first; none: the error is outside of blocks and is added unchanged. Problems without a
  /// position get `fallback`.
  void add(const ConfigError& error, const std::vector<BlockUse>& uses, const Position& fallback,
           Diagnostics& errors);

 private:
  std::set<std::string> seen_;
};

}  // namespace tpack
