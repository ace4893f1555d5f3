#include "image/image.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

TEST(Image, files_are_known_by_their_ending) {
  for (const char* path : {"a/b.jpg", "b.JPEG", "a.b.Png", "c.webp", "c.TIFF"})
    EXPECT_TRUE(is_image_file(path)) << path;
  for (const char* path : {"a.jpg/b", "jpg", "a.jpg.txt", ".png"}) EXPECT_FALSE(is_image_file(path)) << path;
}

TEST(Image, encoded_bytes_know_their_size_before_decoding) {
  const auto bytes = encode_jpeg(photo(40, 30));
  Image image;
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  image.header_known({Color::kRgb});
  EXPECT_TRUE(image.encoded());
  EXPECT_EQ(image.size(), (ImageSize{40, 30}));
  EXPECT_EQ(image.pixels().rows, 30);
  EXPECT_FALSE(image.encoded());
}

TEST(Image, decoding_a_region_makes_that_the_image) {
  const auto bytes = encode_png(photo(40, 30));
  Image image;
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  image.header_known({Color::kGray});
  image.decode({.region = {5, 6, 7, 8}});
  EXPECT_EQ(image.size(), (ImageSize{7, 8}));
  EXPECT_EQ(image.channels(), 1);
}

TEST(Image, damaged_bytes_are_reported_with_their_file) {
  auto bytes = encode_png(photo(40, 30));
  bytes.resize(bytes.size() / 2);
  Image image;
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  image.header_known({Color::kRgb}, "a/1.png");
  EXPECT_EQ(error_of([&] { image.pixels(); }), "a/1.png: damaged PNG: the file ends early");
  image.encoded_buffer(3);
  EXPECT_TRUE(fails([&] { image.header_known({Color::kRgb}, "a/2.png"); }, {"a/2.png: not a JPEG"}));
}

}  // namespace
}  // namespace tpack
