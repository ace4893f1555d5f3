#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow computed_flow(const std::string& items) { return yaml_flow("[" + items + "]"); }

Numbers values_in(const DataFlow& flow, size_t component) {
  Numbers all;
  const auto cursor = flow.open({.pass = 2});
  for (Datapoint d; cursor->next(d);) all.push_back(d.to_tensor(component).at(0));
  return all;
}

TEST(Compute, adds_components_and_replaces_those_that_there_are) {
  const DataFlow flow = computed_flow("Counting: 4, Compute: {half: k / 2, k: k + pass, sum: k + half}");
  EXPECT_EQ(flow.spec().str(), "k int64 [], pass int64 [], half float32 [], sum float32 []");
  EXPECT_EQ(values_in(flow, 0), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(values_in(flow, 2), (Numbers{0, 0.5, 1, 1.5}));
  EXPECT_EQ(values_in(flow, 3), (Numbers{2, 3.5, 5, 6.5})) << "later expressions see earlier ones";
  EXPECT_EQ(flow.size(), 4);
  EXPECT_EQ(flow.seek(), Seek::kExact);
}

TEST(Compute, has_a_long_form) {
  EXPECT_EQ(computed_flow("Counting: 4, Compute: {components: {twice: 2 * k}}").spec().str(),
            "k int64 [], pass int64 [], twice int64 []");
  EXPECT_EQ(computed_flow("Counting: 4, Compute: {components: 2 * k}").spec().str(),
            "k int64 [], pass int64 [], components int64 []");
}

TEST(Compute, keeps_what_a_copied_component_is) {
  const TempFolder folder;
  const std::string text = "c,v\na,1\nb,2\n";
  folder.write_text("a.csv", text);
  const DataFlow flow =
      computed_flow("CSV: {file: " + folder.path("a.csv") +
                    ", columns: {v: v}, labels: {c: {column: c, classes: [a, b]}}, shuffle: false}, Compute: "
                    "{label: c, is_b: \"where(c == 'b', 1, 0)\"}");
  EXPECT_EQ(flow.spec()[2].classes, (Texts{"a", "b"}));
  EXPECT_EQ(flow.spec()[3].classes, Texts{});
  EXPECT_EQ(values_in(flow, 3), (Numbers{0, 1}));
}

TEST(Compute, works_on_images) {
  const DataFlow flow = computed_flow(
      "RenderedDigits: {size: 3}, Compute: {light: mean(image), image: image / 255}, BatchData: {batch_size: "
      "3}");
  EXPECT_EQ(flow.spec().str(), "image float32 [3, 28, 28, 1], label int32 [3], light float32 [3]");
  const DataFlow before = computed_flow("RenderedDigits: {size: 3}, BatchData: {batch_size: 3}");
  Datapoint computed;
  Datapoint pixels;
  ASSERT_TRUE(flow.open({})->next(computed));
  ASSERT_TRUE(before.open({})->next(pixels));
  double sum = 0;
  for (int64_t i = 0; i < 784; ++i) {
    EXPECT_EQ(computed.tensor(0).at(i), static_cast<float>(pixels.tensor(0).at(i) / 255));
    sum += pixels.tensor(0).at(i);
  }
  EXPECT_EQ(computed.tensor(2).at(0), static_cast<float>(sum / 784));
}

TEST(Compute, points_at_mistakes) {
  expect_errors([](const std::string& items) { yaml_flow("[Counting: 4, Compute: " + items + "]"); },
                {{"{y: 2 * kk}", {":1:32: map Compute: ", "'kk'", "did you mean 'k'?"}},
                 {"{y: k +}", {":1:31: 'y' of map Compute: ", "'k +'", "expected a value"}},
                 {"{}", {":1:24: Compute: ", "{NAME: expression}"}},
                 {"k", {":1:24: 'components' of map Compute: ", "{area: width * height}", "'k'"}},
                 {"{y: [k]}", {"expected an expression"}}});
}

TEST(Compute, names_the_sample_with_a_result_that_does_not_fit) {
  const DataFlow flow = computed_flow("Counting: 4, Compute: {y: 6 // (k - 2)}");
  EXPECT_TRUE(fails([&] { values_in(flow, 2); }, {":1:30: compute_0, sample 2 of pass 2: ",
                                                  "inf is not a number of int64", "float(...)"}));
}

TEST(Compute, makes_only_what_a_prediction_needs) {
  const auto map = Registry<Map>::make("Compute", {{"a", "x + 1"}, {"b", "label * 2"}, {"c", "a + z"}});
  EXPECT_EQ(map->narrow({"c", "y"}), (Texts{"y", "z", "x"}));
  EXPECT_EQ(map->bind({{"x", {DType::kFloat32, {}}}, {"z", {DType::kFloat32, {}}}}).str(),
            "x float32 [], z float32 [], a float32 [], c float32 []");
}

const live::Fields kCompute("map", "Compute",
                            {.base = "{components: {y: 2 * label}}",
                             .values = {{"components", "{y: 3 * label}"}}});

}  // namespace
}  // namespace tpack
