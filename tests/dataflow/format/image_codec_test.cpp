#include "dataflow/format/image_codec.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

TEST(ImageCodec, rejects_what_is_not_an_image) {
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  EXPECT_EQ(error_of([&] { read_image_header(text); }),
            "text, not a JPEG, PNG, GIF, BMP, TIFF, WebP or PNM image");
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
    const std::vector<uint8_t> file(bytes.begin(), bytes.end());
    EXPECT_EQ(error_of([&] { read_image_header(file); }),
              std::string(name) +
                  ", not a JPEG, PNG, GIF, BMP, TIFF, WebP or PNM image; convert it to JPEG or PNG");
  }
}

TEST(ImageCodec, rejects_huge_images_by_their_header) {
  auto png = encode_png(photo(8, 8));
  png[16] = 0x7F;  // width, big endian
  EXPECT_THAT(error_of([&] { read_image_header(png); }),
              testing::HasSubstr("at most 64 megapixels and 16384 pixels per side"));
  auto jpeg = encode_jpeg(photo(8, 8));
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] != 0xFF || jpeg[i + 1] != 0xC0) continue;
    for (size_t k = 5; k < 9; ++k) jpeg[i + k] = 0xF0;  // height and width
  }
  EXPECT_THAT(error_of([&] { read_image_header(jpeg); }),
              testing::HasSubstr("an image of 61680x61680 pixels"));
}

TEST(ImageCodec, decodes_by_what_the_bytes_are) {
  for (const auto& bytes : {encode_png(photo(20, 10)), encode_jpeg(photo(20, 10))}) {
    EXPECT_EQ(read_image_header(bytes), (ImageSize{20, 10}));
    cv::Mat out;
    decode_image(bytes, {.region = {0, 0, 20, 10}}, 3, out);
    EXPECT_LT(largest_difference(out, photo(20, 10)), 40);
  }
}

}  // namespace
}  // namespace tpack
