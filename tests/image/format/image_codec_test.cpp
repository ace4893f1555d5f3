#include "image/format/image_codec.h"

#include <algorithm>

#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"
#include "image/format/orientation.h"

namespace tpack {
namespace {

TEST(ImageCodec, rejects_what_is_not_an_image) {
  const Bytes text = {'h', 'e', 'l', 'l', 'o'};
  EXPECT_TRUE(fails([&] { read_image_header(text); }, {"text, not a JPEG, PNG, GIF"}));
  EXPECT_THROW(read_image_header({}), DataError);
}

TEST(ImageCodec, says_what_helps_against_formats_that_it_does_not_read) {
  using namespace std::string_literals;
  for (const auto& [bytes, name] :
       {std::pair("\0\0\0\x18"s + "ftypheic\0\0\0\0"s, "a HEIC image"),
        std::pair("\0\0\0\x1C"s + "ftypavif\0\0\0\0"s, "an AVIF image"),
        std::pair("\0\0\0\x0CjP  \r\n\x87\n"s, "a JPEG 2000 image"),
        std::pair("8BPS\0\x01\0\0"s, "a Photoshop image"), std::pair("%PDF-1.4\n"s, "a PDF document"),
        std::pair("<svg xmlns='http://www.w3.org/2000/svg'/>"s, "an SVG drawing"),
        std::pair("II+\0\x08\0\0\0"s, "a BigTIFF image")}) {
    const Bytes file(bytes.begin(), bytes.end());
    EXPECT_TRUE(fails([&] { read_image_header(file); }, {std::string(name) + ", not a JPEG", "convert it"}));
  }
}

TEST(ImageCodec, rejects_huge_images_by_their_header) {
  auto png = encode_png(photo(8, 8));
  png[16] = 0x7F;  // width, big endian
  EXPECT_TRUE(fails([&] { read_image_header(png); }, {"64 megapixels (max_megapixels)", "16384"}));
  auto jpeg = encode_jpeg(photo(8, 8));
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] != 0xFF || jpeg[i + 1] != 0xC0) continue;
    for (size_t k = 5; k < 9; ++k) jpeg[i + k] = 0xF0;  // height and width
  }
  EXPECT_TRUE(fails([&] { read_image_header(jpeg); }, {"61680x61680 pixels"}));
}

const GoldenClip& golden_clip(const std::string& name) {
  return *std::ranges::find(golden_clips(), name, &GoldenClip::name);
}

cv::Mat decoded_frames(const Bytes& file, const Region& region, int frames, int channels = 3,
                       Depth depth = Depth::k8) {
  cv::Mat out;
  const Box part = decode_image(file, {.region = region, .depth = depth, .frames = frames}, channels, out);
  EXPECT_EQ(part, (Box{0, 0, static_cast<double>(region.width), static_cast<double>(region.height)}));
  EXPECT_EQ(out.channels(), frames * channels);
  return out;
}

/// The channels of frame i.
cv::Mat frame_of(const cv::Mat& stacked, int i, int channels) {
  cv::Mat out(stacked.rows, stacked.cols, CV_MAKETYPE(stacked.depth(), channels));
  for (int c = 0; c < channels; ++c) {
    cv::Mat plane;
    cv::extractChannel(stacked, plane, i * channels + c);
    cv::insertChannel(plane, out, c);
  }
  return out;
}

TEST(ImageFrames, are_those_of_pillow) {
  for (const GoldenClip& clip : golden_clips()) {
    SCOPED_TRACE(clip.name);
    const int width = clip.frames[0].cols;
    const int height = clip.frames[0].rows;
    ASSERT_EQ(read_image_header(clip.file, {.frames = 3}), (ImageSize{width, height}));
    const int count = static_cast<int>(clip.frames.size());
    for (const int wanted : {2, 3, count, count + 2}) {
      const cv::Mat all = decoded_frames(clip.file, {0, 0, width, height}, wanted);
      const cv::Mat part = decoded_frames(clip.file, {2, 1, 6, 5}, wanted);
      const cv::Mat gray = decoded_frames(clip.file, {0, 0, width, height}, wanted, 1);
      for (int i = 0; i < wanted; ++i) {
        const cv::Mat& expected = clip.frames[static_cast<size_t>(i * count / wanted)];
        EXPECT_EQ(largest_difference(frame_of(all, i, 3), expected), 0) << i << " of " << wanted;
        EXPECT_EQ(largest_difference(frame_of(part, i, 3), expected(cv::Rect(2, 1, 6, 5))), 0);
        cv::Mat expected_gray;
        cv::cvtColor(expected, expected_gray, cv::COLOR_RGB2GRAY);
        EXPECT_LE(largest_difference(frame_of(gray, i, 1), expected_gray), 1);
      }
    }
  }
}

TEST(ImageFrames, may_be_transparent) {
  for (const GoldenClip& clip : golden_clips()) {
    SCOPED_TRACE(clip.name);
    const int count = static_cast<int>(clip.frames.size());
    DecodeRequest request{.region = {0, 0, clip.frames[0].cols, clip.frames[0].rows},
                          .frames = count,
                          .background = golden_background()};
    cv::Mat onto;
    decode_image(clip.file, request, 3, onto);
    const std::vector<cv::Mat>& expected = clip.onto.empty() ? clip.frames : clip.onto;
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(largest_difference(frame_of(onto, i, 3), expected[static_cast<size_t>(i)]), 0) << i;
    if (clip.rgba.empty()) continue;
    cv::Mat rgba;
    decode_image(clip.file, request, 4, rgba);
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(largest_difference(frame_of(rgba, i, 4), clip.rgba[static_cast<size_t>(i)]), 0) << i;
  }
}

TEST(ImageFrames, have_the_depth_that_is_requested) {
  const GoldenClip& clip = golden_clip("tiff_pages");
  const cv::Mat deep = decoded_frames(clip.file, {0, 0, 17, 13}, 3, 3, Depth::k16);
  const cv::Mat floats = decoded_frames(clip.file, {0, 0, 17, 13}, 3, 3, Depth::kFloat);
  for (int i = 0; i < 3; ++i) {
    cv::Mat expected;
    clip.frames[static_cast<size_t>(i)].convertTo(expected, CV_16U, 257);
    EXPECT_EQ(largest_difference(frame_of(deep, i, 3), expected), 0);
    clip.frames[static_cast<size_t>(i)].convertTo(expected, CV_32F);
    EXPECT_EQ(largest_difference(frame_of(floats, i, 3), expected), 0);
  }
}

/// Of one frame where a file could have several; turned upright, too.
TEST(ImageFrames, are_repeated) {
  for (const char* name : {"gif_plain", "tiff_turned", "tiff_rgb", "webp_lossless", "webp_turned"}) {
    const GoldenImage& image = golden_image(name);
    const cv::Mat all = decoded_frames(image.file, {0, 0, image.rgb.cols, image.rgb.rows}, 2);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(largest_difference(frame_of(all, i, 3), image.rgb), 0) << name;
  }
}

/// Where the directory of the last page says that there is no other one.
size_t end_of_pages(const Bytes& tiff) {
  const std::vector<uint32_t> directories = tiff_directories(tiff);
  const uint32_t last = directories.back();
  return last + 2 + size_t{12} * (tiff[last] + size_t{256} * tiff[last + 1]);
}

TEST(ImageFrames, name_what_is_wrong) {
  const auto error_with = [](const Bytes& file, int frames = 3) {
    return error_of([&] { decoded_frames(file, {0, 0, 17, 13}, frames); });
  };
  EXPECT_TRUE(says(error_with(golden_image("png_rgb").file), {"a PNG", "'frames' is 3", "frames: 1"}));
  Bytes tiff = golden_clip("tiff_pages").file;
  const size_t end = end_of_pages(tiff);
  tiff[end] = 8;
  EXPECT_THAT(error_with(tiff), testing::HasSubstr("damaged TIFF: "));
  std::copy_n(tiff.begin() + 4, 4, tiff.begin() + static_cast<ptrdiff_t>(end));
  EXPECT_EQ(error_with(tiff), "damaged TIFF: its pages are a loop");
  std::fill_n(tiff.begin() + static_cast<ptrdiff_t>(end), 4, uint8_t{0xFF});
  EXPECT_EQ(error_with(tiff), "damaged TIFF: a page begins outside of the file");
  tiff = golden_clip("tiff_pages").file;
  const uint32_t second = tiff_directories(tiff)[1];
  ASSERT_EQ(tiff[second + 2], 0) << "the field of the width, 256, is the first one";
  ASSERT_EQ(tiff[second + 3], 1);
  tiff[second + 10] = 16;
  EXPECT_EQ(error_with(tiff), "page 2 of 3: has 16x13 pixels, and the first page has 17x13");
  Bytes gif = golden_clip("gif_disposal_1").file;
  gif.resize(gif.size() - 20);
  EXPECT_EQ(error_with(gif), "damaged GIF: the file ends early");
  gif = golden_clip("gif_disposal_1").file;
  const Bytes square = {',', 1, 0, 1, 0, 7, 0, 6, 0};
  const auto place = std::search(gif.begin(), gif.end(), square.begin(), square.end());
  ASSERT_NE(place, gif.end());
  place[1] = 11;
  EXPECT_EQ(error_with(gif), "damaged GIF: a frame reaches beyond the canvas");
  Bytes webp = golden_clip("webp_lossless_frames").file;
  webp.resize(webp.size() - 20);
  EXPECT_THAT(error_with(webp), testing::HasSubstr("damaged WebP: "));
}

/// 64 megapixels are the limit of all frames together.
TEST(ImageFrames, have_a_limit) {
  Bytes file = golden_image("gif_plain").file;
  const Bytes side = {0xA0, 0x0F, 0xA0, 0x0F};  // 4000
  std::copy(side.begin(), side.end(), file.begin() + 6);
  EXPECT_EQ(read_image_header(file, {.frames = 4}), (ImageSize{4000, 4000}));
  EXPECT_TRUE(fails([&] { read_image_header(file, {.frames = 5}); }, {"4000x4000", "5 frames", "64 mega"}));
}

TEST(ImageFrames, of_truncated_files_are_errors) {
  for (const GoldenClip& clip : golden_clips()) {
    SCOPED_TRACE(clip.name);
    const Region all{0, 0, clip.frames[0].cols, clip.frames[0].rows};
    const int count = static_cast<int>(clip.frames.size());
    const cv::Mat whole = decoded_frames(clip.file, all, count);
    for (size_t size = 0; size < clip.file.size(); size += 1 + size / 40) {
      const Bytes cut(clip.file.begin(), clip.file.begin() + static_cast<ptrdiff_t>(size));
      try {
        read_image_header(cut, {.frames = count});
        EXPECT_EQ(largest_difference(decoded_frames(cut, all, count), whole), 0) << "cut to " << size;
      } catch (const DataError&) {
      }
    }
  }
}

TEST(ImageFrames, of_damaged_files_are_read_or_errors) {
  for (const GoldenClip& clip : golden_clips()) {
    SCOPED_TRACE(clip.name);
    mutate(clip.file, [](const Bytes& file, const Region& all, int64_t i) {
      return decoded_frames(file, all, static_cast<int>(2 + i % 5), i % 3 == 0 ? 1 : 3,
                            i % 2 == 0 ? Depth::k8 : Depth::kFloat);
    });
  }
}

}  // namespace
}  // namespace tpack
