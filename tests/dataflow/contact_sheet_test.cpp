#include "dataflow/contact_sheet.h"

#include "dataflow/flow_helpers.h"
#include "dataflow/format/image_codec.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

cv::Mat read_back(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const ImageSize size = read_image_header(bytes);
  cv::Mat out;
  decode_png(bytes, {.region = {0, 0, size.width, size.height}}, 3, out);
  return out;
}

TEST(ContactSheet, shows_samples_in_a_grid_with_their_labels) {
  const TempFolder folder;
  const TempFolder pictures;
  cv::Mat red(8, 8, CV_8UC3, cv::Scalar(250, 0, 0));
  pictures.write("a/1.png", encode_png(red));
  pictures.write("b/2.png", encode_png(photo(300, 200)));
  const DataFlow flow =
      make_flow(list({item("ImageFolder", {{"dir", pictures.path()}, {"shuffle", false}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 2, .columns = 2, .tile_pixels = 40});
  const cv::Mat sheet = read_back(folder.path("sheet.png"));
  ASSERT_EQ(sheet.size(), cv::Size(2 * 44 + 4, 40 + 16 + 4 + 4));
  EXPECT_EQ(sheet.at<cv::Vec3b>(20, 20), cv::Vec3b(250, 0, 0));
  EXPECT_EQ(sheet.at<cv::Vec3b>(0, 0), cv::Vec3b(255, 255, 255));
  double darkest = 255;
  cv::minMaxLoc(sheet(cv::Rect(4, 45, 40, 14)).reshape(1), &darkest, nullptr);
  EXPECT_LT(darkest, 100) << "the label is drawn below";
}

TEST(ContactSheet, unpacks_batches_that_are_no_bytes) {
  const TempFolder folder;
  const DataFlow flow =
      make_flow(list({item("RenderedDigits", {{"split", "test"}}), item("BatchData", {{"batch_size", 5}}),
                      item("MapData", {{"map", item("Scale", {{"scale", 0.01}})}})}));
  write_contact_sheet(flow, folder.path("sheet.png"), {.count = 7, .columns = 4, .tile_pixels = 28});
  EXPECT_EQ(read_back(folder.path("sheet.png")).cols, 4 * 32 + 4);
}

TEST(ContactSheet, needs_an_image) {
  EXPECT_EQ(error_of([] { write_contact_sheet(make_flow(list({item("Counting", 2)})), "/tmp/never.png"); }),
            "a contact sheet needs an image; the datapoints have k int64 [], pass int64 []");
}

}  // namespace
}  // namespace tpack
