#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TEST(ImageFromFile, reads_files_and_patterns_in_order) {
  const TempFolder folder;
  for (const int size : {3, 5, 7}) folder.write(std::to_string(size) + ".png", encode_png(photo(size, 4)));
  folder.write("more/9.png", encode_png(photo(9, 4)));
  const DataFlow flow = folder.flow("[ImageFromFile: [more/9.png, '*.png']]");
  EXPECT_EQ(flow.spec().str(), "image uint8 [?, ?, 3]");
  Integers sizes;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) sizes.push_back(d.image(0).size().width);
  EXPECT_EQ(sizes, (Integers{9, 3, 5, 7}));
  EXPECT_EQ(flow.flow()->file_of({0, 1, 0}), folder.path("3.png"));
}

TEST(ImageFromFile, its_fingerprint_follows_the_files) {
  const TempFolder folder;
  folder.write("a.png", encode_png(photo(3, 3)));
  const auto fingerprint = [&] { return folder.flow("[ImageFromFile: ['*.png']]").fingerprint(); };
  const std::string one = fingerprint();
  EXPECT_EQ(fingerprint(), one);
  folder.write("b.png", encode_png(photo(3, 3)));
  EXPECT_NE(fingerprint(), one);
}

TEST(ImageFromFile, absent_files_are_errors) {
  const TempFolder folder;
  expect_errors([&](const std::string& files) { folder.flow("[ImageFromFile: " + files + "]").prepare(); },
                {{"[]", {"'files' is empty"}},
                 {"['*.jpg']", {"no file matches '*.jpg'"}},
                 {"[a.png]", {"a.png' does not exist"}}});
}

const live::Fields kImageFromFile("source", "ImageFromFile",
                                  {.values = {{"files", "[more/1.png]"}},
                                   .left_out = {{"color", "as in ImageFolder"},
                                                {"depth", "the same"},
                                                {"frames", "the same"},
                                                {"background", "the same"},
                                                {"upright", "the same"},
                                                {"max_megapixels", "the same"}},
                                   .build = [](const std::string& item) {
                                     const TempFolder folder;
                                     for (int i = 1; i < 9; ++i)
                                       folder.write("photos/" + std::to_string(i) + ".jpg",
                                                    encode_png(photo(i, 2)));
                                     folder.write("more/1.png", encode_png(photo(20, 2)));
                                     return content_of_flow("[" + item + "]", folder.path("flow.yaml"));
                                   }});

}  // namespace
}  // namespace tpack
