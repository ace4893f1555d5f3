#pragma once

#include <vector>

#include "graph/graph.h"

namespace tpack {

/// The values of a graph that are images, [N, C, H, W]. Ops such as convolutions and poolings declare which
/// of their operands are images; a value with four axes that is combined with an image, for example by
/// addition, is also an image. Four axes alone are not enough: the [N, heads, T, T] of attention is not an
/// image, and neither is one value per channel, [1, C, 1, 1].
class Images {
 public:
  explicit Images(const Graph& graph);
  bool contains(const Symbol& value) const;
  /// True if an input or output of the node is an image.
  bool touch(const Node& node) const;

 private:
  std::vector<std::vector<bool>> is_image_;  // by node id and output
};

}  // namespace tpack
