#include "config/yaml_reader.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A table with a column of tags, and other tables next to it.
class CsvTags : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  DataFlow flow(const std::string& source, const std::shared_ptr<Fit>& fit = nullptr) const {
    return folder_.flow("[" + source + "]", fit);
  }
  DataFlow csv(const std::string& form, const std::string& more = "") const {
    return flow("{CSV: {file: a.csv, shuffle: false, labels: {tags: " + form + "}" + more + "}}");
  }

  TempFolder folder_;
};

/// As pandas' str.get_dummies gives them.
TEST_F(CsvTags, are_0_or_1_for_each_label) {
  write("a.csv", "id,tags\n1,red circle large\n2,small  red\n3,\n4,circle\n");
  const DataFlow flow = csv("{column: tags, separator: \" \"}");
  EXPECT_THAT(samples_of(flow), ElementsAre(ElementsAre(1, 1, 1, 0), ElementsAre(0, 0, 1, 1),
                                            ElementsAre(0, 0, 0, 0), ElementsAre(1, 0, 0, 0)));
  EXPECT_EQ(flow.spec().str(), "tags float32 [4]");
  EXPECT_THAT(flow.spec()[0].classes, ElementsAre("circle", "large", "red", "small"));
}

TEST_F(CsvTags, may_have_other_separators_and_given_labels) {
  write("a.csv", "tags\nold town | river\nriver\n");
  EXPECT_THAT(samples_of(csv("{column: tags, separator: \"|\"}")),
              ElementsAre(ElementsAre(1, 1), ElementsAre(0, 1)));
  const std::string given = "{column: tags, separator: \"|\", classes: [river, sea, old town]}";
  const DataFlow flow = csv(given);
  EXPECT_EQ(flow.spec().str(), "tags float32 [3]") << "known before the file is read";
  EXPECT_THAT(samples_of(flow), ElementsAre(ElementsAre(1, 0, 1), ElementsAre(1, 0, 0)));
  write("a.csv", "tags\nrivers\nriver\n");
  EXPECT_TRUE(fails([&] { samples_of(csv(given)); }, {"column 'tags' has 'rivers'", "'river'?"}));
}

TEST_F(CsvTags, of_other_data_are_those_of_data_train) {
  write("a.csv", "tags\na b\nb\n");
  write("b.csv", "tags\nc b\n\"\"\n");
  const DataFlow train = csv("{column: tags, separator: \" \"}");
  train.prepare();
  EXPECT_THAT(train.sources()[0]->part<LearnedValues>().fitted()[0].columns, ElementsAre("tags"));
  const DataFlow other =
      flow("{CSV: {file: b.csv, shuffle: false, labels: {tags: {column: tags, separator: \" \"}}}}",
           std::make_shared<Fit>(train));
  EXPECT_THAT(samples_of(other), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 0)));
  EXPECT_THAT(other.spec()[0].classes, ElementsAre("a", "b"));
  EXPECT_THAT(remarks_of(other), ElementsAre(HasSubstr("column 'tags' has labels that")));
}

TEST_F(CsvTags, belong_to_images_of_a_list) {
  write("list.csv", "photo,tags\nx.png,b a\n");
  folder_.write("x.png", encode_png(photo(4, 3)));
  const DataFlow images =
      flow("{ImageList: {file: list.csv, path: photo, labels: {tags: {column: tags, separator: \" \"}}}}");
  EXPECT_TRUE(bit_equal(first_sample(images).tensor(1), Tensor::of<float>({2}, {1, 1})));
  EXPECT_THAT(images.spec()[1].classes, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace tpack
