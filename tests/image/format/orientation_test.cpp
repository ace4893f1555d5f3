#include "image/format/orientation.h"

#include <array>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "image/augment/antialias.h"
#include "image/format/image_codec.h"

namespace tpack {
namespace {

enum class Side : uint8_t { kTop, kRight, kBottom, kLeft };

/// Where the standard says that the first row and the first column of the stored pixels are to be seen.
struct Meaning {
  Side row;
  Side column;
};
constexpr std::array<Meaning, 8> kMeanings = {{{Side::kTop, Side::kLeft},
                                               {Side::kTop, Side::kRight},
                                               {Side::kBottom, Side::kRight},
                                               {Side::kBottom, Side::kLeft},
                                               {Side::kLeft, Side::kTop},
                                               {Side::kRight, Side::kTop},
                                               {Side::kRight, Side::kBottom},
                                               {Side::kLeft, Side::kBottom}}};

/// The picture as it is to be seen, pixel by pixel.
cv::Mat seen(const cv::Mat& stored, const Meaning& meaning) {
  const bool is_turned = meaning.row == Side::kLeft || meaning.row == Side::kRight;
  cv::Mat out(is_turned ? stored.cols : stored.rows, is_turned ? stored.rows : stored.cols, stored.type());
  for (int row = 0; row < stored.rows; ++row) {
    for (int column = 0; column < stored.cols; ++column) {
      int x = 0;
      int y = 0;
      const auto place = [&](Side side, int distance) {
        if (side == Side::kLeft) x = distance;
        if (side == Side::kRight) x = out.cols - 1 - distance;
        if (side == Side::kTop) y = distance;
        if (side == Side::kBottom) y = out.rows - 1 - distance;
      };
      place(meaning.row, row);
      place(meaning.column, column);
      out.at<cv::Vec3b>(y, x) = stored.at<cv::Vec3b>(row, column);
    }
  }
  return out;
}

cv::Mat decoded_upright(const Bytes& bytes, const Region& region) {
  cv::Mat out;
  decode_image(bytes, {.region = region}, 3, out);
  return out;
}

TEST(Orientation, turns_images_as_the_standard_says) {
  const cv::Mat stored = photo(37, 23);
  for (uint8_t value = 1; value <= 8; ++value) {
    const cv::Mat expected = seen(stored, kMeanings.at(value - 1U));
    for (const bool little : {false, true}) {
      const auto bytes = with_orientation(encode_png(stored), value, little);
      ASSERT_EQ(read_image_header(bytes), (ImageSize{expected.cols, expected.rows})) << int{value};
      const cv::Mat all = decoded_upright(bytes, {0, 0, expected.cols, expected.rows});
      ASSERT_EQ(all.size(), expected.size());
      EXPECT_EQ(largest_difference(all, expected), 0) << int{value};
      const cv::Mat part = decoded_upright(bytes, {3, 5, 11, 7});
      EXPECT_EQ(largest_difference(part, expected(cv::Rect(3, 5, 11, 7))), 0) << int{value};
    }
  }
}

TEST(Orientation, does_not_count_where_images_stay_as_stored) {
  const cv::Mat stored = photo(37, 23);
  for (uint8_t value = 1; value <= 8; ++value) {
    const auto bytes = with_orientation(encode_png(stored), value, true);
    ASSERT_EQ(read_image_header(bytes, {.upright = false}), (ImageSize{37, 23})) << int{value};
    cv::Mat part;
    decode_image(bytes, {.region = {3, 5, 11, 7}, .upright = false}, 3, part);
    EXPECT_EQ(largest_difference(part, stored(cv::Rect(3, 5, 11, 7))), 0) << int{value};
  }
}

/// Nothing but the orientation differs, also where a JPEG is decoded at a reduced size.
TEST(Orientation, of_jpegs_is_that_of_pngs) {
  const auto upright = encode_jpeg(photo(203, 151));
  const cv::Mat stored = decoded_upright(upright, {0, 0, 203, 151});
  for (uint8_t value = 1; value <= 8; ++value) {
    const auto resized = [&](const Bytes& bytes) {
      const ImageSize size = read_image_header(bytes);
      cv::Mat out;
      const DecodeRequest request{.region = {3, 1, size.width - 6, size.height - 4}, .shrinks_by = 4.5};
      const Box part = decode_image(bytes, request, 3, out);
      return resize_smoothly(out, part, {20, 30}, {0, 0, 20, 30}, Interpolation::kLinear);
    };
    const cv::Mat a = resized(with_orientation(upright, value, true));
    const cv::Mat b = resized(with_orientation(encode_png(stored), value, true));
    EXPECT_LE(cv::norm(a, b, cv::NORM_L1) / static_cast<double>(a.total() * 3), 1) << int{value};
  }
}

TEST(Orientation, is_upright_where_exif_data_are_missing_or_damaged) {
  for (const auto& plain : {encode_jpeg(photo(20, 10)), encode_png(photo(20, 10))}) {
    EXPECT_TRUE(read_orientation(plain).upright());
    for (const uint8_t unknown : {uint8_t{0}, uint8_t{9}, uint8_t{255}})
      EXPECT_TRUE(read_orientation(with_orientation(plain, unknown, true)).upright());
    const auto turned = with_orientation(plain, 6, false);
    EXPECT_FALSE(read_orientation(turned).upright());
    for (size_t size = 3; size < 80; ++size) {
      auto bad = turned;
      bad[size] = static_cast<uint8_t>(~bad[size]);
      read_orientation(bad);  // within the bytes, which sanitizers check
      bad = turned;
      bad.resize(size);
      read_orientation(bad);
    }
  }
}

/// A number of 32 bits counts, too; other tags, several numbers, and what is no TIFF structure do not.
TEST(Orientation, is_one_number_of_a_tiff_structure) {
  const auto plain = encode_jpeg(photo(9, 7));
  const auto turned = with_orientation(plain, 6, true);
  constexpr size_t kTiff = 12;           // after the start, the length and "Exif"
  constexpr size_t kEntry = kTiff + 10;  // after the header and the number of entries
  const auto is_upright_with = [&turned](size_t at, uint8_t value) {
    auto changed = turned;
    changed[at] = value;
    return read_orientation(changed).upright();
  };
  EXPECT_FALSE(is_upright_with(kEntry + 2, 4));
  EXPECT_TRUE(is_upright_with(kEntry + 2, 1));
  EXPECT_TRUE(is_upright_with(kEntry + 4, 2));
  EXPECT_TRUE(is_upright_with(kTiff + 3, 32));
}

/// As libjpeg looks for the next segment.
TEST(Orientation, is_found_behind_bytes_between_segments) {
  auto file = with_orientation(encode_jpeg(photo(9, 7)), 6, true);
  const Bytes more = {0xFF, 1, 7, 0xFF, 0, 0xFF, 0xD0, 9};
  file.insert(file.begin() + 2, more.begin(), more.end());
  EXPECT_FALSE(read_orientation(file).upright());
  EXPECT_EQ(read_image_header(file), (ImageSize{7, 9}));
}

}  // namespace
}  // namespace tpack
