#include <opencv2/core.hpp>

#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "image/augment/augmentor.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The first image of a folder of one image, after the augmentors.
cv::Mat augmented(const TempFolder& folder, ConfigNode augmentors, uint64_t seed = 1) {
  const DataFlow flow = make_flow(
      list({item("ImageFolder", folder.path()), item("AugmentImageComponent", std::move(augmentors))}));
  Datapoint d = first_sample(flow, {.seed = seed});
  return d.image(0).pixels().clone();
}

TEST(AugmentImageComponent, crops_before_decoding_give_what_crops_after_it_give) {
  const auto behind = [](ConfigNode first) {
    return list({std::move(first), item("RandomCrop", list({60, 80})), item("RandomCrop", 40), "Flip"});
  };
  // A crop of the whole image is no crop; a transform that does nothing but is not a crop forces decoding the
  // whole image.
  const ConfigNode before_decoding = behind(item("CenterCrop", list({70, 90})));
  const ConfigNode after_decoding = behind(item("Brightness", 0));
  for (const auto& [name, bytes] :
       {std::pair{"a/x.png", encode_png(photo(90, 70))}, std::pair{"a/x.jpg", encode_jpeg(photo(90, 70))}}) {
    const TempFolder folder;
    folder.write(name, bytes);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const cv::Mat part = augmented(folder, before_decoding, seed);
      EXPECT_EQ(part.cols, 40);
      EXPECT_EQ(largest_difference(part, augmented(folder, after_decoding, seed)), 0) << name;
    }
  }
}

/// Only what the crop needs is decoded and resized, also of a reduced JPEG (size 12).
TEST(AugmentImageComponent, crops_behind_a_resize_are_a_part_of_the_resized_image) {
  const TempFolder folder;
  folder.write("a/x.jpg", encode_jpeg(photo(261, 195)));
  const ConfigNode middle = item("CenterCrop", list({190, 260}));
  for (const char* interp : {"linear", "cubic", "area", "nearest"}) {
    for (const int side : {12, 60, 110, 300}) {
      const ConfigNode resize = item("ResizeShortestEdge", {{"size", side}, {"interp", interp}});
      const ConfigNode crop = item("RandomCrop", list({side / 2, side - 1}));
      for (uint64_t seed = 0; seed < 5; ++seed) {
        const cv::Mat part = augmented(folder, list({middle, middle, resize, crop}), seed);
        // What is no crop is made of the whole result.
        const cv::Mat cut = augmented(folder, list({middle, resize, item("Brightness", 0), crop}), seed);
        EXPECT_LE(largest_difference(part, cut), 1) << interp << side;
        EXPECT_LE(cv::norm(part, cut, cv::NORM_L1) / static_cast<double>(part.total() * 3), 0.001);
      }
    }
  }
}

/// A decoder gives JPEGs at a reduced size where that makes no difference.
TEST(AugmentImageComponent, resized_pixels_do_not_depend_on_the_format_of_the_file) {
  const TempFolder jpeg;
  const TempFolder png;
  jpeg.write("a/x.jpg", encode_jpeg(photo(261, 195)));
  png.write("a/x.png", encode_png(augmented(jpeg, list({}))));
  const auto expect_nearly_equal = [&](std::vector<ConfigNode> augmentors) {
    const cv::Mat a = augmented(jpeg, list(augmentors));
    const cv::Mat b = augmented(png, list(augmentors));
    ASSERT_EQ(a.size(), b.size());
    EXPECT_LE(cv::norm(a, b, cv::NORM_L1) / static_cast<double>(a.total() * 3), 1);
  };
  for (const char* interp : {"linear", "cubic", "area", "nearest"}) {
    for (const int side : {20, 48, 110}) {
      const ConfigNode resize = item("Resize", {{"shape", side}, {"interp", interp}});
      const ConfigNode piece = item("RandomResizedCrop", {{"shape", side}, {"interp", interp}});
      const ConfigNode shortest = item("ResizeShortestEdge", {{"size", side}, {"interp", interp}});
      for (const ConfigNode& one :
           {resize, shortest, piece, item("RandomApplyAug", {{"aug", resize}, {"prob", 1}})}) {
        SCOPED_TRACE(interp + std::string(" ") + std::to_string(side));
        expect_nearly_equal({one});
        expect_nearly_equal({item("RandomCrop", list({153, 205})), one});
      }
    }
  }
}

/// Gives floating-point pixels, or throws as OpenCV does.
class Slip final : public Augmentor {
 public:
  struct Params {
    bool throws = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Makes what no image is.")
        .field("throws", &Params::throws, "whether OpenCV throws");
  }
  explicit Slip(Params p) : p_(p) {}
  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& /*rng*/) const override {
    return std::make_unique<Drawn>(p_.throws);
  }

 private:
  class Drawn final : public Transform {
   public:
    explicit Drawn(bool throws) : throws_(throws) {}
    void image(cv::Mat& m) const override {
      if (throws_) CV_Error(cv::Error::StsBadArg, "a bad argument");
      m.convertTo(m, CV_32F);
    }

   private:
    bool throws_;
  };
  Params p_;
};

TPACK_REGISTER(Augmentor, Slip, "Slip");

TEST(AugmentImageComponent, names_the_augmentor_that_gives_no_image) {
  const auto error = [](const ConfigNode& source, const ConfigNode& slip) {
    const DataFlow flow = make_flow(list({source, item("AugmentImageComponent", list({slip}))}));
    Datapoint d;
    return error_of([&] { flow.open({})->next(d); });
  };
  const TempFolder folder;
  folder.write("a/x.png", encode_png(photo(9, 7)));
  const ConfigNode digits = item("RenderedDigits", {{"split", "test"}});
  for (const ConfigNode& source : {digits, item("ImageFolder", folder.path())}) {
    EXPECT_TRUE(says(error(source, item("Slip", ConfigNode::map({}))), {"Slip: ", "8 bits per channel"}));
    EXPECT_THAT(error(source, item("Slip", {{"throws", true}})), testing::HasSubstr("Slip: a bad argument"));
  }
}

TEST(AugmentImageComponent, tensors_are_augmented_like_images) {
  const DataFlow flow =
      yaml_flow("[RenderedDigits: {split: test}, AugmentImageComponent: [CenterPaste: 32]]");
  EXPECT_EQ(flow.spec()[0].tensor.str(), "uint8 [32, 32, 1]");
  const DataFlow plain = yaml_flow("[RenderedDigits: {split: test}]");
  Datapoint a;
  Datapoint b;
  ASSERT_TRUE(flow.open({})->next(a));
  ASSERT_TRUE(plain.open({})->next(b));
  EXPECT_EQ(a.tensor(0).at(0), 0);
  EXPECT_EQ(a.tensor(0).at(32 * 10 + 12), b.tensor(0).at(28 * 8 + 10));
}

TEST(AugmentImageComponent, tensors_of_other_depths_are_augmented_like_images) {
  const TempFolder folder;
  folder.write("a/x.png", encode_png(photo(30, 20)));
  for (const ConfigNode& depth : {ConfigNode(16), ConfigNode("float")}) {
    const auto made = [&](std::vector<ConfigNode> maps) {
      maps.insert(maps.begin(), item("ImageFolder", {{"dir", folder.path()}, {"depth", depth}}));
      maps.push_back(
          item("AugmentImageComponent",
               list({item("CenterCrop", 16), item("Contrast", {{"factor_range", list({0.5, 0.5})}}),
                     item("Brightness", {{"delta", 0}}), "Flip"})));
      Datapoint d = first_sample(make_flow(list(maps)), {.seed = 3});
      return d.to_tensor(0).clone();
    };
    const Tensor image = made({});
    EXPECT_EQ(image.spec().str(), "float32 [16, 16, 3]");
    EXPECT_EQ(max_difference(image, made({item("Filter", "mean(image) > 0")})), 0);
  }
}

TEST(AugmentImageComponent, an_augmentor_after_another_does_not_change_its_draws) {
  const TempFolder folder;
  folder.write("a/x.png", encode_png(photo(90, 70)));
  const cv::Mat alone = augmented(folder, list({item("RandomCrop", 40)}));
  const cv::Mat more = augmented(folder, list({item("RandomCrop", 40), item("Brightness", 0)}));
  EXPECT_EQ(largest_difference(alone, more), 0);
}

TEST(AugmentImageComponent, images_that_are_too_small_stop_or_are_skipped) {
  const TempFolder folder;
  folder.write("a/x.png", encode_png(photo(20, 20)));
  folder.write("a/y.png", encode_png(photo(50, 50)));
  const auto flow = [&](const char* policy) {
    const ConfigNode stages = list({item("ImageFolder", {{"dir", folder.path()}, {"shuffle", false}}),
                                    item("AugmentImageComponent", list({item("RandomCrop", 40)}))});
    return make_flow(ConfigNode({{"flow", stages}, {"on_error", policy}}));
  };
  Datapoint d;
  EXPECT_TRUE(fails(
      [&] { flow("stop").open({})->next(d); },
      {"augment_image_component_0, sample 0 of pass 0: " + folder.path("a/x.png") + ": RandomCrop: ", "20x20",
       "put ResizeShortestEdge: 40"}));
  ASSERT_TRUE(flow("skip").open({})->next(d));
  EXPECT_EQ(d.id().index, 1);
}

TEST(AugmentImageComponent, needs_an_image) {
  EXPECT_TRUE(
      fails([] { yaml_flow("[Counting: 3, AugmentImageComponent: {augmentors: [Flip], component: k}]"); },
            {"map AugmentImageComponent: ", "'k' is int64 []", "not an image"}));
}

TEST(AugmentImageComponent, rejects_a_crop_that_fits_no_image) {
  const TempFolder folder;
  folder.write("a/x.png", encode_png(photo(20, 20)));
  const auto flow_of = [&](std::vector<ConfigNode> augmentors) {
    return make_flow(list(
        {item("ImageFolder", folder.path()), item("AugmentImageComponent", list(std::move(augmentors)))}));
  };
  EXPECT_THROW(flow_of({item("ResizeShortestEdge", 60), "Flip", item("RandomCrop", 64)}), ConfigError);
  EXPECT_NO_THROW(flow_of({item("ResizeShortestEdge", 64), "Flip", item("RandomCrop", 64)}));
  EXPECT_NO_THROW(flow_of({item("ResizeShortestEdge", 60), item("CenterCrop", list({60, 64}))}))
      << "landscapes have room";
}

const live::Fields kSlip("augmentor", "Slip", {.left_out = {{"throws", "an augmentor of these tests"}}});

/// All batches of a pass from `from` on, as one list of numbers.
Numbers numbers_after(const DataFlow& flow, size_t workers, int64_t from) {
  const auto stream = flow.stream({.seed = 3, .workers = workers, .position = {0, from}, .passes = 1});
  return numbers_of(*stream);
}

/// Of a flow of 6 batches.
void expect_the_same_for_any_workers(const DataFlow& flow) {
  const Numbers whole = numbers_after(flow, 1, 0);
  ASSERT_FALSE(whole.empty());
  const auto per_batch = static_cast<int64_t>(whole.size()) / 6;
  for (const size_t workers : {2U, 7U, 16U}) EXPECT_TRUE(numbers_after(flow, workers, 0) == whole) << workers;
  const Numbers rest(whole.begin() + 4 * per_batch, whole.end());
  EXPECT_TRUE(numbers_after(flow, 2, 4) == rest);
}

TEST(AugmentImageComponent, every_augmentor_gives_the_same_for_any_workers_and_after_a_resume) {
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->name == "Slip") continue;  // of a test, gives what no image is
    SCOPED_TRACE(info->name);
    const std::string augmentor = info->example().empty() ? info->name : info->example();
    // Resize at the end is for those that change sizes.
    const DataFlow flow = yaml_flow("[RenderedShapes: {size: 24, resolution: 256}, AugmentImageComponent: [" +
                                    augmentor + ", Resize: 24], BatchData: 4]");
    ASSERT_EQ(flow.spec().size(), 2U);  // image and mask
    expect_the_same_for_any_workers(flow);
  }
}

TEST(AugmentImageComponent, what_belongs_to_images_is_the_same_for_any_workers_and_after_a_resume) {
  const TempFolder folder;
  std::string eyes = "photo,x,y\n";
  for (int i = 0; i < 24; ++i) {
    eyes += "image/" + std::to_string(i) + ".png," + std::to_string(10 + i) + ",20\n";
    const std::string name = std::to_string(i);
    folder.write("image/" + name + ".png", encode_png(photo(60 + i, 50)));
    folder.write("target/" + name + ".jpg", encode_jpeg(photo(60 + i, 50)));
    cv::Mat mask(50, 60 + i, CV_8UC1, cv::Scalar(0));
    mask(cv::Rect(i, 10, 20, 20)).setTo(1);
    folder.write("mask/" + name + ".png", encode_png(mask));
    const std::string box = "1 0." + std::to_string(30 + i) + " 0.5 0.3 0.4\n";
    folder.write_text("boxes/" + name + ".txt", box);
  }
  folder.write_text("eyes.csv", eyes);
  for (const std::string source :
       {"ImagePairs: {images: image, masks: mask}", "ImagePairs: {images: image, targets: target}",
        "ImageBoxes: {images: image, annotations: boxes, classes: [a, b], max_boxes: 2}",
        "ImageList: {file: eyes.csv, path: photo, columns: {eyes: [x, y]}, points: [eyes]}"}) {
    SCOPED_TRACE(source);
    const bool has_two = source.find("target") != std::string::npos;
    expect_the_same_for_any_workers(folder.flow(
        "[" + source + ", " + (has_two ? "AugmentImageComponents" : "AugmentImageComponent") +
        ": [RandomCrop: 40, Flip, Rotation: {max_deg: 20, center_range: [0.5, 0.5]}], BatchData: 4]"));
  }
}

}  // namespace
}  // namespace tpack
