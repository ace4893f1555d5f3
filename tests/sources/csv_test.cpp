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
  EXPECT_EQ(flow.spec()[2].classes, (Texts{"iris", "rose"}));
  EXPECT_EQ(samples_of(flow), (Rows{{1.5, 2, 3, 1}, {-1, 4, -4, 0}, {0, 10, 0, 1}}));
  EXPECT_EQ(describe(flow.facts()), "3 rows in 2 classes (iris: 1, rose: 2)");
}

TEST(Csv, takes_patterns_and_one_element_lists_as_vectors) {
  const CsvFile file(kFlowers);
  const DataFlow flow = file.flow("columns: {x: \"width|height\", y: [\"a.*\", width], z: [area]}");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [2], y float32 [2], z float32 [1]");
  EXPECT_EQ(samples_of(flow)[0], (Numbers{1.5, 2, 3, 1.5, 3}));
}

TEST(Csv, knows_what_plain_names_give_before_it_is_opened) {
  const CsvFile file(kFlowers);
  const DataFlow flow =
      file.flow("columns: {x: [width, area], y: height}, labels: {z: {column: a, classes: [b]}}");
  EXPECT_TRUE(flow.knows_spec());
  EXPECT_EQ(flow.spec().str(), "x float32 [2], y float32 [], z int32 []");
  EXPECT_EQ(flow.spec()[2].classes, (Texts{"b"}));
  EXPECT_FALSE(file.flow("columns: {x: \"w.*\"}").knows_spec());
}

TEST(Csv, numbers_columns_without_a_header) {
  const CsvFile file("1;a\r\n2;b\r\n");
  const DataFlow flow = file.flow("header: false, delimiter: \";\", columns: {x: 0}, labels: {y: 1}");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 0}, {2, 1}}));
}

TEST(Csv, sorts_class_names_that_are_numbers_by_value) {
  const CsvFile file("digit\n10\n9\n0\n");
  const DataFlow flow = file.flow("labels: {label: digit}");
  flow.prepare();
  EXPECT_EQ(flow.spec()[0].classes, (Texts{"0", "9", "10"}));
  EXPECT_EQ(samples_of(flow), (Rows{{2}, {1}, {0}}));
}

TEST(Csv, takes_the_order_of_classes_from_the_config) {
  const CsvFile file("c\nlow\nhigh\n");
  const DataFlow flow = file.flow("labels: {y: {column: c, classes: [low, mid, high]}}");
  EXPECT_EQ(samples_of(flow), (Rows{{0}, {2}}));
  EXPECT_EQ(flow.spec()[0].classes.size(), 3U);
  EXPECT_TRUE(fails([&] { samples_of(file.flow("labels: {y: {column: c, classes: [low, higher]}}")); },
                    {file.path() + ":3: column 'c' has 'high'", "did you mean 'higher'?"}));
}

TEST(Csv, a_list_of_label_columns_is_a_set) {
  const CsvFile file("x,red,round,kind\n1,0,1,a\n2,1,0.5,b\n3,2,0,a\n4,0,-1,a\n");
  const DataFlow flow = file.flow("columns: {x: x}, labels: {kind: kind, tags: [red, round]}", "skip");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [], tags float32 [2], kind int32 []");
  EXPECT_EQ(flow.spec()[1].classes, (Texts{"red", "round"}));
  Texts errors;
  flow.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  EXPECT_EQ(samples_of(flow), (Rows{{1, 0, 1, 0}, {2, 1, 0.5, 1}}));
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_THAT(errors[0], HasSubstr("a.csv:4: column 'red' has 2; a label of a set must be 0, 1 or between"));
  const DataFlow pattern = file.flow("labels: {tags: [\"r.*\"]}");
  EXPECT_FALSE(pattern.knows_spec());
  pattern.prepare();
  EXPECT_EQ(pattern.spec()[0].classes, (Texts{"red", "round"}));
  EXPECT_EQ(file.flow("labels: {tags: [red]}").spec()[0].classes, Texts{"red"}) << "plain names need no file";
}

TEST(Csv, missing_values_are_bad_samples_or_a_number) {
  const CsvFile file("x,y\n1,2\n,4\n5,NA\n7,8\n");
  const std::string columns = "columns: {x: x, y: y}";
  const DataFlow flow = file.flow(columns);
  flow.prepare();
  EXPECT_TRUE(says(remarks_of(flow).at(0), {"2 bad rows", "line 3: column 'x'", "set 'missing'"}));
  EXPECT_TRUE(fails([&] { samples_of(flow); },
                    {"csv_0, sample 1 of pass 0: " + file.path() + ":3: column 'x' has no value",
                     "set 'missing'", "{on_error: replace, flow: [...]}"}));
  EXPECT_EQ(samples_of(file.flow(columns, "skip")), (Rows{{1, 2}, {7, 8}}));
  EXPECT_EQ(samples_of(file.flow(columns + ", missing: -1")), (Rows{{1, 2}, {-1, 4}, {5, -1}, {7, 8}}));
}

TEST(Csv, bad_rows_have_no_classes) {
  const CsvFile file("x,a,b\n1,red,up\n2,blue,\n3,red,down\n");
  const DataFlow flow = file.flow("columns: {x: x}, labels: {a: a, b: b}", "skip");
  flow.prepare();
  EXPECT_EQ(flow.spec()[1].classes, Texts{"red"});
  EXPECT_EQ(flow.spec()[2].classes, (Texts{"down", "up"}));
  EXPECT_EQ(samples_of(flow).size(), 2U);
}

TEST(Csv, other_bad_fields_name_line_and_column) {
  const CsvFile file("x,y\n1,2\noops,4\n5\n1e39,1\n1,2,3\n");
  const DataFlow flow = file.flow("columns: {x: x}", "skip");
  Texts errors;
  flow.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  EXPECT_EQ(samples_of(flow).size(), 1U);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_THAT(errors[0], HasSubstr("a.csv:3: column 'x' has 'oops', which is not a number"));
  EXPECT_THAT(errors[1], HasSubstr("a.csv:4: 1 field, but the header has 2"));
  EXPECT_THAT(errors[2], HasSubstr("a.csv:5: column 'x' has '1e39'"));
  EXPECT_THAT(errors[3], HasSubstr("a.csv:6: 3 fields, but the header has 2"));
}

TEST(Csv, says_when_it_is_opened_what_does_not_fit_the_file) {
  const std::vector<std::tuple<const char*, std::string, Texts>> cases = {
      {kFlowers,
       "columns: {x: [widht], y: [height, nothing]}",
       {"flow.yaml:1:", "'widht'; did you mean 'width'?", "unknown column 'nothing'",
        "has the columns width, height, the, species, area"}},
      {kFlowers, "columns: {x: [\"a(\"]}", {"a("}},
      {kFlowers, "labels: {x: \".*h.*\"}", {"matches 3 columns"}},
      {kFlowers, "columns: {x: \"the, species\"}", {"; all 3 rows are bad"}},
      {"a;b\n1;2\n", "columns: {x: a}", {"; set delimiter: \";\""}},
      {"a b\n1 2\n", "columns: {x: a}", {"check 'delimiter'"}},
      {"a,a\n1,2\n", "columns: {x: a}", {"2 columns with the name 'a'"}},
      {"a,a,y\n1,2,0\n3,4,1\n5,7,1\n", "columns: {x: auto, y: y}", {"has two columns 'a'"}},
      {"", "columns: {x: a}", {"is empty"}},
      {"a\n", "columns: {x: a}", {"has no rows after its header"}},
      {"a\n\"1,5\"\n", "columns: {x: a}", {"decimal: \",\""}}};
  for (const auto& [text, params, parts] : cases)
    EXPECT_TRUE(says(CsvFile(text).prepare_error(params), parts)) << text << params;
}

TEST(Csv, text_that_is_no_utf8_is_named_by_line_or_read_as_latin1) {
  const CsvFile file("x,city\n1,Oslo\n2,K\xF8ln\n3,K\xF8ln\n");
  EXPECT_TRUE(says(file.prepare_error("columns: {x: x}, labels: {c: city}"),
                   {"a.csv:3: is not UTF-8 ('2,K\\xF8')", "encoding: latin1"}));
  const DataFlow flow = file.flow("columns: {x: x}, labels: {c: city}, encoding: latin1");
  flow.prepare();
  EXPECT_EQ(flow.spec()[1].classes, (Texts{"K\xC3\xB8ln", "Oslo"}));
  const CsvFile marked("\xEF\xBB\xBFx,city\n1,K\xC3\xB8ln\n");
  EXPECT_EQ(samples_of(marked.flow("columns: {x: x}")), (Rows{{1}}));
}

TEST(Csv, says_how_a_class_can_be_called_none) {
  const CsvFile file("y\nNone\nsome\n");
  EXPECT_TRUE(says(remarks_of(file.flow("labels: {y: y}")).at(0), {"'None' counts as missing", "'classes'"}));
  EXPECT_EQ(samples_of(file.flow("labels: {y: {column: y, classes: [None, some]}}")), (Rows{{0}, {1}}));
}

TEST(Csv, says_which_integers_it_rounds) {
  const CsvFile file("id,x\n16777217,16777216\n123456789,0.1\n");
  EXPECT_TRUE(says(remarks_of(file.flow("columns: {id: id, x: x}")).at(0),
                   {"column 'id'", "float32 rounds", "16777217", "subtract an offset"}));
}

TEST(Csv, says_at_once_what_is_wrong_in_the_config) {
  const CsvFile file(kFlowers);
  expect_errors([&](const std::string& params) { file.flow(params); },
                {{"columns: {}", {"no columns"}},
                 {"columns: {x: []}", {"empty list"}},
                 {"labels: {tags: []}", {"empty list"}},
                 {"columns: {x: a}, labels: {x: b}", {"in 'columns' and in 'labels'"}},
                 {"columns: {x: a}, delimiter: ab", {"one character"}},
                 {"labels: {y: {column: a, classes: [b, b]}}", {"has 'b' twice"}},
                 {"columns: [a]", {"columns by component"}}});
}

/// Flows on several files.
class CsvFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  DataFlow flow(const std::string& params) const {
    const DataFlow flow = folder_.flow("[{CSV: {shuffle: false, " + params + "}}]");
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
  const Rows expected = {{1, 2}, {3, 4}};
  EXPECT_EQ(samples_of(flow("file: a.csv, columns: {v: [x, y]}")), expected);
  EXPECT_EQ(samples_of(flow("file: b.tsv.zst, columns: {v: [x, y]}")), expected);
  folder_.write("c.csv.gz", gzip_file("x,y\n1,2\nbad,4\n"));
  EXPECT_THAT(error("file: c.csv.gz, columns: {v: [x, y]}"), HasSubstr("c.csv.gz:3: column 'x' has 'bad'"));
  Bytes cut = gzip_file("x,y\n1,2\n3,4\n");
  cut.resize(cut.size() - 3);
  folder_.write("d.csv.gz", cut);
  EXPECT_TRUE(says(error("file: d.csv.gz, columns: {v: [x, y]}"), {"d.csv.gz: is cut off", "gzip"}));
}

TEST_F(CsvFiles, have_tabs_if_they_are_called_so) {
  write("a.tsv", "x\ty z\n1\t2\n");
  write("a.txt", "x\ty z\n1\t2\n");
  const Rows expected = {{1, 2}};
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
  EXPECT_EQ(all.spec()[3].classes, (Texts{"false", "true"}));
  EXPECT_EQ(samples_of(all), (Rows{{1.5, 1, 2, 1, 1, 1}, {-1, 3, 4, 0, 0, 0}, {2, 5, 6, 1, 1, 1}}));
  EXPECT_THAT(error("file: a.jsonl, columns: {x: x}"), HasSubstr("a.jsonl:2: column 'x' has no value"));
  EXPECT_TRUE(says(error("file: a.jsonl, columns: {x: code}"), {"'code.0'", "[\"code[.].*\"]"}));
  EXPECT_THAT(error("file: a.jsonl, columns: {x: kind}"), HasSubstr("column 'kind' has 'red'"));
  write("a.txt", "{\"x\": 1}\n{\"x\": 2}\n");
  EXPECT_EQ(samples_of(flow("file: a.txt, format: jsonl, columns: {x: x}")).size(), 2U);
  write("b.jsonl", "{\"x\": 1}\n{\"x\": }\n");
  EXPECT_THAT(error("file: b.jsonl, columns: {x: x}"), HasSubstr("b.jsonl:2: is not JSON: byte 7"));
  folder_.write("c.ndjson.gz", gzip_file("{\"x\": 0.5}\n"));
  EXPECT_EQ(samples_of(flow("file: c.ndjson.gz, columns: {x: x}, decimal: \",\"")), (Rows{{0.5}}));
  write("d.jsonl", "");
  EXPECT_THAT(error("file: d.jsonl, columns: {x: x}"), HasSubstr("d.jsonl: is empty"));
  write("e.jsonl", "x,y\n1,2\n");
  EXPECT_THAT(error("file: e.jsonl, columns: {x: x}"), HasSubstr("e.jsonl:1: is not JSON"));
}

TEST_F(CsvFiles, of_one_table_are_read_in_order) {
  write("part-2.csv", "y,x\n40,4\n");
  folder_.write("part-3.csv", gzip_file("x,y\n5,50\n"));
  const Rows expected = {{1, 10}, {2, 20}, {-1, 3}, {4, 40}, {5, 50}};
  write("part-1.csv", "x,y\n1,10\n2,20\n,3\n");
  EXPECT_EQ(samples_of(flow("file: part-*.csv, columns: {v: [x, y]}, missing: -1")), expected);
  EXPECT_EQ(samples_of(flow("file: [part-1.csv, part-2.csv, part-3.csv], columns: {v: [x, y]}, missing: -1")),
            expected);
  EXPECT_EQ(samples_of(flow("file: [part-3.csv, part-2.csv], columns: {v: [x, y]}")),
            (Rows{{5, 50}, {4, 40}}));
  write("part-2.csv", "y,x\n30,3\n40,oops\n");
  const DataFlow all = flow("file: part-*.csv, columns: {v: [x, y]}");
  EXPECT_TRUE(says(remarks_of(all).at(0), {"part-1.csv:4: column 'x' has no value"}));
  EXPECT_TRUE(
      says(error("file: part-*.csv, columns: {v: [x, y]}, missing: 0"), {"part-2.csv:3: ", "'oops'"}));
}

TEST_F(CsvFiles, of_one_table_have_the_same_columns) {
  write("a.csv", "x,y\n1,2\n");
  write("b.csv", "x,z,w\n1,2,3\n");
  write("c.jsonl", "{\"x\": 1}\n");
  expect_errors([&](const std::string& files) { flow("columns: {x: x}, file: " + files); },
                {{"[a.csv, b.csv]",
                  {"b.csv: lacks column 'y', ", "and has columns 'z', 'w'", "must have the same columns"}},
                 {"[a.csv, a.csv]", {"flow.yaml:1:", "a.csv", "twice"}},
                 {"[a.csv, c.jsonl]", {"have different formats"}},
                 {"part-*.csv", {"flow.yaml:1:", "no file matches", "part-*.csv'"}},
                 {"[a.csv, d.csv]", {"no such file"}},
                 {"[]", {"an empty path or list"}},
                 {"null", {"an empty path or list"}}});
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
  const std::string header = "sepal_length,sepal_width,petal_length,species\n";
  folder.write_text("iris.csv", header + "1,2,3,rose\n4,5,6,iris\n7,,9,iris\n2,3,4,elm\n");
  folder.write_text("other.csv", header + "9,9,9,x\n");
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

/// A pattern that looks at each character in turn would need a deep stack.
TEST(CsvSource, tells_a_long_field_that_is_no_number) {
  std::string field = "1";
  for (int i = 0; i < 100'000; ++i) field += ",123";
  EXPECT_TRUE(says(CsvFile("a\n\"" + field + "\"\n").prepare_error("columns: {x: a}"), {"not a number"}));
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
