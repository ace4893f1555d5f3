#include "dataflow/spec.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

const Spec kSpec = {{"image", {DType::kUInt8, {28, 28, 1}}, true}, {"label", {DType::kInt32, {}}}};

TEST(Spec, finds_components_by_name_and_number) {
  ComponentRef second;
  second.index = 1;
  EXPECT_EQ(kSpec.index(second, "map X"), 1U);
  EXPECT_EQ(kSpec.index("image", "map X"), 0U);
  EXPECT_FALSE(kSpec.find("weight").has_value());
}

TEST(Spec, an_unknown_component_names_the_nearest) {
  EXPECT_TRUE(fails([] { kSpec.index("lable", "map X"); }, {"map X: ", "'lable'", "did you mean 'label'?"}));
  ComponentRef third;
  third.index = 2;
  EXPECT_TRUE(fails([&] { kSpec.index(third, "map X"); }, {"map X: ", "component 2", "have 2: image uint8"}));
}

TEST(Spec, batching_puts_an_axis_in_front) {
  EXPECT_EQ(kSpec.batched(32).str(), "image uint8 [32, 28, 28, 1], label int32 [32]");
  EXPECT_EQ(kSpec.batched(Shape::kUnknown)[1].tensor.str(), "int32 [?]");
}

TEST(ComponentRef, is_read_from_a_name_or_a_number) {
  Diagnostics errors;
  const Check any;
  Reader reader("'component' of map X", any, errors);
  EXPECT_EQ(Codec<ComponentRef>::parse("label", reader)->name, "label");
  EXPECT_EQ(Codec<ComponentRef>::parse(1, reader)->index, 1);
  EXPECT_FALSE(Codec<ComponentRef>::parse(-1, reader).has_value());
  EXPECT_TRUE(fails([&] { errors.throw_if_any(); }, {"'component' of map X: ", "from 0", "-1"}));
}

}  // namespace
}  // namespace tpack
