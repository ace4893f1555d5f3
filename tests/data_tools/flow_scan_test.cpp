#include "data_tools/flow_scan.h"

#include <filesystem>
#include <limits>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "infer/pictures.h"

namespace tpack {
namespace {

ScanOptions workers(size_t count) {
  ScanOptions options;
  options.workers = count;
  return options;
}
DataFlow pictures_in(const TemporaryFolder& folder, const std::vector<ConfigNode>& after = {}) {
  std::vector<ConfigNode> items = {item("ImageFolder", {{"dir", folder.str()}})};
  items.insert(items.end(), after.begin(), after.end());
  return make_flow(list(items));
}

class FlowScanTest : public testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t i = 0; i < 70; ++i)
      write_picture_file(folder_, (i % 2 == 0 ? "cat/" : "dog/") + std::to_string(100 + i) + ".png",
                         waves(i, 20 + static_cast<int64_t>(i % 5), 30));
  }
  TemporaryFolder folder_;
};

TEST_F(FlowScanTest, reads_what_is_stored_before_maps_and_in_the_order_of_the_source) {
  const DataFlow flow =
      pictures_in(folder_, {item("AugmentImageComponent", list({item("Resize", 8), "Flip"})),
                            item("BatchData", {{"batch_size", 4}})});
  const FlowScan scan = scan_flow("train", flow, workers(2));
  ASSERT_EQ(scan.samples.size(), 70U);
  EXPECT_EQ(scan.samples[0].size, (ImageSize{30, 20}));
  EXPECT_EQ(scan.name_of(scan.samples[0].index), folder_ / "cat/100.png");
  EXPECT_EQ(scan.class_of(scan.samples[0]), "cat");
  EXPECT_EQ(scan.class_of(scan.samples[69]), "dog");
  EXPECT_EQ(scan.classes.at("label"), (std::vector<int64_t>{35, 35}));
}

/// Not the coordinates, and not the rows without a box.
TEST_F(FlowScanTest, counts_the_classes_of_boxes) {
  std::filesystem::create_directories(folder_ / "boxes");
  write_content(folder_ / "boxes/100.txt", "1 0.5 0.5 0.2 0.2\n1 0.2 0.2 0.1 0.1\n0 0.7 0.7 0.1 0.1\n");
  for (int i = 102; i < 170; i += 2) write_content(folder_ / ("boxes/" + std::to_string(i) + ".txt"), "");
  const DataFlow flow = make_flow(list({item("ImageBoxes", {{"images", folder_ / "cat"},
                                                            {"annotations", folder_ / "boxes"},
                                                            {"classes", list({"car", "bus"})},
                                                            {"max_boxes", 5}})}));
  EXPECT_EQ(scan_flow("train", flow, workers(2)).classes.at("boxes"), (std::vector<int64_t>{1, 2}));
}

TEST_F(FlowScanTest, does_not_depend_on_the_number_of_workers) {
  write_content(folder_ / "cat/105.png", "no picture");
  const DataFlow flow = pictures_in(folder_);
  const FlowScan one = scan_flow("train", flow, workers(1));
  ASSERT_EQ(one.unread.size(), 1U);
  for (const size_t count : {2U, 7U}) {
    const FlowScan other = scan_flow("train", flow, workers(count));
    ASSERT_EQ(other.samples.size(), one.samples.size());
    for (size_t i = 0; i < one.samples.size(); ++i) {
      EXPECT_EQ(other.samples[i].index, one.samples[i].index);
      EXPECT_EQ(other.samples[i].content, one.samples[i].content);
      EXPECT_EQ(other.samples[i].look, one.samples[i].look);
    }
    ASSERT_EQ(other.unread.size(), 1U);
    EXPECT_EQ(other.unread[0].name, one.unread[0].name);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(other.numbers[0][k].mean, one.numbers[0][k].mean) << "to the last bit";
      EXPECT_EQ(other.numbers[0][k].squares, one.numbers[0][k].squares);
    }
  }
}

TEST_F(FlowScanTest, lists_what_cannot_be_read_and_goes_on) {
  const std::string whole = content_of(folder_ / "cat/102.png");
  write_content(folder_ / "cat/102.png", whole.substr(0, whole.size() / 2));
  write_content(folder_ / "cat/104.png", "");
  const FlowScan scan = scan_flow("train", pictures_in(folder_), workers(2));
  EXPECT_EQ(scan.samples.size(), 68U);
  ASSERT_EQ(scan.unread.size(), 2U);
  EXPECT_EQ(scan.unread[0].name, folder_ / "cat/102.png");
  EXPECT_FALSE(scan.unread[0].reason.empty());
  EXPECT_THAT(scan.unread[0].reason, testing::Not(testing::HasSubstr("102.png"))) << "which the name says";
  EXPECT_EQ(scan.unread[1].name, folder_ / "cat/104.png");
  EXPECT_EQ(scan.classes.at("label")[0], 33) << "of what was read";
}

TEST_F(FlowScanTest, without_hashes_has_the_same_numbers) {
  ScanOptions plain = workers(1);
  plain.hashes = ScanOptions::Hashes::kNo;
  const FlowScan scan = scan_flow("train", pictures_in(folder_), plain);
  EXPECT_FALSE(scan.samples[0].look);
  EXPECT_EQ(scan.numbers[0][1].mean, scan_flow("train", pictures_in(folder_), workers(1)).numbers[0][1].mean);
}

TEST_F(FlowScanTest, tells_how_far_it_is) {
  ScanOptions options = workers(2);
  std::vector<int64_t> seen;
  options.progress = [&seen](int64_t done) { seen.push_back(done); };
  scan_flow("train", pictures_in(folder_), options);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 70);
}

TEST(FlowScan, measures_the_channels_of_images) {
  const TemporaryFolder folder;
  write_picture_file(folder, "a/1.png", Tensor::of<uint8_t>({1, 2, 3}, {0, 10, 20, 100, 10, 40}));
  write_picture_file(folder, "a/2.png", Tensor::of<uint8_t>({1, 1, 3}, {50, 50, 50}));
  const FlowScan scan = scan_flow("train", pictures_in(folder), workers(1));
  const ComponentNumbers& channels = scan.numbers[0];
  ASSERT_EQ(channels.size(), 3U);
  EXPECT_DOUBLE_EQ(channels[0].mean, 50);
  EXPECT_DOUBLE_EQ(channels[0].deviation(), std::sqrt(5000.0 / 3));
  EXPECT_EQ(channels[0].least, 0);
  EXPECT_EQ(channels[2].most, 50);
  EXPECT_EQ(channels[1].count, 3) << "pixels";
  EXPECT_FALSE(scan.samples[0].is_gray);
  EXPECT_TRUE(scan.samples[1].is_gray);
}

TEST(FlowScan, measures_the_columns_of_tables_and_names_their_lines) {
  const TemporaryFolder folder;
  write_content(folder / "t.csv", "a,b,y\n1,10,u\n2,,v\n3,30,v\n");
  const DataFlow flow = make_flow(list({item(
      "CSV",
      {{"file", folder / "t.csv"}, {"columns", {{"x", list({"a", "b"})}}}, {"labels", {{"y", "y"}}}})}));
  const FlowScan scan = scan_flow("train", flow, workers(2));
  ASSERT_EQ(scan.samples.size(), 2U);
  ASSERT_EQ(scan.unread.size(), 1U) << "no number";
  EXPECT_EQ(scan.unread[0].name, folder / "t.csv:3");
  EXPECT_EQ(scan.columns.at("x"), (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(scan.numbers[0][0].mean, 2);
  EXPECT_DOUBLE_EQ(scan.numbers[0][1].mean, 20);
  EXPECT_EQ(scan.classes.at("y"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(scan.class_of(scan.samples[1]), "v");
}

/// Samples that can only be read in their order, the numbers from 0; without end by default.
class NumbersInOrder final : public SequentialSource {
 public:
  struct Params {
    int64_t size = kEndless;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Counts.")
        .example("NumbersInOrder: 5")
        .field("size", &Params::size, "samples")
        .shorthand();
  }
  explicit NumbersInOrder(Params p) : p_(p) {}
  Spec spec() const override { return {{"k", {DType::kInt64, {}}}}; }
  std::optional<int64_t> size() const override { return p_.size; }
  std::unique_ptr<Cursor> open(const PassKey& /*pass*/, uint64_t /*stage*/) const override {
    return std::make_unique<Reader>(p_.size);
  }

 private:
  class Reader final : public Cursor {
   public:
    explicit Reader(int64_t size) : size_(size) {}
    bool next(Datapoint& out) override {
      if (at_ == size_) return false;
      *out.renew(0, {DType::kInt64, {}}).data<int64_t>() = at_++;
      return true;
    }

   private:
    int64_t size_;
    int64_t at_ = 0;
  };
  Params p_;
};
TPACK_REGISTER(Source, NumbersInOrder, "NumbersInOrder");

TEST(FlowScan, reads_sequential_sources_once) {
  const DataFlow in_order = make_flow(list({item("NumbersInOrder", 100), item("RepeatedData", -1)}));
  const FlowScan one = scan_flow("train", in_order, workers(1));
  ASSERT_EQ(one.samples.size(), 100U) << "once, though the flow repeats";
  const FlowScan many = scan_flow("train", in_order, workers(7));
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(one.samples[i].content, many.samples[i].content);
  EXPECT_DOUBLE_EQ(many.numbers[0][0].mean, 49.5);
}

TEST_F(FlowScanTest, reads_joined_flows_in_the_order_of_their_sources) {
  const auto part = [&](const std::string& prefix) {
    return list(
        {item("ImageFolder", {{"dir", folder_.str()}}),
         item("RenameComponents", {{"names", {{"image", prefix + "image"}, {"label", prefix + "label"}}}})});
  };
  const FlowScan joined =
      scan_flow("train", make_flow(list({item("JoinData", list({part("a_"), part("b_")}))})), workers(2));
  ASSERT_EQ(joined.samples.size(), 70U);
  for (size_t i = 0; i < 70; ++i) EXPECT_EQ(joined.samples[i].index, static_cast<int64_t>(i));
}

TEST(FlowScan, of_a_flow_without_end_is_an_error) {
  EXPECT_THROW(scan_flow("train", make_flow(list({item("NumbersInOrder", ConfigNode::map({}))})), workers(1)),
               DataError);
}

TEST(FlowScan, place_numbers_are_added_in_any_way) {
  PlaceNumbers all;
  PlaceNumbers parts[2];
  for (int i = 0; i < 9; ++i) {
    all.add(1e6 + i * i);
    parts[i < 4 ? 0 : 1].add(1e6 + i * i);
  }
  parts[1].add(std::numeric_limits<double>::quiet_NaN());
  PlaceNumbers sum;
  sum.add(parts[0]);
  sum.add(parts[1]);
  EXPECT_EQ(sum.count, 9);
  EXPECT_EQ(sum.missing, 1);
  EXPECT_EQ(sum.least, 1e6);
  EXPECT_EQ(sum.most, 1e6 + 64);
  EXPECT_DOUBLE_EQ(sum.mean, all.mean);
  EXPECT_NEAR(sum.deviation(), all.deviation(), 1e-9);
}

}  // namespace
}  // namespace tpack
