#include "dataflow/source.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RandomAccessSource, a_shuffled_pass_has_each_sample_once) {
  const DataFlow flow = yaml_flow("[Counting: {size: 50, shuffle: true}]");
  auto order = first_component(flow, {.seed = 1});
  EXPECT_NE(order, first_component(flow, {.seed = 1, .pass = 1}));
  EXPECT_NE(order, first_component(flow, {.seed = 2}));
  EXPECT_EQ(order, first_component(flow, {.seed = 1}));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RandomAccessSource, the_id_of_a_sample_is_its_index_in_the_source) {
  const DataFlow flow = yaml_flow("[Counting: {size: 50, shuffle: true}]");
  const auto cursor = flow.open({.seed = 1, .pass = 3});
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.id(), (SampleId{3, *d.tensor(0).data<int64_t>(), 0}));
  }
}

TEST(SequentialSource, numbers_its_samples) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 5]");
  Datapoint d = first_sample(flow, {.pass = 2, .position = 3});
  EXPECT_EQ(d.id(), (SampleId{2, 3, 0}));
}

TEST(Source, errors_of_its_data_say_where_the_config_names_it) {
  const TempFolder folder;
  folder.write("empty.csv", {});
  const std::string yaml = folder.path("flow.yaml");
  expect_errors(
      [&](const std::string& item) { folder.flow("\n[" + item + "]").prepare(); },
      {{"CSV: {file: empty.csv, columns: {x: [a]}}",
        {yaml + ":2:2: " + folder.path("empty.csv") + ": is empty"}},
       {"CSV: {file: none.csv, columns: {x: [a]}}", {yaml + ":2:14: CSV: ", folder.path("none.csv")}},
       {"Npz: none.npz", {yaml + ":2:7: Npz: ", folder.path("none.npz")}}});
}

}  // namespace
}  // namespace tpack
