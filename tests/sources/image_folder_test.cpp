#include <opencv2/imgproc.hpp>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::HasSubstr;

TEST(ImageFolder, classes_and_files_are_in_alphabetical_order) {
  const TempFolder folder;
  folder.write("dog/b.png", encode_png(photo(9, 7)));
  folder.write("dog/a.JPG", encode_jpeg(photo(30, 20)));
  folder.write("cat/x.jpeg", encode_jpeg(photo(5, 6)));
  folder.write("cat/notes.txt", {1, 2});
  for (const char* hidden : {"dog/._a.JPG", "__MACOSX/dog/a.JPG", ".thumbs/a.JPG", ".a.JPG"})
    folder.write(hidden, {1});
  const DataFlow flow = folder.flow("[ImageFolder: {dir: ., shuffle: false}]");
  EXPECT_EQ(flow.spec()[1].classes, (Texts{"cat", "dog"}));
  const auto cursor = flow.open({});
  EXPECT_EQ(flow.size(), 3);
  Texts seen;
  for (Datapoint d; cursor->next(d);) {
    EXPECT_TRUE(d.image(0).encoded()) << "nothing needed pixels yet";
    seen.push_back(d.image(0).size().str() + " " + std::to_string(static_cast<int>(d.tensor(1).at(0))));
  }
  EXPECT_EQ(seen, (Texts{"5x6 0", "30x20 1", "9x7 1"}));
}

TEST(ImageFolder, classes_that_are_numbers_are_in_their_order) {
  const TempFolder folder;
  for (const char* name : {"10/a.png", "2/a.png", "1/a.png"}) folder.write(name, encode_png(photo(4, 4)));
  EXPECT_EQ(folder.flow("[ImageFolder: {dir: ., shuffle: false}]").spec()[1].classes,
            (Texts{"1", "2", "10"}));
  folder.write("x/a.png", encode_png(photo(4, 4)));
  EXPECT_EQ(folder.flow("[ImageFolder: {dir: ., shuffle: false}]").spec()[1].classes,
            (Texts{"1", "10", "2", "x"}));
}

/// A picture in the alpha channel of black pixels: opaque in the left half.
Bytes half_transparent_png(int width, int height) {
  cv::Mat pixels(height, width, CV_8UC4, cv::Scalar::all(0));
  pixels(cv::Rect(0, 0, width / 2, height)).setTo(cv::Scalar(0, 0, 0, 255));
  return encode_png(pixels);
}

TEST(ImageFolder, puts_transparent_pixels_onto_a_background) {
  const TempFolder folder;
  folder.write("a/icon.png", half_transparent_png(4, 2));
  const auto flow_with = [&](const std::string& more) {
    return folder.flow("[ImageFolder: {dir: ." + more + "}]");
  };
  const auto right_pixel = [&](const std::string& more) {
    Datapoint d = first_sample(flow_with(more));
    const Tensor pixels = d.to_tensor(0);
    const auto values = pixels.span<uint8_t>().subspan(static_cast<size_t>(3 * pixels.shape()[2]));
    return std::vector<int>(values.begin(), values.begin() + pixels.shape()[2]);
  };
  EXPECT_THAT(right_pixel(""), testing::ElementsAre(255, 255, 255));
  EXPECT_THAT(right_pixel(", background: [9, 8, 7]"), testing::ElementsAre(9, 8, 7));
  EXPECT_THAT(right_pixel(", background: 60, color: gray"), testing::ElementsAre(60));
  EXPECT_THAT(right_pixel(", color: rgba"), testing::ElementsAre(0, 0, 0, 0));
  const auto remarks = [&](const std::string& more) {
    const DataFlow flow = flow_with(more);
    flow.prepare();
    return remarks_of(flow);
  };
  EXPECT_TRUE(says(remarks(", background: 0").at(0), {"a/icon.png", "black", "set background"}));
  EXPECT_THAT(remarks(", color: rgba"), testing::IsEmpty());
  EXPECT_TRUE(fails([&] { flow_with(", background: [1, 2, 300]"); }, {"[red, green, blue]", "255"}));
}

TEST(ImageFolder, turns_images_upright_unless_told_otherwise) {
  const TempFolder folder;
  folder.write("a/turned.png", with_orientation(encode_png(photo(30, 20)), 6, true));
  Datapoint d = first_sample(folder.flow("[ImageFolder: .]"));
  EXPECT_EQ(d.image(0).size(), (ImageSize{20, 30}));
  EXPECT_EQ(d.to_tensor(0).spec().str(), "uint8 [30, 20, 3]");
  EXPECT_EQ(first_sample(folder.flow("[ImageFolder: {dir: ., upright: false}]")).image(0).size(),
            (ImageSize{30, 20}));
}

TEST(ImageFolder, batches_have_any_size_if_a_remainder_is_possible) {
  const TempFolder folder;
  folder.write("a/1.png", encode_png(photo(8, 8)));
  const DataFlow flow = folder.flow(
      "[ImageFolder: ., AugmentImageComponent: [CenterCrop: 8], BatchData: {batch_size: 3, remainder: "
      "true}]");
  EXPECT_EQ(flow.spec()[0].tensor.shape, (Shape{Shape::kUnknown, 8, 8, 3}));
}

TEST(ImageFolder, a_broken_image_names_its_file_and_can_be_skipped) {
  const TempFolder folder;
  folder.write("a/1.png", encode_png(photo(8, 8)));
  const std::string broken = folder.write("a/2.png", {'n', 'o'});
  auto cut = encode_png(photo(8, 8));
  cut.resize(cut.size() - 30);
  folder.write("a/3.png", cut);
  folder.write("a/4.png", encode_png(photo(8, 8)));
  const auto flow = [&](const std::string& policy) {
    return folder.flow(
        "{flow: [ImageFolder: {dir: ., shuffle: false}, AugmentImageComponent: [CenterCrop: 8], BatchData: "
        "1], on_error: " +
        policy + "}");
  };
  const auto stop = flow("stop").stream({.workers = 2, .slots = 2, .passes = 1});
  EXPECT_TRUE(stop->next().has_value());
  EXPECT_TRUE(
      fails([&] { stop->next(); }, {"image_folder_0, sample 1 of pass 0: " + broken + ": text, not a JPEG",
                                    "{on_error: replace, flow: [...]}"}));
  const DataFlow skipping = flow("skip");
  const auto skip = skipping.stream({.workers = 2, .slots = 2, .passes = 1});
  EXPECT_TRUE(skip->next().has_value());
  EXPECT_TRUE(skip->next().has_value());
  EXPECT_FALSE(skip->next().has_value());
  EXPECT_EQ(skipping.bad_samples().count(), 2);
}

TEST(ImageFolder, without_class_folders_says_what_to_write) {
  const TempFolder folder;
  const auto error_with = [&](const std::string& dir) {
    return error_of([&] { folder.flow("[ImageFolder: " + dir + "]").prepare(); });
  };
  folder.write("photos/cat/1.png", encode_png(photo(8, 8)));
  EXPECT_TRUE(says(error_with("photos/cat"), {"photos/cat: ", "classes: false", "DIR/CLASS/NAME.jpg"}));
  folder.write("photos/dog/1.png", encode_png(photo(8, 8)));
  for (const char* dir : {"photos/cat", "photos/cat/"})
    EXPECT_TRUE(says(error_with(dir), {"write dir: " + folder.path("photos")})) << dir;
}

TEST(ImageFolder, may_have_images_without_classes) {
  const TempFolder folder;
  folder.write("faces/b.png", encode_png(photo(8, 8)));
  folder.write("faces/more/a.png", encode_png(photo(9, 8)));
  folder.write("faces/notes.txt", {1});
  folder.write("faces/.hidden/c.png", {1});
  for (const char* name : {"config.yaml", "log.txt", "images/fake.png"})
    folder.write("faces/train_log/gan/" + std::string(name), {1});
  const DataFlow flow =
      yaml_flow("[ImageFolder: {dir: " + folder.path("faces") + "/, classes: false, shuffle: false}]");
  EXPECT_EQ(flow.spec().str(), "image uint8 [?, ?, 3]");
  Texts sizes;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) sizes.push_back(d.image(0).size().str());
  EXPECT_THAT(sizes, testing::ElementsAre("8x8", "9x8"));
  EXPECT_EQ(describe(flow.facts()), "2 images");
  EXPECT_THAT(
      remarks_of(flow),
      testing::ElementsAre("ignored 1 file (.txt)", "not read, because runs of tpack wrote them: train_log"));
  EXPECT_EQ(flow.fingerprint().size(), 32U);
}

TEST(ImageFolder, leaves_out_what_runs_have_written) {
  const TempFolder folder;
  folder.write("cat/1.png", encode_png(photo(8, 8)));
  folder.write("dog/1.png", encode_png(photo(8, 8)));
  for (const char* name : {"config.yaml", "log.txt", "images/fake.png"}) {
    folder.write("run/" + std::string(name), {1});
    folder.write("train_log/gan/" + std::string(name), {1});
  }
  const DataFlow flow = folder.flow("[ImageFolder: {dir: ., shuffle: false}]");
  flow.prepare();
  EXPECT_THAT(flow.spec()[1].classes, testing::ElementsAre("cat", "dog"));
  EXPECT_THAT(remarks_of(flow),
              testing::ElementsAre("not read, because runs of tpack wrote them: run, train_log"));
}

TEST(ImageFolder, counts_a_dangling_link_as_a_broken_image) {
  const TempFolder folder;
  folder.write("a/1.png", encode_png(photo(8, 8)));
  std::filesystem::create_symlink("/no/such/x.png", folder.path("a/x.png"));
  const DataFlow flow = folder.flow("{flow: [ImageFolder: .], on_error: skip}");
  EXPECT_EQ(samples_of(flow).size(), 1U);
  EXPECT_EQ(flow.bad_samples().count(), 1);
}

TEST(ImageFolder, rejects_a_class_with_a_dangling_link) {
  const TempFolder folder;
  folder.write("b/1.png", encode_png(photo(8, 8)));
  for (const char* to : {"/no/such/a", "a"}) {
    std::filesystem::create_symlink(to, folder.path() + "/a");
    const DataFlow flow = folder.flow("[ImageFolder: {dir: ., shuffle: false}]");
    const std::string cause = *to == '/' ? "No such file or directory" : "Too many levels of symbolic links";
    EXPECT_TRUE(fails([&] { flow.prepare(); }, {folder.path("a: cannot be listed: ") + cause}));
    std::filesystem::remove(folder.path() + "/a");
  }
}

TEST(ImageFolder, an_absent_folder_is_a_config_error_and_an_empty_one_a_data_error) {
  const DataFlow absent = yaml_flow("[ImageFolder: /no/such/folder]");
  EXPECT_THROW(absent.prepare(), ConfigError);
  EXPECT_TRUE(fails([&] { absent.prepare(); }, {"ImageFolder: no such folder '/no/such/folder'"}));
  const auto mixed = [] {
    yaml_flow(
        "[ImageFolder: /no/such/folder, AugmentImageComponent: [{Resize: 8}], BatchData: {batch_size: 2}, "
        "MixUp]");
  };
  EXPECT_THAT(error_of(mixed), HasSubstr("no such folder")) << "not that MixUp does not know the classes";
  const TempFolder empty;
  EXPECT_THROW(empty.flow("[ImageFolder: .]").prepare(), DataError);
}

TEST(ImageFolder, has_another_fingerprint_when_files_change) {
  const TempFolder folder;
  const TempFolder copy;
  for (const TempFolder* each : {&folder, &copy}) {
    each->write("data/ants/1.png", {1, 2, 3});
    each->write("data/bees/1.png", {4, 5});
    each->write("data/bees/2.jpg", {6});
  }
  const auto flow_of = [](const TempFolder& in) { return in.flow("[ImageFolder: data]"); };
  const std::string before = flow_of(folder).fingerprint();
  EXPECT_EQ(before.size(), 32U);
  EXPECT_EQ(flow_of(copy).fingerprint(), before) << "the folder may move";
  folder.write("data/bees/2.jpg", {7});
  EXPECT_EQ(flow_of(folder).fingerprint(), before) << "what is in the files is not read";
  folder.write("data/bees/notes.txt", {7});
  EXPECT_EQ(flow_of(folder).fingerprint(), before) << "no image";
  folder.write("data/bees/2.jpg", {7, 7});
  EXPECT_NE(flow_of(folder).fingerprint(), before) << "another size";
  copy.write("data/bees/3.png", {8});
  EXPECT_NE(flow_of(copy).fingerprint(), before) << "one more";
  std::filesystem::remove(copy.path("data/bees/3.png"));
  std::filesystem::rename(copy.path("data/bees/1.png"), copy.path("data/bees/3.png"));
  EXPECT_NE(flow_of(copy).fingerprint(), before) << "another name";
  EXPECT_EQ(describe(flow_of(copy).facts()), "3 images in 2 classes (ants: 1, bees: 2)");
}

TEST(ImageFolder, has_a_fingerprint_with_a_broken_link) {
  const TempFolder folder;
  folder.write("ants/1.png", {1});
  const auto flow = [&] { return folder.flow("[ImageFolder: {dir: ., shuffle: false}]"); };
  std::filesystem::create_symlink("nowhere", folder.path("ants/2.png"));
  const std::string before = flow().fingerprint();
  EXPECT_EQ(before.size(), 32U);
  folder.write("ants/nowhere", {});
  EXPECT_NE(flow().fingerprint(), before);
}

TEST(ImageFolder, keeps_16_bits_or_says_that_they_are_cut) {
  cv::Mat dark(4, 6, CV_16UC1);
  for (int i = 0; i < 24; ++i) dark.at<uint16_t>(i / 6, i % 6) = static_cast<uint16_t>(10 * i);
  const TempFolder folder;
  folder.write("a/1.png", encode_png(photo(6, 4)));
  folder.write("b/1.png", encode_deep_png(dark));
  const auto flow_of_depth = [&](const std::string& depth) {
    return folder.flow("[ImageFolder: {dir: ., shuffle: false, color: gray, depth: " + depth +
                       "}, AugmentImageComponent: [CenterCrop: [4, 4]], BatchData: 2]");
  };
  const DataFlow deep = flow_of_depth("16");
  EXPECT_EQ(deep.spec()[0].tensor.str(), "float32 [2, 4, 4, 1]");
  Datapoint batch = first_sample(deep);
  for (int64_t y = 0; y < 4; ++y)
    for (int64_t x = 0; x < 4; ++x)
      EXPECT_EQ(batch.tensor(0).at(16 + 4 * y + x), static_cast<double>(10 * (6 * y + x + 1)));
  EXPECT_THAT(describe(deep.facts()), testing::Not(testing::HasSubstr("16 bits")));

  const DataFlow cut = flow_of_depth("8");
  ASSERT_TRUE(cut.open({})->next(batch));
  EXPECT_EQ(batch.tensor(0).at(31), 0) << "the high byte of 220";
  EXPECT_TRUE(says(remarks_of(cut)[0], {"16 bits", "b/1.png", "depth: 16"}));
  EXPECT_THAT(error_of([&] { flow_of_depth("12"); }), testing::HasSubstr("expected 8, 16 or float"));

  const DataFlow floats = flow_of_depth("float");
  EXPECT_EQ(floats.spec()[0].tensor.str(), "float32 [2, 4, 4, 1]");
  ASSERT_TRUE(floats.open({})->next(batch));
  EXPECT_EQ(batch.tensor(0).at(31), 220) << "as it is stored";
  cv::Mat gray;
  cv::cvtColor(photo(6, 4), gray, cv::COLOR_RGB2GRAY);
  EXPECT_NEAR(batch.tensor(0).at(0), gray.at<uint8_t>(0, 1), 1) << "of 8 bits";
}

TEST(ImageFolder, reads_files_of_other_formats) {
  const auto bytes = [](const std::string& text) { return Bytes(text.begin(), text.end()); };
  const TempFolder folder;
  folder.write("a/1.PGM", bytes("P2 3 2 65535 0 100 200 300 400 65535\n"));
  folder.write("a/2.gif", encode_png(photo(5, 4)));  // whatever its name
  folder.write("a/3.heic", {1});
  const DataFlow flow = folder.flow("[ImageFolder: {dir: ., shuffle: false}]");
  const auto stream = flow.open({});
  Datapoint d;
  for (const ImageSize size : {ImageSize{3, 2}, ImageSize{5, 4}}) {
    ASSERT_TRUE(stream->next(d));
    EXPECT_EQ(d.image(0).size(), size);
  }
  EXPECT_EQ(d.to_tensor(0).spec().str(), "uint8 [4, 5, 3]");
  EXPECT_EQ(remarks_of(flow)[0], "ignored 1 file (.heic)");
  EXPECT_THAT(remarks_of(flow)[1], testing::HasSubstr("such as a/1.PGM, lose their lower 8 bits"));
}

TEST(ImageFolder, has_a_limit_of_megapixels) {
  const TempFolder folder;
  folder.write("a/x.png", encode_png(cv::Mat(1000, 1001, CV_8UC1, cv::Scalar(7))));
  const auto read = [&](const std::string& limit) {
    return first_sample(folder.flow("[ImageFolder: {dir: ." + limit + "}]")).image(0).size();
  };
  EXPECT_EQ(read(""), (ImageSize{1001, 1000}));
  EXPECT_EQ(read(", max_megapixels: 2"), (ImageSize{1001, 1000}));
  EXPECT_TRUE(fails([&] { samples_of(folder.flow("[ImageFolder: {dir: ., max_megapixels: 1}]")); },
                    {"1001x1000 pixels", "(max_megapixels)"}));
}

/// The flow of an ImageFolder in a folder with `photos/train` and `other`.
std::string content_with_photos(const std::string& source) {
  const TempFolder folder;
  for (int i = 0; i < 9; ++i)
    folder.write("photos/train/" + std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".png",
                 encode_png(photo(4 + i, 5)));
  folder.write("photos/train/a/9.png", half_transparent_png(4, 2));
  folder.write("photos/train/b/9.png", with_orientation(encode_png(photo(4, 7)), 6, true));
  folder.write("other/c/0.png", encode_png(photo(7, 5)));
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kImageFolder("source", "ImageFolder",
                                {.values = {{"dir", "other"}, {"depth", "float"}, {"background", "0"}},
                                 .left_out = {{"max_megapixels",
                                               "an error for larger images, which a test above shows"}},
                                 .build = content_with_photos});

}  // namespace
}  // namespace tpack
