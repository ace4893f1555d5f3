#include "dataflow/fitted_data.h"

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A flow that follows another one, on files of one folder.
class Followers : public TempFolder {
 public:
  DataFlow following(const std::string& train, const std::string& source) const {
    return flow("[" + source + "]", std::make_shared<Fit>(flow("[" + train + "]")));
  }
  std::string error(const std::string& train, const std::string& source) const {
    return error_of([&] { following(train, source).prepare(); });
  }
};

TEST(FittedData, finds_the_same_source_first_and_else_the_only_one) {
  const FittedData fitted({{"csv_0", "x", {"a"}, {}}, {"csv_1", "x", {"b"}, {}}, {"csv_1", "y", {"c"}, {}}});
  EXPECT_THAT(fitted.find("csv_1", "x")->columns, ElementsAre("b"));
  EXPECT_FALSE(fitted.find("npz_0", "x")) << "two have it";
  EXPECT_THAT(fitted.find("npz_0", "y")->columns, ElementsAre("c"));
  EXPECT_FALSE(fitted.find("csv_0", "z"));
}

TEST(FittedData, columns_of_a_pattern_are_found_by_their_names) {
  const Followers data;
  data.write_text("train.csv", "f_a,f_b,y\n1,2,3\n");
  data.write_text("other.csv", "extra,f_b,y,f_c,f_a\n9,20,30,9,10\n");
  const std::string columns = ", shuffle: false, columns: {x: ['f_.*'], y: y}}";
  const DataFlow other = data.following("CSV: {file: train.csv" + columns, "CSV: {file: other.csv" + columns);
  EXPECT_THAT(samples_of(other)[0], ElementsAre(10, 20, 30));
  EXPECT_THAT(remarks_of(other), ElementsAre("columns that data.train does not have are not read: f_c"));
}

TEST(FittedData, a_list_in_another_order_means_the_same_columns) {
  const Followers data;
  data.write_text("a.csv", "a,b\n1,2\n");
  const DataFlow other = data.following("CSV: {file: a.csv, shuffle: false, columns: {x: [b, a]}}",
                                        "CSV: {file: a.csv, shuffle: false, columns: {x: [a, b]}}");
  EXPECT_THAT(samples_of(other)[0], ElementsAre(2, 1));
}

TEST(FittedData, columns_of_other_names_that_are_written_out_are_meant) {
  const Followers data;
  data.write_text("train.csv", "a,b\n1,2\n");
  data.write_text("other.csv", "A,B\n10,20\n");
  const DataFlow other = data.following("CSV: {file: train.csv, columns: {x: [a, b]}}",
                                        "CSV: {file: other.csv, shuffle: false, columns: {x: [B, A]}}");
  EXPECT_THAT(samples_of(other)[0], ElementsAre(20, 10));
}

TEST(FittedData, a_missing_column_is_named) {
  const Followers data;
  data.write_text("train.csv", "f_a,f_b,f_c,y\n1,2,3,4\n");
  data.write_text("other.csv", "f_c,y\n1,2\n");
  const std::string columns = ", columns: {x: 'f_.*'}}";
  EXPECT_TRUE(says(data.error("CSV: {file: train.csv" + columns, "CSV: {file: other.csv" + columns),
                   {"lacks columns 'f_a', 'f_b'", "component 'x' of data.train"}));
}

TEST(FittedData, classes_of_each_label_column_are_those_of_the_training_data) {
  const Followers data;
  data.write_text("train.csv", "c,y\na,no\nb,yes\nc,no\n");
  data.write_text("other.csv", "c,y\nb,yes\nc,no\n");
  data.write_text("new.csv", "c,y\nz,yes\n");
  data.write_text("some.csv", "c,y\nz,yes\nb,yes\n");
  const auto csv = [](const std::string& file) {
    return "CSV: {file: " + file + ", shuffle: false, labels: {y: y, c: c}}";
  };
  const DataFlow other = data.following(csv("train.csv"), csv("other.csv"));
  EXPECT_THAT(samples_of(other)[0], ElementsAre(1, 1)) << "y: yes, c: b";
  EXPECT_THAT(other.spec()[1].classes, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(says(data.error(csv("train.csv"), csv("new.csv")), {"column 'c' of ", "(a, b, c), but 'z'"}));
  EXPECT_THAT(remarks_of(data.following(csv("train.csv"), csv("some.csv"))),
              ElementsAre(HasSubstr("1 bad row: line 2: column 'c' has 'z'")));
}

TEST(FittedData, folders_of_images_have_the_classes_of_the_training_folder) {
  const Followers data;
  for (const char* name : {"train/ants/1.png", "train/bees/1.png", "train/wasps/1.png", "val/wasps/1.png"})
    data.write_text(name, "");
  const DataFlow val = data.following("ImageFolder: train", "ImageFolder: val");
  EXPECT_THAT(val.spec()[1].classes, ElementsAre("ants", "bees", "wasps"));
  const SourceFacts facts = val.facts()[0];
  EXPECT_EQ(facts.str(), "1 images in 3 classes (ants: 0, bees: 0, wasps: 1)");
  EXPECT_THAT(facts.remarks, ElementsAre("no folders for the classes ants, bees of data.train"));
  data.write_text("val/flies/1.png", "");
  EXPECT_TRUE(says(data.error("ImageFolder: train", "ImageFolder: val"), {"'flies'", "data.train"}));
}

TEST(FittedData, what_was_stored_holds_for_every_flow) {
  const Followers data;
  data.write_text("a.csv", "a,b,y\n1,2,no\n");
  const auto stored = std::make_shared<Fit>(
      FittedData({{"csv_0", "x", {"b", "a"}, {}}, {"csv_0", "y", {"y"}, {"yes", "no"}}}));
  const DataFlow flow =
      data.flow("[CSV: {file: a.csv, shuffle: false, columns: {x: '[ab]'}, labels: {y: y}}]", stored);
  EXPECT_THAT(samples_of(flow)[0], ElementsAre(2, 1, 1));
}

TEST(FittedData, of_a_flow_is_what_its_sources_found) {
  const Followers data;
  data.write_text("a.csv", "a,b,y\n1,2,no\n1,2,yes\n");
  const DataFlow flow = data.flow("[CSV: {file: a.csv, columns: {x: '[ab]', z: a}, labels: {y: y}}]");
  flow.prepare();
  EXPECT_THAT(
      fitted_data(flow).components(),
      ElementsAre(FittedComponent{"csv_0", "x", {"a", "b"}, {}}, FittedComponent{"csv_0", "z", {"a"}, {}},
                  FittedComponent{"csv_0", "y", {"y"}, {"no", "yes"}}));
}

}  // namespace
}  // namespace tpack
