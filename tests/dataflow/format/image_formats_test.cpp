#include "dataflow/format/image_formats.h"

#include <cstring>

#include "dataflow/flow_helpers.h"
#include "dataflow/format/image_codec.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

cv::Mat decoded_image(const std::vector<uint8_t>& file, const Region& region, int channels = 3,
                      Depth depth = Depth::k8) {
  cv::Mat out;
  const Box part = decode_image(file, {.region = region, .depth = depth}, channels, out);
  EXPECT_EQ(part, (Box{0, 0, static_cast<double>(region.width), static_cast<double>(region.height)}));
  return out;
}

/// Calls `test` for each golden image; failures have its name.
template <class Test>
void for_each_golden_image(Test&& test) {
  for (const GoldenImage& image : golden_images()) {
    SCOPED_TRACE(image.name);
    test(image);
  }
}

const std::vector<uint8_t>& golden_file(const std::string& name) { return golden_image(name).file; }

TEST(ImageFormats, give_the_pixels_of_pillow) {
  for_each_golden_image([](const GoldenImage& image) {
    const ImageSize size = read_image_header(image.file);
    ASSERT_EQ(size, (ImageSize{image.rgb.cols, image.rgb.rows}));
    const Region all{0, 0, size.width, size.height};
    const cv::Mat rgb = decoded_image(image.file, all);
    ASSERT_EQ(rgb.type(), CV_8UC3);
    EXPECT_LE(largest_difference(rgb, image.rgb), image.off_by);
    const cv::Mat gray = decoded_image(image.file, all, 1);
    ASSERT_EQ(gray.type(), CV_8UC1);
    const double rounding = image.off_by > 0 ? image.off_by + 4 : 1;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const cv::Vec3b color = image.rgb.at<cv::Vec3b>(y, x);
        EXPECT_NEAR(gray.at<uint8_t>(y, x), 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2], rounding);
      }
    }
  });
}

TEST(ImageFormats, give_regions_of_the_whole) {
  for_each_golden_image([](const GoldenImage& image) {
    const int width = image.rgb.cols;
    const int height = image.rgb.rows;
    const cv::Mat whole = decoded_image(image.file, {0, 0, width, height});
    for (const Region& r : {Region{1, 2, width - 3, height - 3}, Region{width - 1, height - 1, 1, 1},
                            Region{0, height / 2, width, 1}}) {
      const cv::Mat part = decoded_image(image.file, r);
      // Of a part of a JPEG, the colors at its edges are interpolated from other pixels.
      EXPECT_LE(largest_difference(part, whole(cv::Rect(r.x, r.y, r.width, r.height))),
                image.off_by > 0 ? 2 : 0);
    }
  });
}

TEST(ImageFormats, have_16_bits_where_the_file_has_them) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const ImageFormat* const format = image_format_of(image.file);
    EXPECT_EQ(format->is_deep != nullptr && format->is_deep(image.file), !image.deep.empty());
    if (image.deep.empty()) {
      cv::Mat spread;
      decoded_image(image.file, all).convertTo(spread, CV_16U, 257);
      EXPECT_EQ(largest_difference(decoded_image(image.file, all, 3, Depth::k16), spread), 0);
    } else {
      const cv::Mat out = decoded_image(image.file, all, image.deep.channels(), Depth::k16);
      ASSERT_EQ(out.type(), image.deep.type());
      EXPECT_EQ(largest_difference(out, image.deep), 0);
    }
  });
}

TEST(ImageFormats, have_their_own_numbers_as_floats) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const int channels = image.deep.empty() ? 3 : image.deep.channels();
    const cv::Mat pixels =
        decoded_image(image.file, all, channels, image.deep.empty() ? Depth::k8 : Depth::k16);
    cv::Mat expected;
    pixels.convertTo(expected, CV_32F);
    const cv::Mat out = decoded_image(image.file, all, channels, Depth::kFloat);
    ASSERT_EQ(out.type(), expected.type());
    EXPECT_EQ(largest_difference(out, expected), 0);
  });
}

TEST(ImageFormats, have_the_numbers_of_float_tiffs) {
  for (const GoldenNumbers& one : golden_numbers()) {
    SCOPED_TRACE(one.name);
    const Region all{0, 0, one.values.cols, one.values.rows};
    const cv::Mat out = decoded_image(one.file, all, one.values.channels(), Depth::kFloat);
    ASSERT_EQ(out.type(), one.values.type());
    EXPECT_EQ(std::memcmp(out.data, one.values.data, out.total() * out.elemSize()), 0);
    const Region part{3, 2, 9, 8};
    EXPECT_EQ(largest_difference(decoded_image(one.file, part, one.values.channels(), Depth::kFloat),
                                 one.values(cv::Rect(3, 2, 9, 8))),
              0);
    EXPECT_FALSE(image_format_of(one.file)->is_deep(one.file)) << "no bits are lost: it is rejected";
    for (const Depth depth : {Depth::k8, Depth::k16})
      EXPECT_THAT(error_of([&] { decoded_image(one.file, all, 1, depth); }),
                  testing::HasSubstr("pixels, which only 'depth: float' of a source of images reads"));
  }
}

/// The last bytes of some formats are not pixels: the end of the last chunk, an index, further pages.
TEST(ImageFormats, truncated_files_are_errors) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const cv::Mat whole = decoded_image(image.file, all);
    for (size_t size = 0; size < image.file.size(); size += 1 + size / 40) {
      const std::vector<uint8_t> cut(image.file.begin(), image.file.begin() + static_cast<ptrdiff_t>(size));
      try {
        ASSERT_EQ(read_image_header(cut), (ImageSize{all.width, all.height}));
        EXPECT_EQ(largest_difference(decoded_image(cut, all), whole), 0)
            << "cut to " << size << " of " << image.file.size();
      } catch (const DataError&) {
      }
    }
  });
}

TEST(ImageFormats, damaged_files_give_an_image_or_an_error) {
  for_each_golden_image([](const GoldenImage& image) {
    mutate(image.file, [](const std::vector<uint8_t>& file, const Region& all, int i) {
      return decoded_image(file, all, i % 3 == 0 ? 1 : 3, i % 2 == 0 ? Depth::k8 : Depth::k16);
    });
  });
  for (const GoldenNumbers& one : golden_numbers()) {
    SCOPED_TRACE(one.name);
    mutate(one.file, [](const std::vector<uint8_t>& file, const Region& all, int i) {
      return decoded_image(file, all, i % 3 == 0 ? 1 : 3, Depth::kFloat);
    });
  }
}

TEST(ImageFormat, is_known_by_its_content) {
  for (const GoldenImage& image : golden_images()) {
    std::string name(image_format_of(image.file)->name);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_EQ(name, image.name.substr(0, image.name.find('_')));
  }
}

TEST(ImageFormat, is_guessed_from_the_ending_of_a_name) {
  EXPECT_EQ(image_format_of_name("a/b.TIF")->name, "TIFF");
  EXPECT_EQ(image_format_of_name("b.ppm")->name, "PNM");
  for (const char* name : {"b", "b.", ".gif", "gif", "b.heic"})
    EXPECT_EQ(image_format_of_name(name), nullptr) << name;
}

TEST(ImageFormat, has_names_for_messages) {
  EXPECT_EQ(image_format_names(), "JPEG, PNG, GIF, BMP, TIFF, WebP or PNM");
  EXPECT_EQ(image_file_endings(),
            ".jpg, .jpeg, .png, .gif, .bmp, .tif, .tiff, .webp, .pbm, .pgm, .ppm or .pnm");
}

/// 70000 x 70000 pixels, in each format that can say so.
TEST(ImageFormat, rejects_huge_images_by_their_header) {
  const auto error_with = [](const std::string& name, size_t at, const std::vector<uint8_t>& bytes) {
    std::vector<uint8_t> file = golden_file(name);
    std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
    return error_of([&] { read_image_header(file); });
  };
  const std::string limit = "at most 64 megapixels and 16384 pixels per side";
  EXPECT_THAT(error_with("bmp_rgb", 18, {0x70, 0x11, 1, 0}), testing::HasSubstr(limit));
  EXPECT_THAT(error_with("gif_plain", 6, {0xFF, 0xFF, 0xFF, 0xFF}), testing::HasSubstr(limit));
  EXPECT_THAT(error_with("pnm_rgb", 3, {'9', '9', '9', '9', '9', '\n', '9', '\n', '9', '\n'}),
              testing::HasSubstr(limit));
}

TEST(ImageFormat, damage_is_named) {
  const auto error_with = [](const std::string& name, size_t bytes) {
    std::vector<uint8_t> file = golden_file(name);
    file.resize(file.size() - bytes);
    return error_of([&] { decoded_image(file, {0, 0, 17, 13}); });
  };
  EXPECT_EQ(error_with("bmp_rgb", 20), "damaged BMP: the file ends early");
  EXPECT_EQ(error_with("gif_plain", 20), "damaged GIF: the file ends early");
  EXPECT_EQ(error_with("pnm_rgb", 1), "damaged PNM: the file ends early");
  EXPECT_EQ(error_with("webp_lossy", 1), "damaged WebP: the file ends early");
  EXPECT_THAT(error_with("tiff_lzw", 20), testing::HasSubstr("damaged TIFF: "));
}

TEST(ImageFormat, floats_must_be_finite) {
  const GoldenNumbers& gray = golden_numbers().front();
  const auto error_with = [&](std::array<uint8_t, 4> value) {
    std::vector<uint8_t> file = gray.file;
    std::copy(value.begin(), value.end(), file.begin() + 8 + 4 * (3 * 17 + 5));
    return error_of([&] { decoded_image(file, {4, 1, 10, 10}, 1, Depth::kFloat); });
  };
  EXPECT_EQ(error_with({0, 0, 0xC0, 0x7F}),
            "a TIFF with the value NaN at pixel (5, 3); pixels must be finite numbers of float32");
  EXPECT_EQ(error_with({0, 0, 0x80, 0xFF}),
            "a TIFF with the value infinity at pixel (5, 3); pixels must be finite numbers of float32");
}

TEST(ImageFormat, tiffs_of_other_numbers_are_rejected) {
  std::vector<uint8_t> file = golden_file("tiff_gray_16");
  // The last field, samples per pixel, becomes the format of the samples; there is one sample without it,
  // too.
  const std::vector<uint8_t> samples = {0x15, 1, 3, 0, 1, 0, 0, 0, 1, 0};
  auto field = std::search(file.begin(), file.end(), samples.begin(), samples.end());
  ASSERT_NE(field, file.end());
  *field = 0x53;
  field[8] = 5;
  EXPECT_EQ(error_of([&] {
              decoded_image(file, {0, 0, 17, 13});
            }),
            "a TIFF of complex or unknown pixels, which is not supported; convert it to JPEG or PNG");
}

}  // namespace
}  // namespace tpack
