#include "dataflow/map/batch_mix.h"

#include <array>
#include <cmath>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/sample_error.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kClasses = 4;
constexpr int64_t kHeight = 12;
constexpr int64_t kWidth = 16;

/// An image of one gray value, 60 times its class, and a mask that is the class, or has stripes of 0 and 3.
class PlainImages final : public RandomAccessSource {
 public:
  struct Params {
    bool mask = true;
    bool floats = false;
    bool stripes = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Plain.")
        .field("mask", &Params::mask, "")
        .field("floats", &Params::floats, "")
        .field("stripes", &Params::stripes, "");
  }
  explicit PlainImages(Params p) : p_(p) {}
  Spec spec() const override {
    ComponentSpec image{"image", {p_.floats ? DType::kFloat32 : DType::kUInt8, {kHeight, kWidth, 3}}, true};
    ComponentSpec label{"label", {DType::kInt32, {}}};
    label.classes = {"a", "b", "c", "d"};
    ComponentSpec mask{"mask", {DType::kUInt8, {kHeight, kWidth}}};
    mask.annotation = Annotation::kMask;
    return p_.mask ? Spec{image, label, mask} : Spec{image, label};
  }
  int64_t size() const override { return 4000; }
  bool shuffled() const override { return true; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const auto label = static_cast<int32_t>(index % kClasses);
    const Tensor& image = out.renew(0, spec()[0].tensor);
    visit(image.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::fill_n(image.data<T>(), image.elements(), static_cast<T>(60 * label));
    });
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = label;
    if (!p_.mask) return;
    const Tensor& mask = out.renew(2, spec()[2].tensor);
    for (int64_t i = 0; i < mask.elements(); ++i)
      mask.data<uint8_t>()[i] = static_cast<uint8_t>(p_.stripes ? 3 * (i % 2) : label);
  }

 private:
  Params p_;
};
TPACK_REGISTER(Source, PlainImages, "PlainImages");

std::string content_of_mixed(const std::string& map) {
  return content_of_flow("[{RenderedDigits: {size: 6}}, {Compute: {other: label}}, {BatchData: 3}, " + map +
                         "]");
}
const live::Component kMixing = {.values = {{"label", "other"}}, .build = content_of_mixed};
const live::Fields kMixUp("map", "MixUp", kMixing);
const live::Fields kCutMix("map", "CutMix", kMixing);
const live::Fields kMosaic("map", "Mosaic",
                           {.values = {{"label", "other"}, {"scale", "[0.6, 0.6]"}},
                            .build = content_of_mixed});

DataFlow flow_of(ConfigNode source, std::vector<ConfigNode> maps, int64_t batch = 8) {
  maps.insert(maps.begin(), item("BatchData", batch));
  maps.insert(maps.begin(), std::move(source));
  return make_flow(list(std::move(maps)));
}
ConfigNode plain(bool mask, bool floats = false) {
  return item("PlainImages", {{"mask", mask}, {"floats", floats}});
}

std::vector<Datapoint> batches_of(const DataFlow& flow, size_t count, uint64_t seed = 1) {
  const auto cursor = flow.open({.seed = seed});
  std::vector<Datapoint> all(count);
  for (Datapoint& d : all) EXPECT_TRUE(cursor->next(d));
  return all;
}

double label_at(const Datapoint& d, int64_t row, int64_t k) { return d.tensor(1).at(row * kClasses + k); }

/// The gray value that the label of a row says.
double gray_of(const Datapoint& d, int64_t row) {
  double gray = 0;
  for (int64_t k = 0; k < kClasses; ++k) gray += label_at(d, row, k) * 60 * static_cast<double>(k);
  return gray;
}

TEST(BatchMix, labels_become_distributions_and_keep_their_names) {
  for (const char* name : {"MixUp", "CutMix", "Mosaic"}) {
    const DataFlow flow = flow_of(plain(false), {ConfigNode(name)});
    EXPECT_EQ(flow.spec().str(), "image uint8 [8, 12, 16, 3], label float32 [8, 4]");
    EXPECT_EQ(flow.spec()[1].classes.size(), 4U);
    for (const Datapoint& d : batches_of(flow, 20)) {
      for (int64_t row = 0; row < 8; ++row) {
        double sum = 0;
        for (int64_t k = 0; k < kClasses; ++k) sum += label_at(d, row, k);
        EXPECT_NEAR(sum, 1, 1e-6) << name;
      }
    }
  }
}

TEST(BatchMix, blended_pixels_have_the_shares_of_the_label) {
  for (const bool floats : {false, true}) {
    for (const Datapoint& d :
         batches_of(flow_of(plain(false, floats), {item("MixUp", {{"alpha", 1}})}), 50)) {
      for (int64_t row = 0; row < 8; ++row) {
        for (const int64_t pixel : {int64_t{0}, kHeight * kWidth * 3 - 1})
          EXPECT_NEAR(d.tensor(0).at(row * kHeight * kWidth * 3 + pixel), gray_of(d, row),
                      floats ? 1e-4 : 0.501);
      }
    }
  }
}

TEST(BatchMix, pasted_areas_have_the_shares_of_the_label_and_masks_move_with_their_images) {
  for (const auto& [name, floats] : {std::pair("CutMix", false), std::pair("Mosaic", false),
                                     std::pair("CutMix", true), std::pair("Mosaic", true)}) {
    for (const Datapoint& d : batches_of(flow_of(plain(true, floats), {ConfigNode(name)}), 50)) {
      for (int64_t row = 0; row < 8; ++row) {
        Numbers pixels(kClasses);
        for (int64_t i = 0; i < kHeight * kWidth; ++i) {
          const int64_t at = row * kHeight * kWidth + i;
          const auto label = static_cast<int64_t>(d.tensor(2).at(at));
          ASSERT_NEAR(d.tensor(0).at(at * 3), 60 * static_cast<double>(label), floats ? 1e-4 : 0) << name;
          ++pixels[static_cast<size_t>(label)];
        }
        for (int64_t k = 0; k < kClasses; ++k)
          EXPECT_NEAR(label_at(d, row, k), pixels[static_cast<size_t>(k)] / (kHeight * kWidth), 1e-6) << name;
      }
    }
  }
}

/// Between two classes there is no third one.
TEST(BatchMix, masks_of_several_classes_keep_them_where_images_become_smaller) {
  const DataFlow flow = flow_of(item("PlainImages", {{"stripes", true}}), {ConfigNode("Mosaic")});
  std::array<int64_t, 2> counts{};
  for (const Datapoint& d : batches_of(flow, 20)) {
    for (const uint8_t value : d.tensor(2).span<uint8_t>()) {
      ASSERT_EQ(value % 3, 0) << int{value};
      ++counts.at(value / 3);
    }
  }
  EXPECT_GT(counts[0], 1000);
  EXPECT_GT(counts[1], 1000);
}

/// With a batch of two of different classes the share is the label. 8,000 draws: the mean is within 5 of its
/// deviations of a half, the variance within 5 % of 1 / (4 (2 alpha + 1)).
TEST(BatchMix, shares_are_from_a_beta_distribution) {
  for (const double alpha : {0.2, 1.0, 4.0}) {
    const DataFlow flow = flow_of(plain(false), {item("MixUp", {{"alpha", alpha}})}, kClasses * 1000);
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      for (const Datapoint& d : batches_of(flow, 1, seed)) {
        for (int64_t row = 0; row < kClasses * 1000; ++row) {
          // The first class's share of a sample that has two classes, in either order: symmetric about a
          // half.
          double share = -1;
          for (int64_t k = 0; k < kClasses && share < 0; ++k)
            if (const double value = label_at(d, row, k); value > 0 && value < 1) share = value;
          if (share < 0) continue;
          sum += share;
          squares += (share - 0.5) * (share - 0.5);
          ++count;
        }
      }
    }
    // Shares that are rounded to 0 or 1 are not seen, which are up to 2 % for 0.2.
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_GT(count, 6000);
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(variance / count));
    EXPECT_NEAR(squares / count, variance, variance * (alpha < 1 ? 0.12 : 0.05)) << alpha;
  }
}

TEST(BatchMix, some_batches_are_left_and_maps_can_follow_each_other) {
  int plain_ones = 0;
  for (const Datapoint& d : batches_of(flow_of(plain(false), {item("MixUp", {{"prob", 0.5}})}), 200)) {
    bool is_plain = true;
    for (int64_t i = 0; i < 8 * kClasses; ++i) is_plain &= d.tensor(1).at(i) == 0 || d.tensor(1).at(i) == 1;
    plain_ones += is_plain ? 1 : 0;
  }
  EXPECT_GT(plain_ones, 60);
  EXPECT_LT(plain_ones, 140);
  const DataFlow both = flow_of(plain(false), {item("MixUp", {{"alpha", 1}}), ConfigNode("CutMix")});
  EXPECT_EQ(both.spec()[1].tensor.str(), "float32 [8, 4]");
  for (const Datapoint& d : batches_of(both, 20)) {
    for (int64_t row = 0; row < 8; ++row) {
      double gray = 0;
      for (int64_t i = 0; i < kHeight * kWidth; ++i) gray += d.tensor(0).at((row * kHeight * kWidth + i) * 3);
      EXPECT_NEAR(gray / (kHeight * kWidth), gray_of(d, row), 1);
    }
  }
}

TEST(BatchMix, predictions_are_not_mixed) {
  const auto map = Registry<Map>::make("MixUp", ConfigNode::map({}));
  const Spec batch = PlainImages({.mask = false}).spec().batched(1);
  EXPECT_EQ(map->bind(batch)[1].tensor.str(), "float32 [1, 4]");
  Datapoint d;
  PlainImages({.mask = false}).get(3, {}, d);
  d.set_tensor(0, d.tensor(0).reshaped({1, kHeight, kWidth, 3}));
  d.set_tensor(1, d.tensor(1).reshaped({1}));
  map->apply(d, {.draws = false});
  EXPECT_TRUE(bit_equal(d.tensor(1), Tensor::of<float>({1, 4}, {0, 0, 0, 1})));
  EXPECT_EQ(d.tensor(0).at(0), 180);
  EXPECT_EQ(Registry<Map>::make("CutMix", ConfigNode::map({}))->narrow({"image"}), std::nullopt);
}

TEST(BatchMix, batches_are_the_same_for_any_workers_and_after_a_resume) {
  for (const char* name : {"MixUp", "CutMix", "Mosaic"}) {
    const DataFlow flow = flow_of(plain(false), {ConfigNode(name)});
    const std::vector<Datapoint> wanted = batches_of(flow, 6, 5);
    for (const size_t workers : {1U, 2U, 7U, 16U}) {
      for (const int64_t from : {0, 4}) {
        const auto stream = flow.stream({.seed = 5, .workers = workers, .position = {0, from}, .passes = 1});
        for (auto k = static_cast<size_t>(from); k < wanted.size(); ++k) {
          const auto lease = stream->next();
          ASSERT_TRUE(lease);
          for (size_t i = 0; i < 2; ++i)
            EXPECT_TRUE(bit_equal(lease->tensor(i), wanted[k].tensor(i))) << name << " " << workers;
        }
      }
    }
  }
}

TEST(BatchMix, what_cannot_be_mixed_is_said) {
  const auto error = [](ConfigNode source, ConfigNode map, bool batch = true) {
    std::vector<ConfigNode> items = {std::move(source), std::move(map)};
    if (batch) items.insert(items.begin() + 1, item("BatchData", 2));
    return error_of([&] { make_flow(list(items)); });
  };
  EXPECT_THAT(error(plain(false), "MixUp", false), HasSubstr("put it after BatchData"));
  EXPECT_THAT(error(plain(true), "MixUp"), HasSubstr("CutMix and Mosaic move masks with their images"));
  EXPECT_THAT(error(plain(false), item("MixUp", {{"label", "class"}})), HasSubstr("'class'"));
  EXPECT_THAT(error(plain(false), item("Mosaic", {{"scale", list({0.2, 1})}})), HasSubstr("from 0.5 to 1"));
  const ConfigNode unnamed = item("FakeData", {{"shapes", list({list({8, 8, 3}), list({})})},
                                               {"dtype", list({"uint8", "int32"})},
                                               {"names", list({"image", "label"})}});
  EXPECT_THAT(error(unnamed, "MixUp"), HasSubstr("set 'classes'"));
  const DataFlow few = flow_of(plain(false), {item("CutMix", {{"classes", 2}})});
  Datapoint d;
  EXPECT_THROW(few.open({.seed = 1})->next(d), SampleError);
}

}  // namespace
}  // namespace tpack
