#include <cstdlib>

#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The edges of each person, by columns.
Bytes drawings(const std::vector<int32_t>& shape, const Rows& people) {
  const MatWriter mat;
  std::vector<std::string> cells;
  for (const Numbers& edges : people)
    cells.push_back(mat.structure("", {"Segmentation", "Boundaries"},
                                  {mat.numbers("", shape, edges), mat.numbers("", shape, edges, true)}));
  return mat_file({mat.cell("groundTruth", cells)}, true);
}

const Rows kThreePeople = {{0, 1, 1, 0, 0, 1}, {0, 1, 0, 0, 0, 0}, {0, 1, 1, 0, 0, 0}};

TEST(Bsds500, gives_the_share_of_the_people_who_drew_an_edge) {
  const TempFolder folder;
  const std::string data = "bsds500/BSR/BSDS500/data/";
  folder.write(data + "images/train/7.jpg", encode_png(photo(3, 2)));
  folder.write_text(data + "images/train/Thumbs.db", "");
  folder.write(data + "groundTruth/train/7.mat", drawings({2, 3}, kThreePeople));
  const DataFlow flow = folder.flow("[BSDS500: {dir: .}]");
  EXPECT_EQ(flow.spec()[1].name, "edges");
  Datapoint d = first_sample(flow);
  EXPECT_EQ(d.to_tensor(0).shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(d.to_tensor(1).shape(), (Shape{2, 3, 1}));
  const auto edges = d.to_tensor(1).span<float>();
  const std::vector<float> by_rows = {0, 2.F / 3, 0, 1, 0, 1.F / 3};
  EXPECT_EQ(std::vector<float>(edges.begin(), edges.end()), by_rows);
  Datapoint flipped =
      first_sample(folder.flow("[BSDS500: {dir: .}, AugmentImageComponents: {augmentors: [Flip: {prob: 1}], "
                               "components: [image, edges]}]"));
  EXPECT_EQ(flipped.to_tensor(1).at(1), by_rows[1]);
  EXPECT_EQ(flipped.to_tensor(1).at(3), by_rows[5]);
}

TEST(Bsds500, may_transpose_high_images) {
  const TempFolder folder;
  folder.write("test/7.jpg", encode_png(photo(2, 3)));
  folder.write("test/7.mat", drawings({3, 2}, {{0, 1, 0, 0, 0, 1}}));
  Datapoint d = first_sample(folder.flow("[BSDS500: {dir: ., split: test, landscape: true}]"));
  EXPECT_EQ(d.to_tensor(0).shape(), (Shape{2, 3, 3}));
  const auto edges = d.to_tensor(1).span<float>();
  EXPECT_EQ(std::vector<float>(edges.begin(), edges.end()), (std::vector<float>{0, 1, 0, 0, 0, 1}));
}

TEST(Bsds500, names_what_is_wrong) {
  const TempFolder folder;
  const auto error = [&] { return error_of([&] { first_sample(folder.flow("[BSDS500: {dir: .}]")); }); };
  EXPECT_TRUE(says(error(), {"dataset bsds500: BSR/BSDS500/data/images/train/ or ", "not found",
                             "https://www2.eecs.berkeley.edu/", "tpack data fetch BSDS500"}));
  folder.write("train/7.jpg", encode_png(photo(3, 2)));
  EXPECT_TRUE(says(error(), {"train/: has no .mat file for 7.jpg (1 of 1 images)"}));
  folder.write("train/7.mat", drawings({3, 2}, kThreePeople));
  EXPECT_TRUE(says(error(), {"7.mat: has edges of 2x3 pixels, but its image has 3x2"}));
  folder.write("train/7.mat", mat_file({MatWriter().numbers("x", {1, 1}, {1})}));
  EXPECT_TRUE(says(error(), {"7.mat: is a MAT file with 'x' double [1, 1]; edges are a cell array"}));
}

TEST(Bsds500, the_real_files_are_read) {
  const char* const datasets = std::getenv("TPACK_DATASET");
  if (datasets == nullptr || !std::filesystem::exists(std::string(datasets) + "/bsds500"))
    GTEST_SKIP() << "TPACK_DATASET has no bsds500/";
  const DataFlow flow = yaml_flow("[BSDS500: {landscape: true}]");
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    EXPECT_EQ(d.to_tensor(0).shape(), (Shape{321, 481, 3}));
    EXPECT_EQ(d.to_tensor(1).shape(), (Shape{321, 481, 1}));
  }
}

/// The datasets of the tests of fields, written once.
std::string content_with_edges(const std::string& source) {
  static const auto folder = [] {
    auto made = std::make_unique<TempFolder>();
    for (const std::string copy : {"first/", "second/"}) {
      for (const std::string split : {"train", "val", "test"}) {
        const std::string place = copy + split + "/";
        const int count = split == "val" ? 2 : split == "test" ? 1 : copy == "first/" ? 5 : 4;
        for (int i = 0; i < count; ++i) {
          made->write(place + std::to_string(i) + ".jpg", encode_png(photo(2, 3 + i)));
          made->write(place + std::to_string(i) + ".mat",
                      drawings({3 + i, 2}, {Numbers(static_cast<size_t>(6 + 2 * i), 1)}));
        }
      }
    }
    return made;
  }();
  return content_of_flow("[" + source + "]", folder->path("flow.yaml"));
}

const live::Fields kBsds500("source", "BSDS500",
                            {.base = "{dir: first}",
                             .values = {{"dir", "second"}, {"depth", "float"}},
                             .left_out = {{"background", "as of ImageFolder, whose test shows it"},
                                          {"upright", "as of ImageFolder, whose test shows it"},
                                          {"max_megapixels", "as of ImageFolder, whose test shows it"}},
                             .build = content_with_edges});

}  // namespace
}  // namespace tpack
