#include "dataflow/image.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

TEST(Image, encoded_bytes_know_their_size_before_decoding) {
  const auto bytes = encode_jpeg(photo(40, 30));
  Image image;
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  image.header_known(Color::kRgb);
  EXPECT_TRUE(image.encoded());
  EXPECT_EQ(image.size(), (ImageSize{40, 30}));
  EXPECT_EQ(image.pixels().rows, 30);
  EXPECT_FALSE(image.encoded());
}

TEST(Image, decoding_a_region_makes_that_the_image) {
  const auto bytes = encode_png(photo(40, 30));
  Image image;
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  image.header_known(Color::kGray);
  image.decode({.region = {5, 6, 7, 8}});
  EXPECT_EQ(image.size(), (ImageSize{7, 8}));
  EXPECT_EQ(image.channels(), 1);
}

}  // namespace
}  // namespace tpack
