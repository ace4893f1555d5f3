#include "image/format/image_formats.h"

#include <cstring>

#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/golden_images.h"
#include "dataflow/test_images.h"
#include "image/format/image_codec.h"
#include "image/format/stored_pixels.h"

namespace tpack {
namespace {

cv::Mat decoded_image(const Bytes& file, const Region& region, int channels = 3, Depth depth = Depth::k8) {
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

const Bytes& golden_file(const std::string& name) { return golden_image(name).file; }

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

cv::Mat put_onto_background(const Bytes& file, const Region& region, int channels, Depth depth = Depth::k8) {
  cv::Mat out;
  decode_image(file, {.region = region, .depth = depth, .background = golden_background()}, channels, out);
  return out;
}

TEST(ImageFormats, put_transparent_pixels_onto_the_background_as_pillow_does) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const cv::Mat out = put_onto_background(image.file, all, 3);
    ASSERT_EQ(out.type(), CV_8UC3);
    if (image.onto.empty())
      EXPECT_EQ(largest_difference(out, decoded_image(image.file, all)), 0) << "has its bits";
    else
      EXPECT_LE(largest_difference(out, image.onto), image.off_by);
    EXPECT_EQ(shows_background(image.file), !image.onto.empty());
    const Region part{1, 2, all.width - 3, all.height - 3};
    EXPECT_LE(largest_difference(put_onto_background(image.file, part, 3),
                                 out(cv::Rect(1, 2, part.width, part.height))),
              image.off_by > 0 ? 2 : 0);
    const cv::Mat gray = put_onto_background(image.file, all, 1);
    ASSERT_EQ(gray.type(), CV_8UC1);
    const cv::Point middle(out.cols / 2, out.rows / 2);
    const auto color = out.at<cv::Vec3b>(middle);
    EXPECT_NEAR(gray.at<uint8_t>(middle), 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2],
                image.off_by > 0 ? 5 : 1);
  });
}

TEST(ImageFormats, have_transparency_as_a_fourth_channel) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const cv::Mat out = put_onto_background(image.file, all, 4);
    ASSERT_EQ(out.type(), CV_8UC4);
    cv::Mat expected = image.rgba;
    if (expected.empty()) cv::cvtColor(decoded_image(image.file, all), expected, cv::COLOR_RGB2RGBA);
    EXPECT_LE(largest_difference(out, expected), image.off_by);
    if (!image.deep.empty()) return;
    cv::Mat spread;
    out.convertTo(spread, CV_16U, 257);
    EXPECT_EQ(largest_difference(put_onto_background(image.file, all, 4, Depth::k16), spread), 0);
  });
}

/// 65535 * a + 257 * b * (65535 - a), over 65535.
TEST(StoredPixels, of_16_bits_are_put_onto_the_background_in_16_bits) {
  cv::Mat stored(1, 3, CV_16UC4);
  stored.at<cv::Vec4w>(0, 0) = {1000, 20000, 65535, 0};
  stored.at<cv::Vec4w>(0, 1) = {1000, 20000, 65535, 65535};
  stored.at<cv::Vec4w>(0, 2) = {1000, 20000, 65535, 13107};  // a fifth
  cv::Mat out;
  give_pixels(stored, {.depth = Depth::k16, .background = Background{{0, 100, 255}}}, 3, out);
  EXPECT_EQ(out.at<cv::Vec3w>(0, 0), cv::Vec3w(0, 25700, 65535));
  EXPECT_EQ(out.at<cv::Vec3w>(0, 1), cv::Vec3w(1000, 20000, 65535));
  EXPECT_EQ(out.at<cv::Vec3w>(0, 2), cv::Vec3w(200, 24560, 65535));
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
      EXPECT_TRUE(fails([&] { decoded_image(one.file, all, 1, depth); }, {"set depth: float"}));
  }
}

/// The last bytes of some formats are not pixels: the end of the last chunk, an index, further pages.
TEST(ImageFormats, truncated_files_are_errors) {
  for_each_golden_image([](const GoldenImage& image) {
    const Region all{0, 0, image.rgb.cols, image.rgb.rows};
    const cv::Mat whole = decoded_image(image.file, all);
    for (size_t size = 0; size < image.file.size(); size += 1 + size / 40) {
      const Bytes cut(image.file.begin(), image.file.begin() + static_cast<ptrdiff_t>(size));
      try {
        ASSERT_EQ(read_image_header(cut), (ImageSize{all.width, all.height}));
        EXPECT_EQ(largest_difference(decoded_image(cut, all), whole), 0)
            << "cut to " << size << " of " << image.file.size();
      } catch (const DataError&) {
      }
    }
  });
}

/// How many changed files to try of each golden file: 300, or TPACK_MUTATIONS of each format together; a
/// million of each were tried once (bench/RESULTS.md).
std::map<std::string_view, int64_t> mutations_of_each_file() {
  std::map<std::string_view, int64_t> rounds;
  for (const GoldenImage& image : golden_images()) ++rounds[image_format_of(image.file)->name];
  const char* const wanted = std::getenv("TPACK_MUTATIONS");
  for (auto& [name, files] : rounds) files = wanted == nullptr ? 300 : std::atoll(wanted) / files + 1;
  return rounds;
}

TEST(ImageFormats, damaged_files_give_an_image_or_an_error) {
  auto rounds = mutations_of_each_file();
  for_each_golden_image([&rounds](const GoldenImage& image) {
    mutate(
        image.file,
        [](const Bytes& file, const Region& all, int64_t i) {
          if (i % 5 == 0) return put_onto_background(file, all, i % 10 == 0 ? 4 : 3);
          return decoded_image(file, all, i % 3 == 0 ? 1 : 3, i % 2 == 0 ? Depth::k8 : Depth::k16);
        },
        rounds.at(image_format_of(image.file)->name));
  });
  for (const GoldenNumbers& one : golden_numbers()) {
    SCOPED_TRACE(one.name);
    mutate(one.file, [](const Bytes& file, const Region& all, int64_t i) {
      return decoded_image(file, all, i % 3 == 0 ? 1 : 3, Depth::kFloat);
    });
  }
}

cv::Mat all_pixels(const Bytes& file) { return decoded_image(file, {0, 0, 17, 13}); }

/// Writes bytes into a golden file.
Bytes golden_file_with(const std::string& name, size_t at, const Bytes& bytes) {
  Bytes file = golden_file(name);
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
  return file;
}

std::string error_of_pixels(const Bytes& file) {
  return error_of([&] { all_pixels(file); });
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
  const auto error_with = [](const std::string& name, size_t at, const Bytes& bytes) {
    Bytes file = golden_file(name);
    std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
    return error_of([&] { read_image_header(file, {.frames = 4}); });
  };
  const std::string limit = "at most 64 megapixels (max_megapixels) and 16384 pixels per side";
  EXPECT_THAT(error_with("bmp_rgb", 18, {0x70, 0x11, 1, 0}), testing::HasSubstr(limit));
  EXPECT_THAT(error_with("gif_plain", 6, {0xFF, 0xFF, 0xFF, 0xFF}), testing::HasSubstr(limit));
  EXPECT_THAT(error_with("pnm_rgb", 3, {'9', '9', '9', '9', '9', '\n', '9', '\n', '9', '\n'}),
              testing::HasSubstr(limit));
  EXPECT_THAT(error_with("bmp_rgb", 18, {0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F}),
              testing::HasSubstr("2147483647x2147483647"));
}

TEST(ImageFormat, damage_is_named) {
  const auto error_with = [](const std::string& name, size_t bytes) {
    Bytes file = golden_file(name);
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
    Bytes file = gray.file;
    std::copy(value.begin(), value.end(), file.begin() + 8 + 4 * (3 * 17 + 5));
    return error_of([&] { decoded_image(file, {4, 1, 10, 10}, 1, Depth::kFloat); });
  };
  EXPECT_TRUE(says(error_with({0, 0, 0xC0, 0x7F}), {"a TIFF", "NaN at pixel (5, 3)", "must be finite"}));
  EXPECT_TRUE(says(error_with({0, 0, 0x80, 0xFF}), {"infinity at pixel (5, 3)"}));
}

TEST(ImageFormat, tiffs_of_other_numbers_are_rejected) {
  Bytes file = golden_file("tiff_gray_16");
  // The last field, samples per pixel, becomes the format of the samples; there is one sample without it,
  // too.
  const Bytes samples = {0x15, 1, 3, 0, 1, 0, 0, 0, 1, 0};
  auto field = std::search(file.begin(), file.end(), samples.begin(), samples.end());
  ASSERT_NE(field, file.end());
  *field = 0x53;
  field[8] = 5;
  EXPECT_TRUE(says(error_of_pixels(file), {"a TIFF of complex or unknown pixels", "convert it"}));
}

TEST(ImageFormat, bmps_of_24_bits_may_have_the_header_of_os_2) {
  Bytes file = golden_file("bmp_rgb");
  const Bytes header = {12, 0, 0, 0, 17, 0, 13, 0, 1, 0, 24, 0};
  file.erase(file.begin() + 14, file.begin() + 54);
  file.insert(file.begin() + 14, header.begin(), header.end());
  file[10] = 26;  // where the pixels begin
  EXPECT_EQ(largest_difference(all_pixels(file), all_pixels(golden_file("bmp_rgb"))), 0);
}

TEST(ImageFormat, bmps_may_place_their_pixels_wrongly) {
  constexpr size_t kPlace = 10;
  EXPECT_EQ(largest_difference(all_pixels(golden_file_with("bmp_rgb", kPlace, {0})),
                               all_pixels(golden_file("bmp_rgb"))),
            0);
  for (const uint8_t place : std::array<uint8_t, 2>{0, 54})  // 54: without room for the colors
    EXPECT_EQ(largest_difference(all_pixels(golden_file_with("bmp_palette_4", kPlace, {place})),
                                 all_pixels(golden_file("bmp_palette_4"))),
              0);
  EXPECT_TRUE(says(error_of_pixels(golden_file_with("bmp_rgb", kPlace, {20})), {"pixels within the header"}));
  EXPECT_TRUE(says(error_of_pixels(golden_file_with("bmp_palette_4", kPlace, {58})), {"the palette"}));
}

TEST(ImageFormat, gif_codes_that_are_not_defined_are_errors) {
  Bytes file = golden_file("gif_plain");
  const auto frame = std::find(file.begin() + 61, file.end(), ',');
  const auto codes =
      frame + 12;  // after the description, the bits of a color (8) and the length of the block
  codes[0] = 0;    // 256, which begins; 511, which no code defines yet; 9 bits each
  codes[1] = 0xFF;
  codes[2] |= 3U;
  EXPECT_EQ(error_of_pixels(file), "damaged GIF: an undefined code");
  codes[1] = 3;  // 257, the end
  codes[2] = 2;
  EXPECT_EQ(error_of_pixels(file), "damaged GIF: too few pixels");
  frame[10] = 1;
  EXPECT_EQ(error_of_pixels(file), "damaged GIF: codes of less than 3 bits");
}

TEST(ImageFormat, parts_of_a_tiff_that_are_missing_are_errors) {
  // The value of a field of 12 bytes: rows per strip; libtiff then expects several strips.
  const auto with_value = [](const std::string& name, uint8_t tag, uint8_t value) {
    Bytes file = golden_file(name);
    const Bytes start = {tag, 1, 3, 0, 1, 0, 0, 0};
    const auto field = std::search(file.begin(), file.end(), start.begin(), start.end());
    EXPECT_NE(field, file.end());
    field[8] = value;
    return file;
  };
  constexpr uint8_t kRows = 0x16;
  for (const char* name : {"tiff_gray_16", "tiff_ycbcr"})
    EXPECT_TRUE(says(error_of_pixels(with_value(name, kRows, 5)), {"damaged TIFF: a part"})) << name;
  constexpr uint8_t kHeight = 1;
  const auto lower = with_value("tiff_adobe_deflate", kHeight, 5);  // 13 rows are in its strip
  EXPECT_TRUE(fails([&] { decoded_image(lower, {0, 0, 17, 5}); }, {"its data are not valid"}));
  constexpr uint8_t kMeaning = 6;
  Bytes unclear = with_value("tiff_gray_16", kMeaning, 1);
  const Bytes start = {kMeaning, 1, 3, 0, 1, 0, 0, 0};
  *std::search(unclear.begin(), unclear.end(), start.begin(), start.end()) = 7;
  EXPECT_THAT(error_of([&] { read_image_header(unclear); }), testing::HasSubstr("PhotometricInterpretation"));
}

/// Of the last strip, some programs write all rows that a strip has, more than the image.
TEST(ImageFormat, the_last_strip_of_a_tiff_may_be_longer) {
  Bytes file = golden_file("tiff_rgb_16");  // strips of 8 rows
  const Bytes height = {1, 1, 0, 3, 0, 0, 0, 1, 0, 13};
  const auto field = std::search(file.begin(), file.end(), height.begin(), height.end());
  ASSERT_NE(field, file.end());
  field[9] = 10;
  const cv::Mat whole = all_pixels(golden_file("tiff_rgb_16"));
  EXPECT_EQ(largest_difference(decoded_image(file, {0, 0, 17, 10}), whole.rowRange(0, 10)), 0);
}

TEST(ImageFormat, chunks_of_a_webp_have_to_fit) {
  constexpr size_t kLength = 34;  // of the pixels, the second chunk
  Bytes file = golden_file("webp_turned");
  EXPECT_FALSE(read_image_header(file) == (ImageSize{17, 13}));
  EXPECT_EQ(read_image_header(golden_file_with("webp_turned", 20, {0})), (ImageSize{17, 13}))
      << "no flag of Exif";
  file[kLength] = static_cast<uint8_t>(file[kLength] - 2);
  EXPECT_EQ(error_of([&] { read_image_header(file); }), "damaged WebP: the lengths of its chunks do not fit");
}

TEST(ImageFormat, numbers_of_a_pnm_end_with_a_space) {
  Bytes file = golden_file("pnm_plain_gray");
  file.back() = 'x';
  EXPECT_THAT(error_of_pixels(file), testing::HasSubstr("damaged PNM: a number that does not end at byte"));
}

}  // namespace
}  // namespace tpack
