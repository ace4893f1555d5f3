// Runs the program on folders of images: files that change before a run is resumed, images that are too
// small.
#include <filesystem>

#include "support/errors.h"
#include "support/tiny_runs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using testing_cli::Outcome;
using testing_cli::tpack;

/// A gray PNG of 1x1.
constexpr uint8_t kPixel[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
    0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
    0xDA, 0x45, 0x08, 0x3B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
};

class TrainOnImages : public testing_cli::WithTinyRuns {
 protected:
  void image(const std::string& name) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    fs::copy_file(source_folder() + "/docs/images/rendered-digits.png", folder_ / name);
  }
};

TEST_F(TrainOnImages, warns_if_the_files_of_a_resumed_run_are_others) {
  for (const char* name :
       {"images/ants/1.png", "images/ants/2.png", "images/bees/1.png", "images/bees/2.png"})
    image(name);
  const std::string flow = "data.train=[ImageFolder: {dir: " + (folder_ / "images") +
                           ", color: gray}, AugmentImageComponent: [Resize: 4], BatchData: {batch_size: 1}]";
  const auto resumed = [&](const std::string& epochs) {
    return train({"--set", flow, "--resume", "auto", "--set", "max_epoch=" + epochs});
  };
  const std::string warning = "warning: data.train has changed since the checkpoint: ";
  const std::string advice = "; the run continues, possibly with different samples\n";
  ASSERT_EQ(train({"--set", flow}).code, 0);
  const Outcome same = exits(0, resumed("3"));
  EXPECT_EQ(same.err.find("has changed"), std::string::npos) << same.err;
  image("images/bees/3.png");
  const Outcome more = exits(0, resumed("4"));
  const std::string counted =
      warning +
      "it was 4 images in 2 classes (ants: 2, bees: 2); it is 5 images in 2 classes (ants: 2, bees: 3)" +
      advice;
  EXPECT_NE(more.err.find(counted), std::string::npos) << more.err;
  EXPECT_NE(content_of(run_folder() + "/log.txt").find(counted), std::string::npos);
  fs::rename(folder_ / "images/bees/3.png", folder_ / "images/bees/4.png");
  const Outcome renamed = exits(0, resumed("5"));
  EXPECT_NE(renamed.err.find(warning +
                             "still 5 images in 2 classes (ants: 2, bees: 3), but names, sizes or "
                             "dates of files differ" +
                             advice),
            std::string::npos)
      << renamed.err;
}

TEST_F(TrainOnImages, goes_on_with_the_labels_that_it_has_learned) {
  for (const char* name : {"images/ants/1.png", "images/bees/1.png"}) image(name);
  const std::string flow = "data.train=[ImageFolder: {dir: " + (folder_ / "images") +
                           ", color: gray}, AugmentImageComponent: [Resize: 4], BatchData: {batch_size: 1}]";
  ASSERT_EQ(train({"--set", flow}).code, 0);
  fs::rename(folder_ / "images/ants", folder_ / "images/wasps");
  fs::rename(folder_ / "images/bees", folder_ / "images/ants");
  fs::rename(folder_ / "images/wasps", folder_ / "images/bees");
  EXPECT_EQ(train({"--set", flow, "--resume", "auto", "--set", "max_epoch=3"}).code, 0) << "the same names";
  fs::create_directories(folder_ / "images/aphids");
  const Outcome other = exits(2, train({"--set", flow, "--resume", "auto", "--set", "max_epoch=4"}));
  EXPECT_TRUE(says(other.err, {"'aphids', which is not a class", "data.train has ants, bees"}));
  fs::remove(folder_ / "images/aphids");
  fs::remove_all(folder_ / "images/ants");
  const Outcome fewer = exits(0, train({"--set", flow, "--resume", "auto", "--set", "max_epoch=4"}));
  EXPECT_NE(fewer.err.find("1 images in 2 classes (ants: 0, bees: 1)"), std::string::npos) << fewer.err;
}

TEST_F(TrainOnImages, one_that_is_too_small_is_named_with_the_augmentor_and_the_fix) {
  const std::string small = folder_ / "images/ants/2.png";
  image("images/ants/1.png");
  image("images/ants/3.png");
  write_content(small, {std::begin(kPixel), std::end(kPixel)});
  std::string text = content_of(config());
  const size_t begin = text.find("    - FakeData");
  text.replace(begin, text.find("  validation:") - begin,
               "    on_error: stop\n"
               "    flow:\n"
               "      - ImageFolder: {dir: images, color: gray, shuffle: false}\n"
               "      - AugmentImageComponent: [CenterCrop: 4]\n"
               "      - BatchData: {batch_size: 1}\n");
  write_content(config(), text);
  const std::string said = config() + ":8:33: augment_image_component_0, sample 1 of pass 0: " + small +
                           ": CenterCrop: an image of 1x1 is smaller than the crop of 4x4; put "
                           "ResizeShortestEdge: 4 before it, or leave such images out with on_error: skip\n";
  const Outcome stopped = exits(3, train());
  EXPECT_NE(stopped.err.find("error: " + said), std::string::npos) << stopped.err;
  for (const std::string policy : {"skip", "replace"}) {
    const Outcome outcome = exits(0, train({"--set", "data.train.on_error=" + policy, "--set",
                                            "steps_per_epoch=3", "--set", "max_epoch=1"},
                                           policy));
    EXPECT_TRUE(says(outcome.err, {" left out or replaced", "bad_samples.txt lists them"}));
    EXPECT_EQ(content_of(run_folder(policy) + "/bad_samples.txt").find("data.train: " + said), 0U) << policy;
  }
}

}  // namespace
}  // namespace tpack
