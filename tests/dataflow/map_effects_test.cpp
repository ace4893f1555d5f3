#include "dataflow/map_effects.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::HasSubstr;

constexpr const char* kImages =
    "FakeData: {shapes: [[8, 8, 3]], dtype: [uint8], names: [image], size: 6, domain: [0, 255]}";

DataFlow flow_with(const std::string& maps) {
  DataFlow flow = yaml_flow("[" + std::string(kImages) + maps + ", BatchData: {batch_size: 2}]");
  flow.prepare();
  return flow;
}

TEST(MapEffects, tell_which_map_draws) {
  EXPECT_EQ(random_map(flow_with("")), std::nullopt);
  EXPECT_EQ(random_map(flow_with(", AugmentImageComponent: [Resize: 4, CenterCrop: 2]")), std::nullopt);
  for (const char* drawing :
       {"Flip", "{GaussianNoise: 9}", "{RandomCrop: 4}", "{RandomErasing: {prob: 0.2}}"})
    EXPECT_THAT(
        random_map(
            flow_with(
                std::string(", MapData: {component: image, map: {Cast: uint8}}, AugmentImageComponent: [") +
                drawing + "]"))
            .value_or("none"),
        testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr(": augment_image_component_0")))
        << drawing;
}

TEST(MapEffects, tell_numbers_of_another_size) {
  const std::string scaled =
      ", AugmentImageComponent: [Resize: 4, Flip], MapData: {component: image, map: {Scale: {scale: "
      "0.0039215686}}}";
  const std::string cast =
      ", AugmentImageComponent: [CenterCrop: 4], MapData: {component: image, map: {Cast: float32}}";
  const std::string difference = other_scale(flow_with(scaled), flow_with(cast)).value_or("none");
  EXPECT_THAT(difference, HasSubstr("its maps make 'image' "));
  EXPECT_THAT(difference, HasSubstr(", but the maps of data.train make it 0"));
  EXPECT_EQ(other_scale(flow_with(scaled), flow_with(scaled)), std::nullopt);
  EXPECT_EQ(
      other_scale(
          flow_with(cast),
          flow_with(
              ", AugmentImageComponent: [Resize: 6], MapData: {component: image, map: {Cast: float32}}")),
      std::nullopt)
      << "crops and sizes change little";
  EXPECT_TRUE(other_scale(flow_with(cast), flow_with(", AugmentImageComponent: [CenterCrop: 4], MapData: "
                                                     "{component: image, map: {Scale: {offset: -1000}}}"))
                  .has_value());
}

}  // namespace
}  // namespace tpack
