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
  void write(const std::string& name, const std::string& text) const {
    folder_.write(name, {text.begin(), text.end()});
  }
  DataFlow flow(const std::string& source, const std::shared_ptr<Fit>& fit = nullptr) const {
    Diagnostics errors;
    auto made = make_flow(parse_yaml("[" + source + "]", folder_.path("flow.yaml")), {}, errors, fit);
    errors.throw_if_any();
    return std::move(*made);
  }
  DataFlow csv(const std::string& form, const std::string& more = "") const {
    return flow("{CSV: {file: a.csv, shuffle: false, labels: {tags: " + form + "}" + more + "}}");
  }
  static std::vector<std::vector<double>> rows_of(const DataFlow& flow, size_t component = 0) {
    std::vector<std::vector<double>> rows;
    const auto cursor = flow.open({});
    for (Datapoint d; cursor->next(d);) {
      auto& row = rows.emplace_back();
      for (int64_t i = 0; i < d.tensor(component).elements(); ++i) row.push_back(d.tensor(component).at(i));
    }
    return rows;
  }

  TempFolder folder_;
};

/// As pandas' str.get_dummies gives them.
TEST_F(CsvTags, are_0_or_1_for_each_label) {
  write("a.csv", "id,tags\n1,red circle large\n2,small  red\n3,\n4,circle\n");
  const DataFlow flow = csv("{column: tags, separator: \" \"}");
  EXPECT_THAT(rows_of(flow), ElementsAre(ElementsAre(1, 1, 1, 0), ElementsAre(0, 0, 1, 1),
                                         ElementsAre(0, 0, 0, 0), ElementsAre(1, 0, 0, 0)));
  EXPECT_EQ(flow.spec().str(), "tags float32 [4]");
  EXPECT_THAT(flow.spec()[0].classes, ElementsAre("circle", "large", "red", "small"));
}

TEST_F(CsvTags, may_have_other_separators_and_given_labels) {
  write("a.csv", "tags\nold town | river\nriver\n");
  EXPECT_THAT(rows_of(csv("{column: tags, separator: \"|\"}")),
              ElementsAre(ElementsAre(1, 1), ElementsAre(0, 1)));
  const std::string given = "{column: tags, separator: \"|\", classes: [river, sea, old town]}";
  const DataFlow flow = csv(given);
  EXPECT_EQ(flow.spec().str(), "tags float32 [3]") << "known before the file is read";
  EXPECT_THAT(rows_of(flow), ElementsAre(ElementsAre(1, 0, 1), ElementsAre(1, 0, 0)));
  write("a.csv", "tags\nrivers\nriver\n");
  EXPECT_THAT(
      error_of([&] { rows_of(csv(given)); }),
      HasSubstr("column 'tags' has 'rivers', which is not one of its 'classes'; did you mean 'river'?"));
}

TEST_F(CsvTags, of_other_data_are_those_of_data_train) {
  write("a.csv", "tags\na b\nb\n");
  write("b.csv", "tags\nc b\n\"\"\n");
  const DataFlow train = csv("{column: tags, separator: \" \"}");
  train.prepare();
  EXPECT_THAT(train.sources()[0]->fitted()[0].columns, ElementsAre("tags"));
  const DataFlow other =
      flow("{CSV: {file: b.csv, shuffle: false, labels: {tags: {column: tags, separator: \" \"}}}}",
           std::make_shared<Fit>(train));
  EXPECT_THAT(rows_of(other), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 0)));
  EXPECT_THAT(other.spec()[0].classes, ElementsAre("a", "b"));
  EXPECT_THAT(
      other.facts()[0].remarks,
      ElementsAre("column 'tags' has labels that the rows for training do not have; they are ignored: 'c'"));
}

TEST_F(CsvTags, belong_to_images_of_a_list) {
  write("list.csv", "photo,tags\nx.png,b a\n");
  folder_.write("x.png", encode_png(photo(4, 3)));
  const DataFlow images =
      flow("{ImageList: {file: list.csv, path: photo, labels: {tags: {column: tags, separator: \" \"}}}}");
  EXPECT_THAT(rows_of(images, 1), ElementsAre(ElementsAre(1, 1)));
  EXPECT_THAT(images.spec()[1].classes, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace tpack
