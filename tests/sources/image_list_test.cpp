#include "config/yaml_reader.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder with images of n x 4 pixels, photos/N.png, and lists of them.
class ListedImages {
 public:
  ListedImages() {
    for (const char* name : {"photos/5.png", "photos/6.png", "photos/my 7.png"})
      folder_.write(name, encode_png(photo(std::atoi(name + std::string(name).find_first_of("567")), 4)));
  }
  void list(const std::string& name, const std::string& text) const {
    folder_.write(name, {text.begin(), text.end()});
  }
  std::string path(const std::string& name) const { return folder_.path(name); }
  const TempFolder& folder() const { return folder_; }
  DataFlow flow(const std::string& params, const std::shared_ptr<Fit>& fit = nullptr,
                const std::string& on_error = "stop") const {
    const std::string text =
        "{flow: [ImageList: {shuffle: false, " + params + "}], on_error: " + on_error + "}";
    Diagnostics errors;
    auto made = make_flow(parse_yaml(text, folder_.path("flow.yaml")), {}, errors, fit);
    errors.throw_if_any();
    return std::move(*made);
  }
  std::string error(const std::string& params) const {
    return error_of([&] { flow(params).prepare(); });
  }

 private:
  TempFolder folder_;
};

/// "WIDTHxHEIGHT: numbers" of each sample.
std::vector<std::string> samples_with_images(const DataFlow& flow) {
  std::vector<std::string> all;
  const auto cursor = flow.open({});
  for (Datapoint d; cursor->next(d);) {
    std::string& sample = all.emplace_back(d.image(0).size().str() + ":");
    for (size_t i = 1; i < d.size(); ++i)
      for (int64_t e = 0; e < d.tensor(i).elements(); ++e) sample += " " + shortest(d.tensor(i).at(e));
  }
  return all;
}

TEST(ImageList, takes_what_follows_the_last_space_as_the_class) {
  const ListedImages images;
  images.list("train.txt", "photos/6.png 10\r\nphotos/my 7.png 9\n\n  photos/5.png\t9\n");
  const DataFlow flow = images.flow("file: train.txt");
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [?, ?, 3], label int32 []");
  EXPECT_TRUE(flow.spec()[0].is_image);
  Datapoint d;
  ASSERT_TRUE(flow.open({})->next(d));
  EXPECT_TRUE(d.image(0).encoded()) << "nothing needed pixels yet";
  EXPECT_THAT(flow.spec()[1].classes, ElementsAre("9", "10"));
  EXPECT_THAT(samples_with_images(flow), ElementsAre("6x4: 1", "7x4: 0", "5x4: 0"));
  EXPECT_EQ(describe(flow.facts()), "3 images in 2 classes (9: 2, 10: 1)");
  images.list("names.txt", "photos/6.png none\nphotos/5.png cat\n");
  EXPECT_THAT(samples_with_images(images.flow("file: names.txt")), ElementsAre("6x4: 1", "5x4: 0"));
}

TEST(ImageList, other_lists_have_the_classes_of_the_training_data) {
  const ListedImages images;
  images.list("train.txt", "photos/5.png a\nphotos/6.png b\nphotos/6.png c\n");
  images.list("other.txt", "photos/6.png c\nphotos/5.png d\n");
  images.list("none.txt", "photos/6.png 0\n");
  const auto fit = [&] { return std::make_shared<Fit>(images.flow("file: train.txt")); };
  const DataFlow other = images.flow("file: other.txt", fit(), "skip");
  other.prepare();
  EXPECT_THAT(other.spec()[1].classes, ElementsAre("a", "b", "c"));
  EXPECT_THAT(samples_with_images(other), ElementsAre("6x4: 2"));
  EXPECT_THAT(other.facts()[0].remarks,
              ElementsAre("1 bad image: line 2: column 'label' has 'd', which is not a class of data.train"));
  EXPECT_THAT(error_of([&] { images.flow("file: none.txt", fit()).prepare(); }),
              HasSubstr("ImageList: column 'label' of " + images.path("none.txt") +
                        " has none of the classes of data.train (a, b, c), but '0'"));
}

TEST(ImageList, a_table_has_classes_numbers_and_sets) {
  const ListedImages images;
  images.list("train.csv",
              "photo,kind,price,red,round\nphotos/6.png,\"b, c\",1.5,0,1\nphotos/my 7.png,a,-2,1,1\n");
  const DataFlow flow = images.flow(
      "file: train.csv, path: photo, labels: {kind: kind, tags: [red, round]}, columns: {y: price}");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [?, ?, 3], y float32 [], tags float32 [2], kind int32 []");
  EXPECT_THAT(flow.spec()[2].classes, ElementsAre("red", "round"));
  EXPECT_THAT(samples_with_images(flow), ElementsAre("6x4: 1.5 0 1 1", "7x4: -2 1 1 0"));
  EXPECT_EQ(describe(flow.facts()), "2 images in 2 classes (a: 1, b, c: 1)");
  EXPECT_TRUE(images.flow("file: train.csv, path: photo, columns: {y: price}").knows_spec());
}

TEST(ImageList, a_table_may_lack_a_header) {
  const ListedImages images;
  images.list("train.csv", "3;photos/6.png\n4;photos/5.png\n");
  EXPECT_THAT(samples_with_images(
                  images.flow("file: train.csv, path: 1, columns: {y: 0}, header: false, delimiter: \";\"")),
              ElementsAre("6x4: 3", "5x4: 4"));
}

TEST(ImageList, other_tables_follow_the_training_data) {
  const ListedImages images;
  images.list("train.csv", "photo,kind\nphotos/6.png,a\nphotos/5.png,b\n");
  images.list("other.csv", "kind,photo\nb,photos/6.png\n");
  const std::string rest = ", path: photo, labels: {label: kind}";
  const auto fit = std::make_shared<Fit>(images.flow("file: train.csv" + rest));
  const DataFlow other = images.flow("file: other.csv" + rest, fit);
  EXPECT_THAT(samples_with_images(other), ElementsAre("6x4: 1"));
  const std::vector<FittedComponent> expected = {{"image_list_0", "label", {"kind"}, {"a", "b"}}};
  EXPECT_EQ(fit->opened().components(), expected);
}

TEST(ImageList, paths_are_relative_to_the_list_or_to_root) {
  const ListedImages images;
  images.list("lists/train.txt", images.path("photos/6.png") + " 0\n5.png 1\n");
  EXPECT_THAT(samples_with_images(images.flow("file: lists/train.txt, root: photos")),
              ElementsAre("6x4: 0", "5x4: 1"));
  EXPECT_THAT(images.flow("file: lists/train.txt").facts()[0].remarks,
              ElementsAre("1 bad image: line 2: no such file '" + images.path("lists/5.png") + "'"));
  images.list("lists/other.txt", "5.png 1\n");
  EXPECT_THAT(images.error("file: lists/other.txt"),
              HasSubstr(images.path("lists/other.txt") + ":1: no such file '" + images.path("lists/5.png") +
                        "'; none of its files exist; set 'root' to the base folder"));
  EXPECT_THAT(images.error("file: lists/other.txt, root: none"), HasSubstr("no such folder"));
}

TEST(ImageList, of_windows_has_backslashes) {
  const ListedImages images;
  images.list("l.txt", "photos\\5.png a\r\nphotos/6.png b\r\n");
  EXPECT_THAT(samples_with_images(images.flow("file: l.txt")), ElementsAre("5x4: 0", "6x4: 1"));
  images.list("t.csv", "path,y\nphotos\\my 7.png,3\n");
  EXPECT_THAT(samples_with_images(images.flow("file: t.csv, path: path, columns: {y: y}")),
              ElementsAre("7x4: 3"));
}

TEST(ImageList, finds_names_whatever_the_form_of_accents) {
  const ListedImages images;
  images.list("l.txt", "photos/cafe\u0301.png a\nphotos/nin\u0303o.png b\n");
  std::filesystem::copy_file(images.path("photos/5.png"), images.path("photos/caf\u00e9.png"));
  std::filesystem::copy_file(images.path("photos/6.png"), images.path("photos/nin\u0303o.png"));
  EXPECT_THAT(samples_with_images(images.flow("file: l.txt")), ElementsAre("5x4: 0", "6x4: 1"));
  images.list("l.txt", "photos\\caf\u00e9.png a\nphotos/ni\u00f1o.png b\n");
  EXPECT_THAT(samples_with_images(images.flow("file: l.txt")), ElementsAre("5x4: 0", "6x4: 1"));
}

/// The message of a row without a number names `missing`, which this source has, too.
TEST(ImageList, fills_missing_numbers) {
  const ListedImages images;
  images.list("gaps.csv", "photo,y\nphotos/5.png,\nphotos/6.png,2\n");
  EXPECT_THAT(images.flow("file: gaps.csv, path: photo, columns: {y: y}").facts()[0].remarks,
              testing::Contains(HasSubstr("set 'missing'")));
  EXPECT_THAT(
      samples_with_images(images.flow("file: gaps.csv, path: photo, columns: {y: y}, missing: {y: 7}")),
      ElementsAre("5x4: 7", "6x4: 2"));
}

TEST(ImageList, bad_lines_and_files_can_be_left_out) {
  const ListedImages images;
  images.folder().write("photos/broken.png", {'n', 'o'});
  images.list(
      "a.csv",
      "photo,y\nphotos/5.png,oops\nphotos/broken.png,1\nphotos/6.png,2\ngone.png,x\n,3\ngone.png,4\n");
  const DataFlow flow = images.flow("file: a.csv, path: photo, columns: {y: y}", nullptr, "skip");
  std::vector<std::string> errors;
  flow.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  EXPECT_THAT(samples_with_images(flow), ElementsAre("6x4: 2"));
  ASSERT_EQ(errors.size(), 5U);
  EXPECT_THAT(errors[0], HasSubstr(images.path("photos/5.png") + ": " + images.path("a.csv") +
                                   ":2: column 'y' has 'oops', which is not a number"));
  EXPECT_THAT(
      errors[1],
      HasSubstr("broken.png: text, not a JPEG, PNG, GIF, BMP, TIFF, WebP or PNM image; to skip such files"));
  EXPECT_THAT(errors[2], HasSubstr("a.csv:5: no such file '" + images.path("gone.png") + "'; to skip such"));
  EXPECT_THAT(errors[3], HasSubstr("a.csv:6: has no path"));
  EXPECT_EQ(flow.facts()[0].bad, 4) << "one has two reasons, and what is in the files is not known";
}

TEST(ImageList, says_what_is_wrong_with_the_list) {
  const ListedImages images;
  images.list("a.txt", "photos/5.png\nphotos/6.png\n");
  EXPECT_THAT(images.error("file: a.txt"),
              HasSubstr("a.txt:1: has no class after the path: 'photos/5.png'; all 2 lines are bad"));
  images.list("a.csv", "photo,kind\nphotos/5.png,a\n");
  EXPECT_THAT(images.error("file: a.csv"),
              HasSubstr("if it is a CSV table, set 'path' to its column of paths"));
  EXPECT_THAT(images.error("file: a.csv, path: phot, labels: {label: kind}"),
              testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr("did you mean 'photo'?")));
  EXPECT_THAT(images.error("file: a.csv, path: photo, labels: {label: kinds}"),
              testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr("did you mean 'kind'?")));
  EXPECT_THAT(images.error("file: a.csv, path: '.*', labels: {label: kind}"), HasSubstr("matches 2 columns"));
  EXPECT_THAT(images.error("file: a.csv, path: photo"), HasSubstr("no columns"));
  EXPECT_THAT(images.error("file: a.csv, path: photo, labels: {image: kind}"),
              HasSubstr("the component 'image' is reserved"));
  EXPECT_THAT(images.error("file: a.csv, labels: {label: kind}"),
              HasSubstr("set 'path' to its column of paths"));
  EXPECT_THAT(images.error("file: a.csv, path: [a]"), HasSubstr("expected the name of a column"));
  EXPECT_THAT(images.error("file: a.txt, depth: 9"), HasSubstr("expected 8, 16 or float"));
  images.list("numbers.txt", "photos/5.png 3\nphotos/6.png 0.25\n");
  EXPECT_THAT(images.error("file: numbers.txt"),
              HasSubstr("has the class '0.25'; if these are numbers, not classes, write a CSV table"));
  images.list("empty.txt", "\n");
  EXPECT_THAT(images.error("file: empty.txt"), HasSubstr("lists no images"));
  images.list("latin1.txt", "photos/5.png \xE9t\xE9\n");
  EXPECT_THAT(images.error("file: latin1.txt"), HasSubstr("class '\\xE9t\\xE9' is not UTF-8"));
  EXPECT_THAT(images.error("file: absent.txt"), HasSubstr("no such file"));
  EXPECT_THAT(images.error("file: photos/5.png"), HasSubstr("is a PNG image, not a list of images"));
}

TEST(ImageList, reads_16_bits_if_it_is_told_and_says_when_they_are_lost) {
  const ListedImages images;
  cv::Mat deep(2, 2, CV_16UC1, cv::Scalar(1000));
  images.folder().write("deep.png", encode_deep_png(deep));
  images.list("a.txt", "photos/5.png 0\ndeep.png 1\n");
  EXPECT_THAT(images.flow("file: a.txt").facts()[0].remarks,
              ElementsAre("images of 16 bits per channel, such as deep.png, lose their lower 8 bits; to keep "
                          "them, set depth: 16 in ImageList"));
  const DataFlow flow = images.flow("file: a.txt, depth: 16, color: gray");
  const auto cursor = flow.open({.position = 1});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.to_tensor(0).spec().str(), "float32 [2, 2, 1]");
  EXPECT_EQ(d.to_tensor(0).at(3), 1000);
}

TEST(ImageList, has_another_fingerprint_when_a_file_changes) {
  const ListedImages images;
  images.list("a.txt", "photos/5.png 0\nphotos/6.png 1\n");
  const auto print = [&] {
    const DataFlow flow = images.flow("file: a.txt");
    flow.prepare();
    return flow.fingerprint();
  };
  const std::string before = print();
  EXPECT_EQ(print(), before);
  images.folder().write("photos/6.png", encode_png(photo(60, 50)));
  EXPECT_NE(print(), before);
}

TEST(ImageList, points_move_with_their_image) {
  const ListedImages images;
  images.list("eyes.csv", "photo,x0,y0,x1,y1\nphotos/6.png,1,0.5,5,3\n");
  const auto flow = [&](const std::string& maps) {
    return make_flow(
        parse_yaml("[ImageList: {file: eyes.csv, path: photo, columns: {eyes: [x0, y0, x1, y1]}, points: "
                   "[eyes]}" +
                       maps + "]",
                   images.path("flow.yaml")));
  };
  const auto eyes = [&](const std::string& maps) {
    Datapoint d;
    EXPECT_TRUE(flow(maps).open({})->next(d));
    const auto values = d.tensor(1).span<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_THAT(eyes(""), ElementsAre(1, 0.5, 5, 3));
  const DataFlow plain = flow("");
  plain.prepare();
  EXPECT_EQ(plain.spec().str(), "image uint8 [?, ?, 3], eyes float32 [2, 2]");
  EXPECT_THAT(eyes(", AugmentImageComponent: [Flip: {prob: 1}]"), ElementsAre(5, 0.5, 1, 3));
  EXPECT_THAT(eyes(", AugmentImageComponent: [{Resize: [8, 12]}, {CenterCrop: [4, 6]}]"),
              ElementsAre(-1, -1, 7, 4))
      << "may lie outside";
  EXPECT_THAT(images.error("file: eyes.csv, path: photo, columns: {eyes: [x0, y0, x1]}, points: [eyes]"),
              HasSubstr("but 'eyes' is float32 [3]"));
  EXPECT_THAT(images.error("file: eyes.csv, path: photo, columns: {eyes: [x0, y0]}, points: [eye]"),
              HasSubstr("'eye'"));
}

TEST(ImageList, points_of_a_pair_change_places_in_a_mirror) {
  const ListedImages images;
  images.list("eyes.csv", "photo,left_x,left_y,nose_x,nose_y,right_x,right_y\nphotos/6.png,1,0.5,3,2,5,1\n");
  const auto eyes = [&](const std::string& more, const std::string& augmentors) {
    const DataFlow flow = make_flow(parse_yaml(
        "[ImageList: {file: eyes.csv, path: photo, columns: {eyes: [left_x, left_y, nose_x, nose_y, right_x, "
        "right_y]}" +
            more + "}, AugmentImageComponent: [" + augmentors + "]]",
        images.path("flow.yaml")));
    Datapoint d;
    EXPECT_TRUE(flow.open({})->next(d));
    const auto values = d.tensor(1).span<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const std::string pairs = ", points: [eyes], mirror_pairs: [[0, 2]]";
  const std::string flip = "Flip: {prob: 1}";
  EXPECT_THAT(eyes(pairs, flip), ElementsAre(1, 1, 3, 2, 5, 0.5))
      << "the left one is where the right one was";
  EXPECT_THAT(eyes(", points: [eyes]", flip), ElementsAre(5, 0.5, 3, 2, 1, 1));
  EXPECT_THAT(eyes(pairs, flip + ", Flip: {prob: 1, direction: vertical}"), ElementsAre(5, 3.5, 3, 2, 1, 3))
      << "turned by 180 degrees, so left stays left";
  EXPECT_THAT(eyes(pairs, "Resize: [8, 12]"), ElementsAre(2, 1, 6, 4, 10, 2));
  EXPECT_THAT(error_of([&] { eyes(", points: [eyes], mirror_pairs: [[0, 3]]", flip); }),
              HasSubstr("'mirror_pairs' must be pairs of numbers from 0 to 2"));
  EXPECT_THAT(error_of([&] { eyes(", points: [eyes], mirror_pairs: [[0, 1], [2, 0]]", flip); }),
              HasSubstr("'mirror_pairs' has 0 more than once"));
  EXPECT_THAT(error_of([&] { eyes(", mirror_pairs: [[0, 1]]", flip); }), HasSubstr("needs 'points'"));
}

TEST(ImageList, says_which_columns_look_like_points) {
  const ListedImages images;
  images.list("eyes.csv", "photo,left_x,left_y,right_x,right_y,w,h\nphotos/6.png,1,0.5,3,2,5,1\n");
  const auto remarks = [&](const std::string& more) {
    const DataFlow flow = images.flow(
        "file: eyes.csv, path: photo, columns: {eyes: [left_x, left_y, right_x, "
        "right_y], size: [w, h]}" +
        more);
    flow.prepare();
    return flow.facts()[0].remarks;
  };
  EXPECT_THAT(remarks(""),
              testing::Contains(HasSubstr("set points: [eyes], so that augmentors such as Resize "
                                          "move them with it")));
  EXPECT_THAT(remarks(", points: [eyes]"), testing::Contains(HasSubstr("set mirror_pairs: [[0, 1]]")));
  EXPECT_THAT(remarks(", points: [eyes], mirror_pairs: [[0, 1]]"),
              testing::Not(testing::Contains(HasSubstr("points"))));
}

/// The flow of a source in a folder with images and two lists.
std::string content_of_listed(const std::string& source) {
  const ListedImages images;
  std::string table = "photo,species,size,back\n";
  for (int row = 0; row < 9; ++row)
    table += row % 2 == 0 ? "photos/5.png,a,1,photos/6.png\n"
                          : "photos/6.png,b," + std::to_string(row) + ",photos/5.png\n";
  images.list("train.csv", table);
  images.list("other.csv", "photo,species,size\nphotos/6.png,a,1\n");
  images.list("root/photos/5.png", "");
  images.folder().write("root/photos/6.png", encode_png(photo(9, 9)));
  return content_of_flow("[" + source + "]", images.path("flow.yaml"));
}

const live::Fields kImageList("source", "ImageList",
                              {.base = "file: train.csv\npath: photo\nlabels: {label: species}\n"
                                       "columns: {at: [size, size]}",
                               .values = {{"points", "[at]"},
                                          {"file", "other.csv"},
                                          {"path", "back"},
                                          {"labels", "{label: size}"},
                                          {"columns", "{y: size}"},
                                          {"delimiter", "\";\""},
                                          {"root", "root"},
                                          {"depth", "16"}},
                               .left_out = {{"decimal", "as of CSV, which reads the table"},
                                            {"missing", "a test above shows it"},
                                            {"mirror_pairs",
                                             "of points that an augmentor moves, which a test "
                                             "above shows"},
                                            {"background", "as of ImageFolder, whose test shows it"},
                                            {"upright", "as of ImageFolder, whose test shows it"},
                                            {"max_megapixels", "as of ImageFolder, whose test shows it"}},
                               .build = content_of_listed});

}  // namespace
}  // namespace tpack
