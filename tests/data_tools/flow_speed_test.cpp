#include "data_tools/flow_speed.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "infer/pictures.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFakeFlow =
    "- FakeData: {shapes: [[8]], names: [x], size: 64}\n"
    "- MapData: {component: x, map: {Scale: {scale: 2}}}\n"
    "- LocallyShuffleData: 8\n"
    "- BatchData: 16\n"
    "- MapData: {component: x, map: {Cast: uint8}}\n";

std::vector<std::string> names(const FlowSpeed& speed) {
  std::vector<std::string> all;
  for (const FlowSpeed::Row& row : speed.rows) all.push_back(row.part.name);
  return all;
}

TEST(FlowSpeed, has_a_row_for_each_part_in_the_order_of_the_config) {
  const FlowSpeed speed = measure_flow("train", yaml_flow(kFakeFlow), {.samples = 160});
  EXPECT_THAT(names(speed), ElementsAre("fake_data_0", "map_data_0", "locally_shuffle_data_0", "batch_data_0",
                                        "map_data_1"));
  EXPECT_EQ(speed.batch_size, 16);
  for (const FlowSpeed::Read* read : {&speed.one, &speed.all}) {
    EXPECT_EQ(read->samples, 160);
    EXPECT_GT(read->seconds, 0);
    EXPECT_LE(read->queue_fill, static_cast<double>(read->queue_size));
    EXPECT_EQ(read->queue_size, 3);
  }
}

/// A float is four bytes, and a batch is as large as its samples.
TEST(FlowSpeed, knows_the_size_of_a_sample_after_each_part) {
  const FlowSpeed speed = measure_flow("train", yaml_flow(kFakeFlow), {.samples = 640});
  EXPECT_EQ(speed.rows[0].time.bytes_per_item(), 32);
  EXPECT_EQ(speed.rows[1].time.bytes_per_item(), 32);
  EXPECT_EQ(speed.rows[2].time.items, 0);  // an order by place makes nothing
  EXPECT_EQ(speed.rows[3].time.bytes_per_item(), 16 * 32);
  EXPECT_EQ(speed.rows[4].time.bytes_per_item(), 16 * 8);
}

TEST(FlowSpeed, adds_up_to_the_time_of_all_parts_and_knows_the_processors) {
  const FlowSpeed speed = measure_flow("train", yaml_flow(kFakeFlow), {.samples = 640, .need = 5000});
  double sum = speed.totals.rest_s;
  for (const FlowSpeed::Row& row : speed.rows) sum += row.time.seconds;
  EXPECT_GT(speed.totals.samples, 0);
  EXPECT_DOUBLE_EQ(speed.totals.seconds(), sum);
  EXPECT_GT(speed.one.processor_s, 0);
  EXPECT_DOUBLE_EQ(speed.processors_for(5000),
                   5000 * speed.one.processor_s / static_cast<double>(speed.one.samples));
}

/// Encoded images are decoded by the map that needs pixels, or by the batch.
TEST(FlowSpeed, shows_where_images_are_decoded) {
  const TemporaryFolder folder;
  for (uint64_t i = 0; i < 8; ++i)
    write_picture_file(folder, "a/" + std::to_string(i) + ".png", waves(i, 40, 40));
  const std::string source = "- ImageFolder: " + folder.str() + "\n";
  const FlowSpeed mapped = measure_flow(
      "train", yaml_flow(source + "- AugmentImageComponent: [Resize: 8]\n- BatchData: 4\n"), {.samples = 16});
  EXPECT_LT(mapped.rows[0].time.bytes_per_item(), 40 * 40 * 3);  // a file
  EXPECT_EQ(mapped.rows[1].time.bytes_per_item(), 8 * 8 * 3 + 4);
}

TEST(FlowSpeed, reads_endless_flows_and_single_samples_by_seconds) {
  const DataFlow flow = yaml_flow("- FakeData: {shapes: [[8]], names: [x]}\n- RepeatedData: -1\n");
  const FlowSpeed speed = measure_flow("train", flow, {.seconds = 0.01});
  EXPECT_EQ(speed.batch_size, 0);
  EXPECT_GT(speed.one.samples, 0);
  EXPECT_GE(speed.one.seconds, 0.01);
}

TEST(FlowSpeed, of_an_empty_flow_is_an_error) {
  const DataFlow flow =
      yaml_flow("- FakeData: {shapes: [[]], names: [x], size: 8}\n- Filter: x > 1000\n- BatchData: 2\n");
  EXPECT_THROW(measure_flow("train", flow, {.samples = 8}), DataError);
}

TEST(FlowSpeed, prints_what_it_measured) {
  const FlowSpeed speed =
      measure_flow("train", yaml_flow(kFakeFlow), {.samples = 64, .workers = 2, .need = 2000});
  for (const char* text : {"us/sample", "map_data_1", "flow.yaml:1:3", "together", "2 workers, for 2,000/s",
                           "a network of 2,000 samples/s needs"})
    EXPECT_THAT(speed.str(), HasSubstr(text));
  const auto parsed = nlohmann::json::parse(speed.to_json().dump());
  EXPECT_EQ(parsed.at("flow"), "train");
  EXPECT_EQ(parsed.at("workers"), 2);
  EXPECT_EQ(parsed.at("parts").size(), 5U);
  EXPECT_EQ(parsed.at("parts")[0].at("part"), "fake_data_0");
  EXPECT_EQ(parsed.at("all_workers").at("samples"), 64);
  EXPECT_GT(parsed.at("processors_for_need"), 0);
}

}  // namespace
}  // namespace tpack
