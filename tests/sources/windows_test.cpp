#include "dataflow/flow_helpers.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Rows t = 0..9 with a = t, b = 10 t and y = 100 t, of series p (6 rows) and q (4).
class WindowsTest : public testing::Test {
 protected:
  WindowsTest() {
    std::string text = "s,a,b,y\n";
    for (int t = 0; t < 10; ++t)
      text += std::string(t < 6 ? "p," : "q,") + std::to_string(t) + "," + std::to_string(10 * t) + "," +
              std::to_string(100 * t) + "\n";
    folder_.write_text("t.csv", text);
  }
  DataFlow flow(const std::string& settings, const std::string& around = "",
                const std::string& table = "shuffle: false") const {
    const std::string windows = "{Windows: {source: {CSV: {file: t.csv, " + table +
                                ", columns: {x: [a, b], y: y}}}, " + settings + "}}";
    return folder_.flow(around.empty() ? "[" + windows + "]"
                                       : "[{SplitData: {source: " + windows + ", " + around + "}}]");
  }
  std::string error(const std::string& settings) const {
    return error_of([&] { flow(settings).prepare(); });
  }

  TempFolder folder_;
};

TEST_F(WindowsTest, have_the_rows_before_and_the_row_that_follows) {
  const DataFlow next = flow("length: 3, targets: [y]");
  next.prepare();
  EXPECT_EQ(next.spec().str(), "x float32 [3, 2], y float32 []");
  const auto all = samples_of(next);
  ASSERT_EQ(all.size(), 7U);
  EXPECT_THAT(all[0], ElementsAre(0, 0, 1, 10, 2, 20, 300));
  EXPECT_THAT(all[6], ElementsAre(6, 60, 7, 70, 8, 80, 900));
  EXPECT_EQ(describe(next.facts()), "7 windows");
  EXPECT_THAT(remarks_of(next), ElementsAre("of 10 rows"));
}

TEST_F(WindowsTest, may_look_further_and_step_further) {
  const DataFlow far = flow("length: 2, targets: [y], horizon: 2, stride: 3");
  far.prepare();
  EXPECT_EQ(far.spec().str(), "x float32 [2, 2], y float32 [2]");
  const auto all = samples_of(far);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[1], ElementsAre(3, 30, 4, 40, 500, 600));
  const DataFlow past = flow("length: 4");
  EXPECT_EQ(samples_of(past).size(), 7U) << "without targets";
  EXPECT_EQ(
      dynamic_cast<const RandomAccessSource&>(*past.sources()[0]).part<DerivedSamples>().index_in_data(6), 9);
}

TEST_F(WindowsTest, keep_series_apart) {
  Numbers last;
  for (const auto& sample : samples_of(flow("length: 3, targets: [y], key: s")))
    last.push_back(sample.back());
  EXPECT_THAT(last, ElementsAre(300, 400, 500, 900));
  EXPECT_TRUE(says(error("length: 6, targets: [y], key: s"), {"needs 7 rows", "column 's'"}));
}

/// As stored by date: the rows of q between those of p.
TEST_F(WindowsTest, of_a_series_skip_the_rows_of_others) {
  const std::string text =
      "s,a,b,y\np,0,0,0\np,1,0,1\np,2,0,2\nq,0,1,10\np,3,0,3\nq,1,1,11\nq,2,1,12\np,4,0,4\n";
  folder_.write_text("t.csv", text);
  const Numbers p012 = {0, 0, 1, 0, 2};
  const Numbers p123 = {1, 0, 2, 0, 3};
  const Numbers q012 = {0, 1, 1, 1, 12};
  const Numbers p234 = {2, 0, 3, 0, 4};
  EXPECT_THAT(samples_of(flow("length: 2, targets: [y], key: s")), ElementsAre(p012, p123, q012, p234))
      << "in the order of the rows that end them";

  const DataFlow second = flow("length: 2, targets: [y], key: s, stride: 2");
  EXPECT_THAT(samples_of(second), ElementsAre(p012, q012, p234))
      << "each series has a window at its first row";
  const auto& windows = dynamic_cast<const RandomAccessSource&>(*second.sources()[0]);
  EXPECT_THAT(windows.part<TableRows>().column("y"), ElementsAre("2", "12", "4"))
      << "of the row that is predicted";
  EXPECT_EQ(windows.part<DerivedSamples>().index_in_data(1), 6);
  EXPECT_THAT(windows.part<DerivedSamples>().predicted_rows(1), ElementsAre(6));
  EXPECT_EQ(windows.file_of(1), folder_.path("t.csv:8"));
}

TEST_F(WindowsTest, of_a_file_without_targets_are_all_that_there_are) {
  const DataFlow far = flow("length: 2, targets: [y], horizon: 2, stride: 3");
  far.prepare();
  const auto& windows = dynamic_cast<const RandomAccessSource&>(*far.sources()[0]);
  const auto later = windows.part<SourceFiles>().reopen_with(folder_.path("t.csv"), {"x"});
  later->prepare_once({});
  ASSERT_EQ(later->size(), 9);
  EXPECT_EQ(later->part<DerivedSamples>().index_in_data(0), 3) << "the last row that it predicts";
  EXPECT_EQ(later->part<DerivedSamples>().index_in_data(8), 11)
      << "the last window has the last rows, 8 and 9";
  EXPECT_EQ(later->file_of(8), folder_.path("t.csv:11 + 2"));
}

TEST_F(WindowsTest, learn_from_the_rows_of_the_training_part) {
  std::string text = "a,b,y\n,0,0\n";
  for (int t = 1; t < 10; ++t) text += std::to_string(t) + ",0,0\n";
  folder_.write_text("t.csv", text);
  const auto all = samples_of(flow("length: 3, targets: [y]", "part: train, shares: 0.3, order: rows",
                                   "shuffle: false, missing: mean"));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0][0], 4) << "the mean of 1 to 7, the rows up to the last one that is predicted";
}

TEST_F(WindowsTest, may_be_sorted_by_time) {
  const std::string text =
      "s,a,b,y,date\np,3,0,30,05.01.2024\np,1,0,10,03.01.2024\nq,9,1,90,01.02.2024\np,2,0,20,04.01.2024\nq,8,"
      "1,80,31.01.2024\nq,7,1,70,30.01.2024\n";
  folder_.write_text("t.csv", text);
  const Rows sorted = {{1, 0, 2, 0, 30}, {7, 1, 8, 1, 90}};
  EXPECT_EQ(samples_of(flow("length: 2, targets: [y], key: s, order: date")), sorted);
  const CapturedLog log;
  EXPECT_EQ(samples_of(flow("length: 2, targets: [y], key: s")), (Rows{{3, 0, 1, 0, 20}, {9, 1, 8, 1, 70}}));
  EXPECT_TRUE(says(log.text(), {"column 'date'", "t.csv:2 to ", "t.csv:3", "set order: date"}));
  EXPECT_THAT(error("length: 2, order: day"), HasSubstr("unknown column 'day'"));
  EXPECT_THAT(error("length: 2, order: s"), HasSubstr("column 's' has 'p' is neither a number nor a date"));
}

TEST_F(WindowsTest, say_nothing_of_series_in_order) {
  const std::string text =
      "s,a,b,y,Date Time\np,1,0,1,2024-01-05 9:00\nq,1,0,1,2024-01-01 9:00\np,1,0,1,2024-01-05 "
      "10:00\np,1,0,1,2024-01-05 10:00\n";
  folder_.write_text("t.csv", text);
  const CapturedLog log;
  samples_of(flow("length: 2, key: s"));
  EXPECT_EQ(log.text(), "");
  samples_of(flow("length: 2"));
  EXPECT_THAT(log.text(), HasSubstr("order: Date Time"));
}

TEST_F(WindowsTest, of_two_parts_predict_no_row_in_common) {
  const auto targets = [&](const std::string& part, const std::string& how) {
    Rows all;
    for (const auto& sample :
         samples_of(flow("length: 2, targets: [y], horizon: 3", part + ", shares: 0.4, " + how)))
      all.emplace_back(sample.end() - 3, sample.end());
    return all;
  };
  const auto validation = targets("part: validation", "order: rows");
  EXPECT_EQ(validation, (Rows{{600, 700, 800}, {700, 800, 900}}));
  EXPECT_EQ(targets("part: train", "order: rows"), (Rows{{200, 300, 400}, {300, 400, 500}}))
      << "not 400 to 600, and 500 to 700";
  const DataFlow train = flow("length: 2, targets: [y], horizon: 3", "part: train, shares: 0.4, order: rows");
  EXPECT_THAT(remarks_of(train), testing::Contains(HasSubstr("2 windows left out")));
  testing::internal::CaptureStderr();
  targets("part: train", "seed: 1");
  EXPECT_TRUE(says(testing::internal::GetCapturedStderr(), {"the parts overlap", "split: {order: rows}"}));
}

TEST_F(WindowsTest, are_divided_in_the_order_of_time) {
  Numbers last;
  for (const auto& sample :
       samples_of(flow("length: 3, targets: [y]", "part: validation, shares: 0.3, order: a")))
    last.push_back(sample.back());
  EXPECT_THAT(last, ElementsAre(800, 900));
}

TEST_F(WindowsTest, reject_what_cannot_be_meant) {
  EXPECT_THAT(error("length: 10, targets: [y]"), HasSubstr("a window needs 11 rows, but there are 10"));
  EXPECT_THAT(error("length: 2, targets: [z]"), HasSubstr("z"));
  EXPECT_THAT(error("length: 2, key: ss"), HasSubstr("unknown column 'ss'; did you mean 's'?"));
  EXPECT_THAT(error("length: 0"), HasSubstr("at least 1"));
}

/// A window with a bad row is a bad sample.
TEST_F(WindowsTest, know_bad_rows) {
  const std::string text = "a,b,y\n1,2,3\n4,,5\n6,7,8\n9,1,2\n3,4,5\n";
  folder_.write_text("t.csv", text);
  const DataFlow all = flow("length: 2, targets: [y]");
  EXPECT_EQ(all.facts()[0].bad, 2);
  EXPECT_THAT(error_of([&] { samples_of(all); }), HasSubstr("t.csv:3: column 'b' has no value"));
}

std::string content_of_windows(const std::string& source) {
  const TempFolder folder;
  std::string text = "s,a,y,z\n";
  for (int t = 0; t < 12; ++t)
    text += std::string(t < 5 ? "p," : "q,") + std::to_string(t) + "," + std::to_string(t * t) + "," +
            std::to_string(-t) + "\n";
  folder.write_text("t.csv", text);
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kWindows(
    "source", "Windows",
    {.base = "{source: {CSV: {file: t.csv, shuffle: false, columns: {x: a, y: y}}}, length: 2, targets: [y]}",
     .values = {{"source", "{CSV: {file: t.csv, shuffle: false, columns: {x: y, y: a}}}"},
                {"length", "3"},
                {"targets", "[]"},
                {"horizon", "2"},
                {"stride", "2"},
                {"key", "s"},
                {"order", "z"}},
     .build = content_of_windows});

}  // namespace
}  // namespace tpack
