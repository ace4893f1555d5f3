// Truncated data files: rejected with their path, or skipped and counted, as the config says.
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "draw/png.h"
#include "training.h"

namespace tpack::reliability {
namespace {

using testing_cli::last_line;

class DamagedData : public Training {
 protected:
  /// Trains on another source of images of 14 x 14 or more.
  Outcome train_on(const std::string& source, const std::string& on_error = "stop") const {
    const std::string crop = "{AugmentImageComponent: {augmentors: [{CenterCrop: {crop_shape: 14}}]}}";
    const std::string flow = "[" + source + ", " + crop + ", {BatchData: {batch_size: 2}}]";
    return train("run", {"--set", "data.train={on_error: " + on_error + ", flow: " + flow + "}", "--set",
                         "max_epoch=1", "--set", "steps_per_epoch=4"});
  }
};

class DamagedIdx : public DamagedData {
 protected:
  DamagedIdx() {
    std::filesystem::create_directory(folder_ / "mnist");
    const std::string dims("\0\0\0\x08\0\0\0\x1c\0\0\0\x1c", 12);
    images_ = std::string("\0\0\x08\x03", 4) + dims + std::string(8 * 28 * 28, '\x55');
    write_content(file("images-idx3"), images_);
    write_content(file("labels-idx1"), std::string("\0\0\x08\x01\0\0\0\x08\0\1\2\3\4\5\6\7", 16));
  }
  std::string file(const std::string& kind) const { return folder_ / ("mnist/train-" + kind + "-ubyte"); }
  Outcome train_on_idx() const { return train_on("{Mnist: {dir: " + folder_.str() + "}}"); }

  std::string images_;
};

TEST_F(DamagedIdx, trains_while_it_is_whole) {
  const Outcome outcome = train_on_idx();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(DamagedIdx, is_rejected_if_it_is_truncated) {
  for (const size_t length : {size_t{0}, size_t{7}, size_t{16}, images_.size() / 2, images_.size() - 1}) {
    SCOPED_TRACE(length);
    write_content(file("images-idx3"), images_.substr(0, length));
    const Outcome outcome = train_on_idx();
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(last_line(outcome.err).find("error: --set data.train: " + file("images-idx3") + ": "), 0U)
        << outcome.err;
  }
}

class DamagedImage : public DamagedData {
 protected:
  DamagedImage() {
    for (int i = 0; i < 8; ++i) {
      Tensor picture(DType::kUInt8, {14, 14, 1});
      for (int64_t p = 0; p < 196; ++p) picture.data<uint8_t>()[p] = static_cast<uint8_t>(p * (i + 1));
      std::filesystem::create_directories(folder_ / ("images/class" + std::to_string(i % 2)));
      write_content(image(i), encode_png(picture).front().png);
    }
    const std::string broken = content_of(image(kBroken));
    write_content(image(kBroken), broken.substr(0, broken.size() / 2));
  }
  std::string image(int i) const {
    return folder_ / ("images/class" + std::to_string(i % 2) + "/" + std::to_string(i) + ".png");
  }
  Outcome train_on_images(const std::string& on_error) const {
    return train_on("{ImageFolder: {dir: " + (folder_ / "images") + ", color: gray}}", on_error);
  }

  static constexpr int kBroken = 5;
};

TEST_F(DamagedImage, ends_the_run_with_its_path) {
  const Outcome outcome = train_on_images("stop");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(last_line(outcome.err).find(image(kBroken)), std::string::npos) << outcome.err;
  EXPECT_NE(
      last_line(outcome.err)
          .find("; to skip such files, write the flow as {on_error: replace, flow: [...]} (or use skip)"),
      std::string::npos)
      << outcome.err;
}

TEST_F(DamagedImage, is_skipped_and_counted_if_the_config_says_so) {
  for (const std::string on_error : {"skip", "replace"}) {
    SCOPED_TRACE(on_error);
    std::filesystem::remove_all(run_folder("run"));
    const Outcome outcome = train_on_images(on_error);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    // The queue reads passes ahead, so it meets the file again.
    EXPECT_THAT(outcome.err,
                testing::ContainsRegex("data.train: [0-9]+ bad samples? (was|were) left out or replaced"));
    EXPECT_NE(content_of(run_folder("run") + "/bad_samples.txt").find(image(kBroken)), std::string::npos);
  }
}

}  // namespace
}  // namespace tpack::reliability
