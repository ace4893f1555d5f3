#include "dataflow/count_classes.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

std::string counts(const Texts& names, const std::vector<int32_t>& numbers) {
  std::string text;
  for (const auto& [name, samples] : count_classes(names, numbers))
    text += name + ":" + std::to_string(samples) + " ";
  return text;
}

TEST(CountClasses, counts_in_the_order_of_the_labels) {
  EXPECT_EQ(counts({"a", "b", "c"}, {1, 1, 0, 1}), "a:1 b:3 c:0 ");
}

TEST(CountClasses, leaves_out_what_is_no_class) {
  EXPECT_EQ(counts({"a", "b"}, {-1, 1, 2, 7}), "a:0 b:1 ");
  EXPECT_EQ(counts({}, {-1, 3, 1}), ":0 :1 :0 :1 ") << "without names, the largest number says how many";
  EXPECT_EQ(counts({}, {}), "");
}

/// 2,000 masks of 2x2 pixels: class 0 twice, 255, and class 1; or class 2 in the place of 1 in the upper
/// half.
class Masks final : public RandomAccessSource {
 public:
  explicit Masks(Shape shape = {2, 2}) : shape_(std::move(shape)) {}
  Spec spec() const override {
    ComponentSpec mask{"mask", {DType::kUInt8, shape_}};
    mask.classes = {"a", "b", "c"};
    return Spec({{"image", {DType::kUInt8, Shape{2, 2, 3}}, true},
                 mask,
                 {"scores", {DType::kFloat32, Shape{3}}},
                 {"kind", {DType::kUInt8, Shape{}}},
                 {"column", {DType::kInt32, Shape{1}}}});
  }
  int64_t size() const override { return 2000; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    if (index == 4) throw DataError("damaged");
    const auto values = out.renew(1, {DType::kUInt8, Shape{2, 2}}).span<uint8_t>();
    values[0] = values[1] = 0;
    values[2] = 255;
    values[3] = index < 1000 ? 1 : 2;
    out.renew(3, {DType::kUInt8, Shape{}}).data<uint8_t>()[0] = index % 3 == 0 ? 1 : 0;
    out.renew(4, {DType::kInt32, Shape{1}}).data<int32_t>()[0] = index % 3 == 0 ? 1 : 0;
  }

 private:
  Shape shape_;
};

TEST(CountClasses, counts_the_pixels_of_masks) {
  const Masks masks;
  const Masks of_any_size(Shape{Shape::kUnknown, Shape::kUnknown});
  for (const Masks* source : {&masks, &of_any_size}) {
    const auto all = count_classes(*source, "mask");
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3U);
    EXPECT_EQ((*all)[0].samples, 1998) << "every second of 2,000 masks, without the one that cannot be read";
    EXPECT_EQ((*all)[1].samples, 499);
    EXPECT_EQ((*all)[2].samples, 500);
  }
  for (const char* const other : {"image", "scores", "nothing"})
    EXPECT_FALSE(count_classes(masks, other)) << other;
  for (const char* const number : {"kind", "column"}) {
    const auto of_all = count_classes(masks, number);
    ASSERT_TRUE(of_all);
    EXPECT_EQ((*of_all)[1].samples, 667) << number << " of all samples, which are one number each";
  }
}

/// 40 rows in the order of their classes: 15 of a, 25 of b; x is the row.
TEST(CountClasses, counts_what_a_flow_trains_on) {
  const TempFolder folder;
  std::string text = "x,y\n";
  for (int row = 0; row < 40; ++row) text += std::to_string(row) + (row < 15 ? ",a\n" : ",b\n");
  folder.write_text("a.csv", text);
  const auto counted = [&](const std::string& rest) {
    const DataFlow flow =
        folder.flow("[CSV: {file: a.csv, columns: {x: x}, labels: {y: y}, shuffle: true}" + rest + "]");
    std::string counts;
    const auto classes = count_classes(flow, "y").value();
    for (const auto& [name, samples] : classes) counts += name + ":" + std::to_string(samples) + " ";
    return counts;
  };
  EXPECT_EQ(counted(", BatchData: 8"), "a:15 b:25 ");
  EXPECT_EQ(counted(", Limit: 20, BatchData: 8"), "a:15 b:5 ");
  EXPECT_EQ(counted(", Filter: x < 20, BatchData: {batch_size: 8, remainder: true}"), "a:15 b:5 ");
  EXPECT_EQ(counted(", Limit: 30, Filter: x > 9, BatchData: 8"), "a:5 b:15 ");
  EXPECT_EQ(counted(", {ClassBalanced: {component: y, samples: 20}}, BatchData: 8"), "a:10 b:10 ");
}

}  // namespace
}  // namespace tpack
