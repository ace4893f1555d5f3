#pragma once

#include <vector>

#include "graph/graph.h"

namespace tpack {

/// The values of a graph that are images, [N, C, H, W]. Ops such as convolutions and poolings say which of
/// their operands are; a value of four axes that additions and the like join with an image is one, too. Four
/// axes alone make no image: the [N, heads, T, T] of attention is none. One value per channel, [1, C, 1, 1],
/// is none either.
class Images {
 public:
  explicit Images(const Graph& graph);
  bool contains(const Symbol& value) const;
  /// True where an input or output of the node is an image.
  bool touch(const Node& node) const;

 private:
  std::vector<std::vector<bool>> is_image_;  // by node id and output
};

}  // namespace tpack
