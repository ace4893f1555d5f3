#include "dataflow/source.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TEST(RandomAccessSource, a_shuffled_pass_has_each_sample_once) {
  const DataFlow flow = make_flow(list({item("Counting", {{"size", 50}, {"shuffle", true}})}));
  auto order = first_component(flow, {.seed = 1});
  EXPECT_NE(order, first_component(flow, {.seed = 1, .pass = 1}));
  EXPECT_NE(order, first_component(flow, {.seed = 2}));
  EXPECT_EQ(order, first_component(flow, {.seed = 1}));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RandomAccessSource, the_id_of_a_sample_is_its_index_in_the_source) {
  const DataFlow flow = make_flow(list({item("Counting", {{"size", 50}, {"shuffle", true}})}));
  const auto cursor = flow.open({.seed = 1, .pass = 3});
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.id(), (SampleId{3, *d.tensor(0).data<int64_t>(), 0}));
  }
}

TEST(SequentialSource, numbers_its_samples) {
  const DataFlow flow = make_flow(list({item("CountingInOrder", 5)}));
  const auto cursor = flow.open({.pass = 2, .position = 3});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.id(), (SampleId{2, 3, 0}));
}

TEST(Source, errors_of_its_data_say_where_the_config_names_it) {
  const TempFolder folder;
  folder.write("empty.csv", {});
  const auto error = [&](const std::string& item) {
    const DataFlow flow = make_flow(parse_yaml("\n[" + item + "]", folder.path("train.yaml")));
    return error_of([&] { flow.prepare(); });
  };
  const std::string yaml = folder.path("train.yaml");
  EXPECT_EQ(error("CSV: {file: empty.csv, columns: {x: [a]}}"),
            yaml + ":2:2: " + folder.path("empty.csv") + ": is empty");
  EXPECT_EQ(error("CSV: {file: none.csv, columns: {x: [a]}}"),
            yaml + ":2:14: CSV: no such file '" + folder.path("none.csv") + "'");
  EXPECT_EQ(error("Npz: none.npz"), yaml + ":2:7: Npz: no such file '" + folder.path("none.npz") + "'");
}

}  // namespace
}  // namespace tpack
