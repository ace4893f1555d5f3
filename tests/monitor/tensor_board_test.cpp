#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "core/registry.h"
#include "monitor/event_reader.h"
#include "monitor/monitor.h"
#include "support/live_fields.h"
#include "support/python.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

std::unique_ptr<Monitor> board(const RunRecord& run) {
  auto made = Registry<Monitor>::make("TensorBoard");
  made->open(run);
  return made;
}

/// The summaries' values in the one event file of the folder.
std::vector<std::string> values_in(const TemporaryFolder& folder) {
  std::vector<std::string> values;
  for (const std::string& record : read_records(content_of(folder / folder.names().back()))) {
    for (const Field& part : read_fields(record)) {
      if (part.first == 5) values.push_back(field(part.second, 1));
    }
  }
  return values;
}

TEST(TensorBoard, writes_scalars_by_tag_and_step) {
  const TemporaryFolder folder;
  const auto monitor = board({.folder = folder.str()});
  monitor->put_scalar("cost", 0.5, {1, 10});
  monitor->end_epoch({1, 10});
  const auto values = values_in(folder);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(field(values[0], 1), "cost");
  EXPECT_EQ(fixed<float>(field(values[0], 2)), 0.5F);
}

TEST(TensorBoard, writes_images_with_their_size) {
  const TemporaryFolder folder;
  const auto monitor = board({.folder = folder.str()});
  monitor->put_image("samples", Tensor::zeros({DType::kUInt8, {2, 3, 5, 1}}), {1, 10});
  monitor->end_epoch({1, 10});
  const auto values = values_in(folder);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(field(values[1], 1), "samples/1");
  const std::string image = field(values[1], 4);
  EXPECT_EQ(fixed<int64_t>(field(image, 1)), 3);
  EXPECT_EQ(fixed<int64_t>(field(image, 2)), 5);
  EXPECT_EQ(field(image, 4).substr(1, 3), "PNG");
}

TEST(TensorBoard, writes_histograms) {
  const TemporaryFolder folder;
  const auto monitor = board({.folder = folder.str()});
  monitor->put_histogram("weights", histogram_of(Tensor::of<float>({3}, {1, 2, 3}), 2), {1, 10});
  monitor->put_histogram("nothing", {}, {1, 10});
  monitor->end_epoch({1, 10});
  const auto values = values_in(folder);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(field(values[0], 1), "weights");
  const std::string histogram = field(values[0], 5);
  EXPECT_EQ(fixed<double>(field(histogram, 1)), 1);
  EXPECT_EQ(fixed<double>(field(histogram, 2)), 3);
  EXPECT_EQ(fixed<double>(field(histogram, 3)), 3);
  EXPECT_EQ(fixed<double>(field(histogram, 4)), 6);
  EXPECT_EQ(fixed<double>(field(histogram, 5)), 14);
}

TEST(TensorBoard, makes_the_repeated_steps_of_older_files_void_on_resume) {
  const TemporaryFolder folder;
  board({.folder = folder.str(), .starting_epoch = 2, .global_step = 50, .resumed = true})->close();
  const auto records = read_records(content_of(folder / folder.names()[0]));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(fixed<int64_t>(field(records[1], 2)), 51);
}

TEST(TensorBoard, does_nothing_without_a_folder) {
  const auto monitor = board({});
  monitor->put_scalar("cost", 2, {1, 1});
  monitor->put_text("note", "x", {1, 1});
  EXPECT_NO_THROW(monitor->end_epoch({1, 1}));
}

TEST(TensorBoard, is_read_back_by_the_tensorboard_package) {
  const TemporaryFolder folder;
  const auto first = board({.folder = folder.str()});
  for (int step = 1; step <= 3; ++step) first->put_scalar("cost", 1.0 / step, {1, step});
  first->put_image("picture", Tensor::zeros({DType::kUInt8, {4, 6, 3}}), {1, 1});
  first->put_text("note", "hello", {1, 1});
  first->close();
  const auto resumed =
      board({.folder = folder.str(), .starting_epoch = 1, .global_step = 2, .resumed = true});
  resumed->put_scalar("cost", 7, {1, 3});
  resumed->close();
  const PythonResult result = run_python("python/read_events.py", folder.str());
  if (!result.missing.empty()) GTEST_SKIP() << result.missing;
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.output,
      "scalar cost 1 1.0\nscalar cost 2 0.5\nscalar cost 3 7.0\nimage picture 1 6x4\ntext note 1 hello\n");
}

const live::Fields kTensorBoard("monitor", "TensorBoard", {.values = {{"flush_s", "0"}}});

}  // namespace
}  // namespace tpack
