#include "config/yaml_reader.h"
#include "dataflow/csv_file.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "support/allocation_counter.h"
#include "support/limited_address_space.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::HasSubstr;

const char* const kFlowers =
    "width,height,\"the, species\",area\n"
    "1.5,2,rose,3\n"
    "-1, 4 ,iris,-4\n"
    "0,1e1,rose,0\n";

TEST(Csv, gives_vectors_numbers_and_labels) {
  const CsvFile file(kFlowers);
  const DataFlow flow =
      file.flow("columns: {x: [width, height], y: area}, labels: {label: \"the, species\"}");
  EXPECT_FALSE(flow.knows_spec()) << "the classes are in the file";
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [2], y float32 [], label int32 []");
  EXPECT_EQ(flow.spec()[2].classes, (std::vector<std::string>{"iris", "rose"}));
  EXPECT_EQ(samples_of(flow),
            (std::vector<std::vector<double>>{{1.5, 2, 3, 1}, {-1, 4, -4, 0}, {0, 10, 0, 1}}));
  EXPECT_EQ(describe(flow.facts()), "3 rows in 2 classes (iris: 1, rose: 2)");
}

TEST(Csv, takes_patterns_and_one_element_lists_as_vectors) {
  const CsvFile file(kFlowers);
  const DataFlow flow = file.flow("columns: {x: \"width|height\", y: [\"a.*\", width], z: [area]}");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [2], y float32 [2], z float32 [1]");
  EXPECT_EQ(samples_of(flow)[0], (std::vector<double>{1.5, 2, 3, 1.5, 3}));
}

TEST(Csv, knows_what_plain_names_give_before_it_is_opened) {
  const CsvFile file(kFlowers);
  const DataFlow flow =
      file.flow("columns: {x: [width, area], y: height}, labels: {z: {column: a, classes: [b]}}");
  EXPECT_TRUE(flow.knows_spec());
  EXPECT_EQ(flow.spec().str(), "x float32 [2], y float32 [], z int32 []");
  EXPECT_EQ(flow.spec()[2].classes, (std::vector<std::string>{"b"}));
  EXPECT_FALSE(file.flow("columns: {x: \"w.*\"}").knows_spec());
}

TEST(Csv, numbers_columns_without_a_header) {
  const CsvFile file("1;a\r\n2;b\r\n");
  const DataFlow flow = file.flow("header: false, delimiter: \";\", columns: {x: 0}, labels: {y: 1}");
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{1, 0}, {2, 1}}));
}

TEST(Csv, sorts_class_names_that_are_numbers_by_value) {
  const CsvFile file("digit\n10\n9\n0\n");
  const DataFlow flow = file.flow("labels: {label: digit}");
  flow.prepare();
  EXPECT_EQ(flow.spec()[0].classes, (std::vector<std::string>{"0", "9", "10"}));
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{2}, {1}, {0}}));
}

TEST(Csv, takes_the_order_of_classes_from_the_config) {
  const CsvFile file("c\nlow\nhigh\n");
  const DataFlow flow = file.flow("labels: {y: {column: c, classes: [low, mid, high]}}");
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{0}, {2}}));
  EXPECT_EQ(flow.spec()[0].classes.size(), 3U);
  EXPECT_THAT(
      error_of([&] { samples_of(file.flow("labels: {y: {column: c, classes: [low, higher]}}")); }),
      HasSubstr(file.path() +
                ":3: column 'c' has 'high', which is not one of its 'classes'; did you mean 'higher'?"));
}

TEST(Csv, a_list_of_label_columns_is_a_set) {
  const CsvFile file("x,red,round,kind\n1,0,1,a\n2,1,0.5,b\n3,2,0,a\n4,0,-1,a\n");
  const DataFlow flow = file.flow("columns: {x: x}, labels: {kind: kind, tags: [red, round]}", "skip");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [], tags float32 [2], kind int32 []");
  EXPECT_EQ(flow.spec()[1].classes, (std::vector<std::string>{"red", "round"}));
  std::vector<std::string> errors;
  flow.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{1, 0, 1, 0}, {2, 1, 0.5, 1}}));
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_THAT(errors[0], HasSubstr("a.csv:4: column 'red' has 2; a label of a set must be 0, 1 or between"));
  const DataFlow pattern = file.flow("labels: {tags: [\"r.*\"]}");
  EXPECT_FALSE(pattern.knows_spec());
  pattern.prepare();
  EXPECT_EQ(pattern.spec()[0].classes, (std::vector<std::string>{"red", "round"}));
  EXPECT_EQ(file.flow("labels: {tags: [red]}").spec()[0].classes, std::vector<std::string>{"red"})
      << "plain names need no file";
  EXPECT_THAT(file.prepare_error("labels: {tags: []}"), HasSubstr("empty list"));
}

TEST(Csv, missing_values_are_bad_samples_or_a_number) {
  const CsvFile file("x,y\n1,2\n,4\n5,NA\n7,8\n");
  const std::string columns = "columns: {x: x, y: y}";
  const DataFlow flow = file.flow(columns);
  flow.prepare();
  EXPECT_EQ(flow.facts()[0].remarks,
            (std::vector<std::string>{"2 bad rows; the first one is line 3: column 'x' has no value; to "
                                      "replace missing values, set 'missing'"}));
  EXPECT_THAT(error_of([&] { samples_of(flow); }),
              HasSubstr("csv_0, sample 1 of pass 0: " + file.path() +
                        ":3: column 'x' has no value; to replace missing values, set 'missing'; to skip such "
                        "rows, write the flow as {on_error: replace, flow: [...]} (or use skip)"));
  EXPECT_EQ(samples_of(file.flow(columns, "skip")), (std::vector<std::vector<double>>{{1, 2}, {7, 8}}));
  EXPECT_EQ(samples_of(file.flow(columns + ", missing: -1")),
            (std::vector<std::vector<double>>{{1, 2}, {-1, 4}, {5, -1}, {7, 8}}));
}

TEST(Csv, bad_rows_have_no_classes) {
  const CsvFile file("x,a,b\n1,red,up\n2,blue,\n3,red,down\n");
  const DataFlow flow = file.flow("columns: {x: x}, labels: {a: a, b: b}", "skip");
  flow.prepare();
  EXPECT_EQ(flow.spec()[1].classes, std::vector<std::string>{"red"});
  EXPECT_EQ(flow.spec()[2].classes, (std::vector<std::string>{"down", "up"}));
  EXPECT_EQ(samples_of(flow).size(), 2U);
}

TEST(Csv, other_bad_fields_name_line_and_column) {
  const CsvFile file("x,y\n1,2\noops,4\n5\n1e39,1\n1,2,3\n");
  const DataFlow flow = file.flow("columns: {x: x}", "skip");
  std::vector<std::string> errors;
  flow.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  EXPECT_EQ(samples_of(flow).size(), 1U);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_THAT(errors[0], HasSubstr("a.csv:3: column 'x' has 'oops', which is not a number"));
  EXPECT_THAT(errors[1], HasSubstr("a.csv:4: 1 field, but the header has 2"));
  EXPECT_THAT(errors[2], HasSubstr("a.csv:5: column 'x' has '1e39'"));
  EXPECT_THAT(errors[3], HasSubstr("a.csv:6: 3 fields, but the header has 2"));
}

TEST(Csv, says_when_it_is_opened_what_does_not_fit_the_file) {
  const CsvFile file(kFlowers);
  EXPECT_THAT(
      file.prepare_error("columns: {x: [widht], y: [height, nothing]}"),
      testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr("unknown column 'widht'; did you mean 'width'?"),
                     HasSubstr("unknown column 'nothing'"),
                     HasSubstr("has the columns width, height, the, species, area")));
  EXPECT_THAT(file.prepare_error("columns: {x: [\"a(\"]}"), HasSubstr("a("));
  EXPECT_THAT(file.prepare_error("labels: {x: \".*h.*\"}"), HasSubstr("matches 3 columns"));
  EXPECT_THAT(file.prepare_error("columns: {x: \"the, species\"}"), HasSubstr("; all 3 rows are bad"));
  EXPECT_THAT(CsvFile("a;b\n1;2\n").prepare_error("columns: {x: a}"), HasSubstr("; set delimiter: \";\""));
  EXPECT_THAT(CsvFile("a b\n1 2\n").prepare_error("columns: {x: a}"), HasSubstr("check 'delimiter'"));
  EXPECT_THAT(CsvFile("a,a\n1,2\n").prepare_error("columns: {x: a}"),
              HasSubstr("2 columns with the name 'a'"));
  EXPECT_THAT(CsvFile("").prepare_error("columns: {x: a}"), HasSubstr("is empty"));
  EXPECT_THAT(CsvFile("a\n").prepare_error("columns: {x: a}"), HasSubstr("has no rows after its header"));
}

TEST(Csv, text_that_is_no_utf8_is_named_by_line_or_read_as_latin1) {
  const CsvFile file("x,city\n1,Oslo\n2,K\xF8ln\n3,K\xF8ln\n");
  EXPECT_THAT(
      file.prepare_error("columns: {x: x}, labels: {c: city}"),
      HasSubstr("a.csv:3: is not UTF-8 ('2,K\\xF8'); save the file as UTF-8, or set encoding: latin1"));
  const DataFlow flow = file.flow("columns: {x: x}, labels: {c: city}, encoding: latin1");
  flow.prepare();
  EXPECT_EQ(flow.spec()[1].classes, (std::vector<std::string>{"K\xC3\xB8ln", "Oslo"}));
  const CsvFile marked("\xEF\xBB\xBFx,city\n1,K\xC3\xB8ln\n");
  EXPECT_EQ(samples_of(marked.flow("columns: {x: x}")), (std::vector<std::vector<double>>{{1}}));
}

TEST(Csv, says_how_a_class_can_be_called_none) {
  const CsvFile file("y\nNone\nsome\n");
  EXPECT_THAT(file.flow("labels: {y: y}").facts()[0].remarks,
              testing::ElementsAre(
                  HasSubstr("('None' counts as missing; if it is a class, name all of them in 'classes')")));
  EXPECT_EQ(samples_of(file.flow("labels: {y: {column: y, classes: [None, some]}}")),
            (std::vector<std::vector<double>>{{0}, {1}}));
}

TEST(Csv, says_which_integers_it_rounds) {
  const CsvFile file("id,x\n16777217,16777216\n123456789,0.1\n");
  EXPECT_THAT(file.flow("columns: {id: id, x: x}").facts()[0].remarks,
              testing::ElementsAre("column 'id' has numbers above 16,777,216 that float32 rounds, such as "
                                   "16777217; subtract an offset in the file; leave out a column of ids"));
}

TEST(Csv, says_at_once_what_is_wrong_in_the_config) {
  const CsvFile file(kFlowers);
  EXPECT_THAT(file.prepare_error("columns: {}"), HasSubstr("no columns"));
  EXPECT_THAT(file.prepare_error("columns: {x: []}"), HasSubstr("empty list"));
  EXPECT_THAT(file.prepare_error("columns: {x: a}, labels: {x: b}"),
              HasSubstr("in 'columns' and in 'labels'"));
  EXPECT_THAT(file.prepare_error("columns: {x: a}, delimiter: ab"), HasSubstr("one character"));
  EXPECT_THAT(file.prepare_error("labels: {y: {column: a, classes: [b, b]}}"), HasSubstr("has 'b' twice"));
  EXPECT_THAT(file.prepare_error("columns: [a]"), HasSubstr("columns by component"));
}

TEST(Csv, seeks_in_a_shuffled_pass) {
  std::string text = "x\n";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + "\n";
  const CsvFile file(text);
  const DataFlow flow = file.flow("shuffle: true, columns: {x: x}");
  const auto all = samples_of(flow, {.seed = 3, .pass = 1});
  EXPECT_EQ(all.size(), 20U);
  EXPECT_EQ(samples_of(flow, {.seed = 3, .pass = 1, .position = 7}),
            (std::vector<std::vector<double>>{all.begin() + 7, all.end()}));
  EXPECT_NE(samples_of(flow, {.seed = 3, .pass = 2}), all);
  EXPECT_EQ(flow.seek(), Seek::kExact);
}

/// Flows on several files.
class CsvFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    folder_.write(name, {text.begin(), text.end()});
  }
  DataFlow flow(const std::string& params) const {
    const DataFlow flow =
        make_flow(parse_yaml("[{CSV: {shuffle: false, " + params + "}}]", folder_.path("flow.yaml")));
    flow.prepare();
    return flow;
  }
  std::string error(const std::string& params) const {
    return error_of([&] { samples_of(flow(params)); });
  }
  TempFolder folder_;
};

TEST_F(CsvFiles, may_be_packed_under_any_name) {
  folder_.write("a.csv", gzip_file("x,y\n1,2\n3,4\n"));
  folder_.write("b.tsv.zst", zstandard_file("x\ty\n1\t2\n3\t4\n"));
  const std::vector<std::vector<double>> expected = {{1, 2}, {3, 4}};
  EXPECT_EQ(samples_of(flow("file: a.csv, columns: {v: [x, y]}")), expected);
  EXPECT_EQ(samples_of(flow("file: b.tsv.zst, columns: {v: [x, y]}")), expected);
  folder_.write("c.csv.gz", gzip_file("x,y\n1,2\nbad,4\n"));
  EXPECT_THAT(error("file: c.csv.gz, columns: {v: [x, y]}"), HasSubstr("c.csv.gz:3: column 'x' has 'bad'"));
  std::vector<uint8_t> cut = gzip_file("x,y\n1,2\n3,4\n");
  cut.resize(cut.size() - 3);
  folder_.write("d.csv.gz", cut);
  EXPECT_THAT(error("file: d.csv.gz, columns: {v: [x, y]}"),
              HasSubstr("d.csv.gz: is cut off: its gzip data end early"));
}

TEST_F(CsvFiles, have_tabs_if_they_are_called_so) {
  write("a.tsv", "x\ty z\n1\t2\n");
  write("a.txt", "x\ty z\n1\t2\n");
  const std::vector<std::vector<double>> expected = {{1, 2}};
  EXPECT_EQ(samples_of(flow("file: a.tsv, columns: {v: [x, y z]}")), expected);
  EXPECT_EQ(samples_of(flow("file: a.txt, delimiter: tab, columns: {v: [x, y z]}")), expected);
  EXPECT_EQ(samples_of(flow("file: a.txt, delimiter: \"\\t\", columns: {v: [x, y z]}")), expected);
  EXPECT_THAT(error("file: a.txt, columns: {v: [x, y z]}"), HasSubstr("; set delimiter: tab"));
}

TEST_F(CsvFiles, of_json_lines_are_rows) {
  write("a.jsonl",
        "{\"x\": 1.5, \"ok\": true, \"kind\": \"red\", \"code\": [1, 2]}\n"
        "{\"kind\": \"blue\", \"x\": null, \"ok\": false, \"code\": [3, 4]}\n"
        "{\"kind\": \"red\", \"ok\": true, \"x\": \"2\", \"code\": [5, 6]}\n");
  const DataFlow all = flow(
      "file: a.jsonl, columns: {x: x, v: [\"code[.].\"], n: ok}, labels: {ok: ok, kind: kind}, missing: {x: "
      "-1}");
  EXPECT_EQ(all.spec().str(), "x float32 [], v float32 [2], n float32 [], ok int32 [], kind int32 []");
  EXPECT_EQ(all.spec()[3].classes, (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(samples_of(all), (std::vector<std::vector<double>>{
                                 {1.5, 1, 2, 1, 1, 1}, {-1, 3, 4, 0, 0, 0}, {2, 5, 6, 1, 1, 1}}));
  EXPECT_THAT(error("file: a.jsonl, columns: {x: x}"), HasSubstr("a.jsonl:2: column 'x' has no value"));
  EXPECT_THAT(error("file: a.jsonl, columns: {x: code}"),
              HasSubstr("is a list or an object; name its columns, such as 'code.0', or use a pattern for "
                        "all of them: [\"code[.].*\"]"));
  EXPECT_THAT(error("file: a.jsonl, columns: {x: kind}"), HasSubstr("column 'kind' has 'red'"));
  write("a.txt", "{\"x\": 1}\n{\"x\": 2}\n");
  EXPECT_EQ(samples_of(flow("file: a.txt, format: jsonl, columns: {x: x}")).size(), 2U);
  write("b.jsonl", "{\"x\": 1}\n{\"x\": }\n");
  EXPECT_THAT(error("file: b.jsonl, columns: {x: x}"), HasSubstr("b.jsonl:2: is not JSON: byte 7"));
  folder_.write("c.ndjson.gz", gzip_file("{\"x\": 0.5}\n"));
  EXPECT_EQ(samples_of(flow("file: c.ndjson.gz, columns: {x: x}, decimal: \",\"")),
            (std::vector<std::vector<double>>{{0.5}}));
  write("d.jsonl", "");
  EXPECT_THAT(error("file: d.jsonl, columns: {x: x}"), HasSubstr("d.jsonl: is empty"));
  write("e.jsonl", "x,y\n1,2\n");
  EXPECT_THAT(error("file: e.jsonl, columns: {x: x}"), HasSubstr("e.jsonl:1: is not JSON"));
}

TEST_F(CsvFiles, of_one_table_are_read_in_order) {
  write("part-2.csv", "y,x\n40,4\n");
  folder_.write("part-3.csv", gzip_file("x,y\n5,50\n"));
  const std::vector<std::vector<double>> expected = {{1, 10}, {2, 20}, {-1, 3}, {4, 40}, {5, 50}};
  write("part-1.csv", "x,y\n1,10\n2,20\n,3\n");
  EXPECT_EQ(samples_of(flow("file: part-*.csv, columns: {v: [x, y]}, missing: -1")), expected);
  EXPECT_EQ(samples_of(flow("file: [part-1.csv, part-2.csv, part-3.csv], columns: {v: [x, y]}, missing: -1")),
            expected);
  EXPECT_EQ(samples_of(flow("file: [part-3.csv, part-2.csv], columns: {v: [x, y]}")),
            (std::vector<std::vector<double>>{{5, 50}, {4, 40}}));
  write("part-2.csv", "y,x\n30,3\n40,oops\n");
  const DataFlow all = flow("file: part-*.csv, columns: {v: [x, y]}");
  EXPECT_THAT(all.facts()[0].remarks,
              testing::ElementsAre(HasSubstr("part-1.csv:4: column 'x' has no value")));
  EXPECT_THAT(error("file: part-*.csv, columns: {v: [x, y]}, missing: 0"),
              HasSubstr("part-2.csv:3: column 'x' has 'oops'"));
}

TEST_F(CsvFiles, of_one_table_have_the_same_columns) {
  write("a.csv", "x,y\n1,2\n");
  write("b.csv", "x,z,w\n1,2,3\n");
  write("c.jsonl", "{\"x\": 1}\n");
  EXPECT_THAT(error("file: [a.csv, b.csv], columns: {x: x}"),
              testing::AllOf(HasSubstr("b.csv: lacks column 'y', which "),
                             HasSubstr("a.csv has, and has columns 'z', 'w', which"),
                             HasSubstr("; all files of a table must have the same columns")));
  EXPECT_THAT(error("file: [a.csv, a.csv], columns: {x: x}"),
              testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr("a.csv is listed twice")));
  EXPECT_THAT(error("file: [a.csv, c.jsonl], columns: {x: x}"), HasSubstr("have different formats"));
  EXPECT_THAT(
      error("file: part-*.csv, columns: {x: x}"),
      testing::AllOf(HasSubstr("flow.yaml:1:"), HasSubstr("no file matches"), HasSubstr("part-*.csv'")));
  EXPECT_THAT(error("file: [a.csv, d.csv], columns: {x: x}"), HasSubstr("no such file"));
  EXPECT_THAT(error("file: [], columns: {x: x}"), HasSubstr("an empty path or list"));
  EXPECT_THAT(error("file: null, columns: {x: x}"), HasSubstr("an empty path or list"));
}

TEST_F(CsvFiles, of_one_table_are_all_in_the_fingerprint) {
  write("a.csv", "x\n1\n");
  write("b.csv", "x\n2\n");
  const std::string before = flow("file: \"?.csv\", columns: {x: x}").fingerprint();
  EXPECT_EQ(flow("file: [a.csv, b.csv], columns: {x: x}").fingerprint(), before);
  write("b.csv", "x\n2\n3\n");
  const std::string changed = flow("file: \"?.csv\", columns: {x: x}").fingerprint();
  EXPECT_NE(changed, before);
  write("c.csv", "x\n9\n");
  EXPECT_NE(flow("file: \"?.csv\", columns: {x: x}").fingerprint(), changed);
}

/// The flow of a source in a folder with two files.
std::string content_with_flowers(const std::string& source) {
  const TempFolder folder;
  const std::string text =
      "sepal_length,sepal_width,petal_length,species\n1,2,3,rose\n4,5,6,iris\n7,,9,iris\n2,3,4,elm\n";
  folder.write("iris.csv", {text.begin(), text.end()});
  const std::string other = "sepal_length,sepal_width,petal_length,species\n9,9,9,x\n";
  folder.write("other.csv", {other.begin(), other.end()});
  std::string content = content_of_flow("[" + source + "]", folder.path("flow.yaml"));
  for (size_t at = 0; (at = content.find(folder.path())) != std::string::npos;)  // of errors
    content.erase(at, folder.path().size());
  return content;
}

const live::Fields kCsv("source", "CSV",
                        {.values = {{"file", "other.csv"},
                                    {"columns", "{x: petal_length}"},
                                    {"labels", "{label: sepal_length}"},
                                    {"delimiter", "\";\""},
                                    {"header", "false"},
                                    {"missing", "5"},
                                    {"na_values", "7"},
                                    {"decimal", "\",\""}},
                         .left_out = {{"encoding", "the file is ASCII; text_that_is_no_utf8... looks at it"},
                                      {"types", "of columns that are auto; csv_features_test looks at it"},
                                      {"dates", "as types"},
                                      {"format", "of another file; of_json_lines_are_rows looks at it"},
                                      {"scale", "as types"},
                                      {"clip", "as types"}},
                         .build = content_with_flowers});

TEST(CsvSource, rejects_columns_of_one_name_for_auto) {
  EXPECT_THAT(CsvFile("a,a,y\n1,2,0\n3,4,1\n5,7,1\n").prepare_error("columns: {x: auto, y: y}"),
              HasSubstr("has two columns 'a'"));
}

/// A pattern that looks at each character in turn would need a deep stack.
TEST(CsvSource, tells_a_long_field_that_is_no_number) {
  std::string field = "1";
  for (int i = 0; i < 100'000; ++i) field += ",123";
  EXPECT_THAT(CsvFile("a\n\"" + field + "\"\n").prepare_error("columns: {x: a}"),
              HasSubstr("which is not a number of float32"));
  EXPECT_THAT(CsvFile("a\n\"1,5\"\n").prepare_error("columns: {x: a}"), HasSubstr("decimal: \",\""));
}

TEST(CsvSource, says_what_to_do_where_a_table_does_not_fit_into_memory) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer ends the program instead";
  std::string text = "a,b\n";
  for (int i = 0; i < 8'000'000; ++i) text += "1,2\n";
  const CsvFile file(text);
  const DataFlow flow = file.flow("columns: {x: [a, b]}");
  std::string message;
  {
    const LimitedAddressSpace limited(50'000'000);  // the file has 32 MB, its numbers 64
    if (limited.is_lower()) GTEST_SKIP() << "the limit of this process is lower";
    message = error_of([&] { flow.prepare(); });
  }
  EXPECT_THAT(message, HasSubstr("a.csv: the table does not fit into the memory"));
  EXPECT_THAT(message, HasSubstr("put it in Streamed: {source: {CSV: {...}}}"));
}

}  // namespace
}  // namespace tpack
