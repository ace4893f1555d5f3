#include <set>

#include "dataflow/flow_helpers.h"
#include "sources/split_settings.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 40 rows: id, class a, b or c (every eighth row), patient, day, part.
class SplitData : public testing::Test {
 protected:
  SplitData() {
    std::string text = "id,class,patient,day,part\n";
    for (int i = 0; i < 40; ++i) {
      const std::string label = i % 8 == 0 ? "c" : i % 2 == 0 ? "b" : "a";
      const std::string part = i % 10 == 9 ? "test" : i % 5 == 4 ? "validation" : "train";
      const int day = i % 28 + 1;
      text += std::to_string(i) + "," + label + ",p" + std::to_string(i / 4) + ",2020-01-" +
              (day < 10 ? "0" : "") + std::to_string(day) + "," + part + "\n";
    }
    folder_.write_text("t.csv", text);
  }

  DataFlow flow(const std::string& settings, const std::string& more = "", bool shuffle = false) const {
    return folder_.flow(
        "[{SplitData: {source: {CSV: {file: t.csv, shuffle: " + std::string(shuffle ? "true" : "false") +
        ", columns: {id: id}, labels: {class: class" + more + "}}}, " + settings + "}}]");
  }
  /// The ids in a pass.
  static Integers ids(const DataFlow& flow) { return first_component(flow); }
  std::string error(const std::string& settings) const {
    return error_of([&] { flow(settings).prepare(); });
  }

  TempFolder folder_;
};

TEST_F(SplitData, divides_a_source_completely_and_in_shares_of_its_classes) {
  std::multiset<int64_t> all;
  const std::string shares = "shares: {validation: 0.2, test: 0.1}";
  for (const char* part : {"train", "validation", "test"}) {
    const Integers of_part = ids(flow(std::string("part: ") + part + ", " + shares));
    EXPECT_TRUE(std::is_sorted(of_part.begin(), of_part.end())) << "in the order of the file";
    all.insert(of_part.begin(), of_part.end());
  }
  EXPECT_EQ(all.size(), 40U);
  EXPECT_EQ((std::set<int64_t>(all.begin(), all.end()).size()), 40U);
  const DataFlow validation = flow("part: validation, " + shares);
  const SourceFacts facts = validation.facts()[0];
  EXPECT_EQ(*facts.samples, 8);
  EXPECT_EQ(facts.str(), "8 rows in 3 classes (a: 4, b: 3, c: 1)");
}

TEST_F(SplitData, gives_the_texts_and_classes_of_its_own_samples) {
  const DataFlow validation = flow("part: validation, shares: 0.2");
  const Integers of_part = ids(validation);
  const auto* source = dynamic_cast<const RandomAccessSource*>(validation.sources()[0]);
  Texts texts;
  std::vector<int32_t> classes;
  for (const int64_t id : of_part) {
    texts.push_back(std::to_string(id));
    classes.push_back(id % 8 == 0 ? 2 : id % 2 == 0 ? 1 : 0);
  }
  EXPECT_EQ(source->part<TableRows>().column("id"), texts);
  EXPECT_EQ(class_numbers(*source, "class"), classes);
}

TEST_F(SplitData, knows_the_bad_rows_of_its_own_samples) {
  const std::string text = "id,class\n,a\n1,a\n2,a\n3,a\n,a\n5,a\n";
  folder_.write_text("t.csv", text);
  const DataFlow validation = flow("part: validation, shares: 0.5, order: rows");
  validation.prepare();
  const auto& source = dynamic_cast<const RandomAccessSource&>(*validation.sources()[0]);
  EXPECT_EQ(source.facts().bad, 1);
  EXPECT_FALSE(source.part<SampleFacts>().is_bad(0));
  EXPECT_TRUE(source.part<SampleFacts>().is_bad(1));
  EXPECT_FALSE(source.part<SampleFacts>().is_bad(2));
}

TEST_F(SplitData, gives_the_samples_and_their_order_that_the_source_alone_would_give) {
  const std::string settings = "part: train, shares: 0.5, seed: 7";
  const Integers kept = ids(flow(settings));
  std::string text = "id,class\n";
  for (const int64_t id : kept) text += std::to_string(id) + ",x\n";
  folder_.write_text("cut.csv", text);
  const DataFlow cut = folder_.flow("[{CSV: {file: cut.csv, columns: {id: id}, labels: {class: class}}}]");
  EXPECT_NE(ids(cut), kept) << "shuffled";
  EXPECT_EQ(ids(flow(settings, "", true)), ids(cut));
}

TEST_F(SplitData, shuffles_the_training_only) {
  EXPECT_NE(ids(flow("part: train, shares: 0.5", "", true)), ids(flow("part: train, shares: 0.5")));
  EXPECT_EQ(ids(flow("part: validation, shares: 0.5", "", true)), ids(flow("part: validation, shares: 0.5")));
}

TEST_F(SplitData, makes_folds_of_what_the_shares_leave) {
  std::multiset<int64_t> left_out;
  for (int fold = 0; fold < 4; ++fold) {
    const std::string settings = "shares: {test: 0.2}, folds: 4, fold: " + std::to_string(fold);
    const Integers validation = ids(flow("part: validation, " + settings));
    EXPECT_EQ(validation.size(), 8U);
    EXPECT_EQ(ids(flow("part: train, " + settings)).size(), 24U);
    EXPECT_EQ(ids(flow("part: test, " + settings)), ids(flow("part: test, shares: {test: 0.2}, folds: 4")));
    left_out.insert(validation.begin(), validation.end());
  }
  EXPECT_EQ((std::set<int64_t>(left_out.begin(), left_out.end()).size()), 32U);
}

TEST_F(SplitData, keeps_groups_and_days_together) {
  std::set<int64_t> patients;
  for (const int64_t id : ids(flow("part: validation, shares: 0.3, group: patient"))) patients.insert(id / 4);
  EXPECT_EQ(patients.size(), 3U);
  EXPECT_THAT(ids(flow("part: validation, shares: 0.25, order: day")),
              ElementsAre(18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
  EXPECT_THAT(ids(flow("part: validation, shares: 0.1, order: rows")), ElementsAre(36, 37, 38, 39));
  const Integers hashed = ids(flow("part: validation, shares: 0.3, group: patient, hash: true"));
  EXPECT_EQ(hashed.size() % 4, 0U);
}

TEST_F(SplitData, takes_the_parts_that_a_column_says) {
  EXPECT_THAT(ids(flow("part: validation, column: part")), ElementsAre(4, 14, 24, 34));
  EXPECT_THAT(remarks_of(flow("part: test, column: part")),
              ElementsAre("column 'part' has 'test' (4), 'train' (32), 'validation' (4)"));
  EXPECT_TRUE(says(error("part: tests, column: part"), {"column 'part' has no 'tests'", "'train' (32)"}));
}

TEST_F(SplitData, says_that_it_does_not_know_which_classes_count) {
  const DataFlow two = flow("part: train, shares: 0.5", ", patient: patient");
  EXPECT_TRUE(says(remarks_of(two).at(0), {"(class, patient)", "set `stratify`"}));
  for (const std::string stratify : {"none", "class"})
    EXPECT_THAT(remarks_of(flow("part: train, shares: 0.5, stratify: " + stratify, ", patient: patient")),
                testing::IsEmpty());
}

/// The place is that of the source, once.
TEST_F(SplitData, says_where_a_source_is_that_cannot_be_read) {
  folder_.write("images/a/1.txt", {1});
  const std::string why = error_of([&] {
    folder_.flow("[{SplitData: {source: {ImageFolder: images}, shares: {validation: 0.2}, part: train}}]")
        .prepare();
  });
  const std::string place = folder_.path("flow.yaml") + ":1:23: ";
  EXPECT_THAT(why, testing::StartsWith(place));
  EXPECT_THAT(why.substr(place.size()), testing::Not(HasSubstr("flow.yaml:")));
}

TEST_F(SplitData, rejects_what_cannot_be_meant) {
  expect_errors([&](const std::string& settings) { flow("part: " + settings).prepare(); },
                {{"validaton, shares: 0.2", {"'validaton'; did you mean 'validation'?", "train, validation"}},
                 {"train, shares: {train: 0.8}", {"train gets all samples of no other part"}},
                 {"train, shares: {a: 0.5, b: 0.5}", {"the shares leave nothing for train"}},
                 {"train, shares: 20", {"a share between 0 and 1"}},
                 {"train, folds: 1", {"'folds' is 1", "at least 2"}},
                 {"train, folds: 5, fold: 5", {"'fold' is 5", "below 'folds' (5)"}},
                 {"train, folds: 5, shares: 0.2", {"'validation' is one of the folds"}},
                 {"train, folds: 5, order: day", {"'folds' and 'order'"}},
                 {"train, group: patient, order: day", {"'group' and 'order'"}},
                 {"train, column: part, shares: 0.2", {"'column' already defines the parts"}},
                 {"train, group: pateint", {"'pateint'; did you mean 'patient'?"}},
                 {"train, stratify: clas", {"did you mean 'class'?"}},
                 {"train, order: class", {"'order': column 'class': 'c' is neither"}},
                 {"train, hash: true", {"set 'group' to a column of ids"}}});
  EXPECT_TRUE(fails([] { yaml_flow("[{SplitData: {source: {JoinData: [a]}, part: train}}]").prepare(); },
                    {"only a source that reads its samples in any order"}));
}

std::string content_of_a_part(const std::string& source) {
  const TempFolder folder;
  std::string text = "id,class,patient,part\n";
  for (int i = 0; i < 30; ++i)
    text += std::to_string(i * 7 % 30) + "," + (i % 3 == 0 ? "a" : "b") + ",p" + std::to_string(i / 3) + "," +
            (i % 4 == 0 ? "train" : "test") + "\n";
  folder.write_text("t.csv", text);
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kSplitData(
    "source", "SplitData",
    {.base = "{source: {CSV: {file: t.csv, shuffle: false, columns: {id: id}, labels: {class: class}}}, "
             "part: train}",
     .values = {{"source", "{CSV: {file: t.csv, shuffle: false, columns: {id: patient}, header: false}}"},
                {"part", "validation"},
                {"shares", "0.4"},
                {"folds", "3"},
                {"fold", "1"},
                {"stratify", "none"},
                {"group", "patient"},
                {"order", "id"},
                {"column", "part"},
                {"hash", "true"}},
     .build = content_of_a_part});

}  // namespace
}  // namespace tpack
