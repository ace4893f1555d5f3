#include "data_tools/size_changes.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

void expect_kept(const std::string& flow, const std::string& kept) {
  const ConfigNode left = without_size_changes(parse_yaml(flow, "flow.yaml"));
  EXPECT_TRUE(left.same_value(parse_yaml(kept, "kept.yaml"))) << to_yaml(left);
}

TEST(SizeChanges, are_crops_resizes_and_pastes) {
  expect_kept(
      "[ImageFolder: a, AugmentImageComponent: [RandomCrop: 64, Flip, Resize: [20, 30]], BatchData: 2]",
      "[ImageFolder: a, AugmentImageComponent: [Flip], BatchData: 2]");
  expect_kept(
      "[ImageFolder: a, AugmentImageComponents: {augmentors: [ResizeShortestEdge: 40, CenterPaste: 50, "
      "ColorSpace: hsv], components: [image, target]}]",
      "[ImageFolder: a, AugmentImageComponents: {augmentors: [ColorSpace: hsv], components: [image, "
      "target]}]");
}

/// A crop may be larger than any picture; a map may have nothing left.
TEST(SizeChanges, may_be_all_of_a_map) {
  expect_kept("[ImageFolder: a, AugmentImageComponent: [RandomCrop: 9000], Compute: {b: image}]",
              "[ImageFolder: a, Compute: {b: image}]");
}

}  // namespace
}  // namespace tpack
