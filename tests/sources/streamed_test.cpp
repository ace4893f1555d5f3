#include <sys/stat.h>
#include <thread>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::HasSubstr;

class StreamedTest : public testing::Test {
 protected:
  DataFlow flow(const std::string& source, const std::string& on_error = "stop") const {
    return folder_.flow("{flow: [" + source + "], on_error: " + on_error + "}");
  }
  static std::string streamed(const std::string& settings) {
    return "{Streamed: {source: " + settings + "}}";
  }
  void write(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  TempFolder folder_;
};

/// The first and the last number of each sample from a position on.
std::vector<std::pair<float, float>> ends_of_samples(const DataFlow& flow, const Pass& pass = {}) {
  std::vector<std::pair<float, float>> all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) {
    const auto x = d.tensor(0).span<float>();
    all.emplace_back(x.front(), x.back());
  }
  return all;
}

/// 40 MB, which are three blocks, with lines within quotes.
std::string large_table(int rows) {
  const std::string padding(60, 'p');
  std::string text = "id,note,value\n";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i) + ",\"" + padding + (i % 7 == 0 ? "\nand \"\"more\"\"" : "") + "\",";
    text += std::to_string(i % 1000) + ".5\n";
  }
  return text;
}

TEST_F(StreamedTest, gives_the_rows_of_the_table_in_their_order) {
  constexpr int kRows = 500'000;
  const std::string text = large_table(kRows);
  ASSERT_GT(text.size(), 36'000'000U);
  write("a.csv", text);
  const std::string columns = "columns: {x: [id, value]}}}";
  const auto expected =
      ends_of_samples(flow("{CSV: {file: a.csv, shuffle: false, columns: {x: [id, value]}}}"));
  ASSERT_EQ(expected.size(), static_cast<size_t>(kRows));
  const DataFlow all = flow(streamed("{CSV: {file: a.csv, " + columns));
  for (int64_t pass = 0; pass < 2; ++pass)
    EXPECT_TRUE(ends_of_samples(all, {.pass = pass}) == expected) << pass;
  for (const int64_t position : {int64_t{1}, int64_t{250'000}, int64_t{499'999}, int64_t{500'000}}) {
    const auto rest = ends_of_samples(all, {.position = position});
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), expected.begin() + position, expected.end()))
        << position;
  }
  folder_.write("a.csv.gz", gzip_file(text));
  EXPECT_TRUE(ends_of_samples(flow(streamed("{CSV: {file: a.csv.gz, " + columns))) == expected);
  EXPECT_FALSE(all.size()) << "not known before the end";
}

TEST_F(StreamedTest, reads_a_pipe_once) {
  constexpr int kRows = 300'000;
  const std::string text = large_table(kRows);
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(folder_.path("pipe")) << text; });
  const DataFlow flow_of_pipe = flow(streamed("{CSV: {file: pipe, columns: {x: [id, value]}}}"));
  EXPECT_EQ(flow_of_pipe.seek(), Seek::kNone);
  flow_of_pipe.prepare();
  {
    const auto first = flow_of_pipe.open({});  // the first rows are there for whoever asks
    Datapoint d;
    EXPECT_TRUE(first->next(d));
  }
  const auto found = ends_of_samples(flow_of_pipe);
  writer.join();
  ASSERT_EQ(found.size(), static_cast<size_t>(kRows));
  for (int i = 0; i < kRows; ++i) ASSERT_EQ(found[static_cast<size_t>(i)].first, static_cast<float>(i));
  EXPECT_TRUE(fails([&] { ends_of_samples(flow_of_pipe, {.pass = 1}); }, {"has ended", "steps_per_epoch"}));
  EXPECT_THAT(error_of([&] { ends_of_samples(flow_of_pipe); }), HasSubstr("can be read only once"));
}

TEST_F(StreamedTest, learns_of_the_first_rows) {
  write("a.csv", "kind,n,y\nred,1,0\nblue,3,1\nred,,0\n");
  const DataFlow all = flow(streamed("{CSV: {file: a.csv, columns: {x: auto}, labels: {y: y}}}"));
  all.prepare();
  EXPECT_THAT(all.facts()[0].str() + remarks_of(all).back(), HasSubstr("the first 3"));
  const auto samples = ends_of_samples(all);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(all.spec()[1].classes, (Texts{"0", "1"}));
}

TEST_F(StreamedTest, reads_json_lines_and_svmlight) {
  write("a.jsonl", "{\"a\": 1, \"b\": 2}\n{\"b\": 4, \"a\": 3}\n");
  using Samples = std::vector<std::pair<float, float>>;
  EXPECT_EQ(ends_of_samples(flow(streamed("{CSV: {file: a.jsonl, columns: {x: [a, b]}}}"))),
            (Samples{{1, 2}, {3, 4}}));
  write("a.tsv", "a\tb\n1\t2\n");
  EXPECT_EQ(ends_of_samples(flow(streamed("{CSV: {file: a.tsv, columns: {x: [a, b]}}}"))), (Samples{{1, 2}}));
  write("a.svm", "1 1:0.5 3:2\n-1 2:1\n");
  const DataFlow sparse = flow(streamed("{SVMLight: {file: a.svm}}"));
  sparse.prepare();
  EXPECT_EQ(ends_of_samples(sparse).size(), 2U);
}

TEST_F(StreamedTest, says_in_which_line_of_the_file_a_row_is_bad) {
  std::string text = large_table(400'000);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  text += "x,note,1\n7,note,8\n";
  write("a.csv", text);
  const std::string source = streamed("{CSV: {file: a.csv, columns: {x: [id, value]}}}");
  const std::string error = error_of([&] { ends_of_samples(flow(source)); });
  EXPECT_THAT(error, HasSubstr("a.csv:" + std::to_string(lines + 1)));
  EXPECT_THAT(error, HasSubstr("column 'id' has 'x'"));
  EXPECT_EQ(ends_of_samples(flow(source, "skip")).size(), 400'001U);
  write("a.csv", text + "\"open\n");
  EXPECT_TRUE(
      fails([&] { ends_of_samples(flow(source, "skip")); }, {"csv:" + std::to_string(lines + 3) + ": "}));
}

/// Rows after the last whole block, of which none is good, or which are empty lines.
TEST_F(StreamedTest, may_end_with_a_few_lines_without_rows) {
  std::string text = "a\n";
  while (text.size() < (size_t{16} << 20U) - 3) text += "12345\n";
  const auto rows = static_cast<size_t>(std::count(text.begin(), text.end(), '\n') - 1);
  const std::string source = streamed("{CSV: {file: a.csv, columns: {x: [a]}}}");
  for (const std::string end : {"\n\n\n\n\n\n\n\n", "all\nall\nall\n"}) {
    write("a.csv", text + end);
    EXPECT_EQ(ends_of_samples(flow(source, "skip")).size(), rows) << end;
  }
}

std::string content_of_streamed(const std::string& source) {
  const TempFolder folder;
  const std::string text = "a,b\n1,2\n3,4\n";
  folder.write_text("t.csv", text);
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kStreamed("source", "Streamed",
                             {.base = "{source: {CSV: {file: t.csv, columns: {x: a}}}}",
                              .values = {{"source", "{CSV: {file: t.csv, columns: {x: b}}}"}},
                              .build = content_of_streamed});

TEST_F(StreamedTest, rejects_what_has_no_lines_of_rows) {
  write("a.csv", "");
  expect_errors([&](const std::string& source) { flow(streamed(source)).prepare(); },
                {{"{RenderedDigits: {}}", {"does not read text"}},
                 {"{CSV: {file: [a.csv, b.csv], columns: {x: a}}}", {"reads only one file"}},
                 {"{CSV: {file: a.csv, encoding: utf-16, columns: {x: a}}}", {"convert the text to UTF-8"}},
                 {"{CSV: {file: no.csv, columns: {x: a}}}", {"no.csv"}},
                 {"{CSV: {file: a.csv, columns: {x: a}}}", {"a.csv: is empty"}}});
}

TEST_F(StreamedTest, notices_a_file_that_becomes_shorter) {
  const std::string text = large_table(1'000'000);
  write("a.csv", text);
  const DataFlow all = flow(streamed("{CSV: {file: a.csv, columns: {x: [id, value]}}}"));
  all.prepare();
  const auto cursor = all.open({});
  Datapoint d;
  for (int i = 0; i < 300'000; ++i) ASSERT_TRUE(cursor->next(d));
  ASSERT_GT(text.size(), 72'000'000U) << "more than is read at once";
  std::filesystem::resize_file(folder_.path("a.csv"), 100);
  const auto read_rest = [&] {
    while (cursor->next(d)) continue;
  };
  EXPECT_TRUE(fails(read_rest, {"a.csv", "became shorter while it was read"}));
  EXPECT_TRUE(fails(read_rest, {"a.csv", "became shorter while it was read"}))
      << "no bad sample that can be skipped";
  EXPECT_TRUE(fails([&] { ends_of_samples(all, {.pass = 1}); }, {"a.csv: changed since it was opened"}));
}

}  // namespace
}  // namespace tpack
