#include "table/csv_rows.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "table/row_blocks.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// "line|field|field" of each row.
using RowTexts = Texts;

std::string text_of(const CsvRow& row, int64_t line) {
  std::string text = std::to_string(line) + row.why;
  for (const std::string_view field : row.fields) text.append("|").append(field);
  return text;
}

class TextPart final : public CsvRows::Part {
 public:
  void add(const CsvRow& row) override { rows.emplace_back(row.line, text_of(row, 0).substr(1)); }
  std::vector<std::pair<int64_t, std::string>> rows;
};

class CsvRowsTest : public testing::Test {
 protected:
  CsvRows open(const std::string& text, const std::string& name = "a.csv") const {
    return CsvRows({{{folder_.write_text(name, text), {}}}}, {});
  }
  static RowTexts one_by_one(const CsvRows& table) {
    RowTexts rows;
    table.read([](const CsvHeader&) {}, [&](const CsvRow& row) { rows.push_back(text_of(row, row.line)); });
    return rows;
  }
  static RowTexts in_parts(const CsvRows& table) {
    RowTexts rows;
    table.read_parts([](const CsvHeader&) {}, [](size_t) { return std::make_unique<TextPart>(); },
                     [&](std::unique_ptr<CsvRows::Part> part, CsvRows::PlaceOfPart place) {
                       for (const auto& [line, text] : static_cast<TextPart&>(*part).rows)
                         rows.push_back(std::to_string(place.lines_before + line) + text);
                     });
    return rows;
  }
  TempFolder folder_;
};

/// Six megabytes of rows with quotes, lines within quotes, and quotes that are none. `expected` gets what the
/// rows are.
std::string long_table(RowTexts& expected, size_t max_lines_of_field) {
  Rng rng(3);
  std::string text = "a,b,c\n";
  int64_t line = 2;
  while (text.size() < 6'000'000) {
    std::string row = std::to_string(line);
    const int64_t first = line;
    for (int k = 0; k < 3; ++k) {
      std::string field(rng.below(20), 'x');
      const uint32_t kind = rng.below(10);
      const bool has_quotes = kind < 3;
      if (kind == 0) field += "\"";
      if (kind == 1) field += ",";
      if (kind == 2 && rng.below(20) == 0) {
        const auto lines = static_cast<int64_t>(rng.below(static_cast<uint32_t>(max_lines_of_field)));
        for (int64_t i = 0; i < lines; ++i) field += "1,2,\"\n";
        line += lines;
      }
      if (kind == 4) field = "5" + field + "\" pipe";
      row += "|" + field;
      std::string quoted;
      for (const char c : field) quoted += has_quotes && c == '"' ? "\"\"" : std::string(1, c);
      text += (k == 0 ? "" : ",") + (has_quotes ? "\"" + quoted + "\"" : quoted);
    }
    text += first % 3 == 0 ? "\r\n" : "\n";
    ++line;
    expected.push_back(row);
  }
  return text;
}

TEST_F(CsvRowsTest, are_the_same_one_by_one_and_in_parts) {
  for (const size_t lines : std::vector<size_t>{1, 5, 100'000}) {
    RowTexts expected;
    const std::string text = long_table(expected, lines);
    const CsvRows table = open(text);
    EXPECT_TRUE(one_by_one(table) == expected) << lines;
    EXPECT_TRUE(in_parts(table) == expected) << lines;
    const auto packed = gzip_file(text);
    const CsvRows unpacked = open({packed.begin(), packed.end()}, "a.csv.gz");
    EXPECT_TRUE(one_by_one(unpacked) == expected) << lines;
    EXPECT_TRUE(in_parts(unpacked) == expected) << lines;
  }
}

TEST_F(CsvRowsTest, of_json_lines_too) {
  std::string text;
  RowTexts expected;
  for (int i = 1; text.size() < 5'000'000; ++i) {
    text += "{\"a\": " + std::to_string(i) + ", \"b\": \"x\"}\n";
    expected.push_back(std::to_string(i) + "|" + std::to_string(i) + "|x");
  }
  const CsvRows table = open(text, "a.jsonl");
  EXPECT_TRUE(one_by_one(table) == expected);
  EXPECT_TRUE(in_parts(table) == expected);
}

TEST_F(CsvRowsTest, say_in_which_line_an_error_is) {
  std::string good = "a,b\n";
  for (int i = 0; i < 1'000'000; ++i) good += "1,\"2\"\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1,\"2\n3,4\n", "a.csv:1000002: a quote is not closed"},
      {"1,\"2\" 3\n", "a.csv:1000002: text after a closing quote"},
      {"1,\n1,\xFF\n", "a.csv:1000003: is not UTF-8"}};
  for (const auto& [end, wanted] : cases) {
    const std::string after = end.starts_with("1,\"2\n") ? "3,4\n" : good.substr(4);
    const CsvRows table = open(good + end + after);
    EXPECT_THAT(error_of([&] { one_by_one(table); }), HasSubstr(wanted));
    EXPECT_THAT(error_of([&] { in_parts(table); }), HasSubstr(wanted));
  }
  EXPECT_THAT(error_of([&] { in_parts(open("\n\n")); }), HasSubstr("is empty"));
  EXPECT_TRUE(fails([&] { in_parts(open("a\n\"b" + std::string(70'000'000, '\n'))); },
                    {"a.csv:2: ", "64 MB", "unclosed quote"}));
}

TEST(RowBlocks, finds_rows_in_blocks_of_any_length) {
  RowBlocks rows(2);
  float next = 0;
  for (const size_t count : std::vector<size_t>{3, 1, 0, 5, 2}) {
    std::vector<float> block;
    for (size_t i = 0; i < 2 * count; ++i) block.push_back(next++);
    rows.append(std::move(block));
  }
  for (size_t row = 0; row < 11; ++row) {
    EXPECT_EQ(rows.row(row)[0], static_cast<float>(2 * row));
    EXPECT_EQ(rows.row(row)[1], static_cast<float>(2 * row + 1));
  }
  const std::vector<int64_t> some = {10, 0, 3, 4, 8, 9, 2};
  EXPECT_EQ(rows.columns(1, 1, some), (std::vector<std::vector<float>>{{21, 1, 7, 9, 17, 19, 5}}));
  EXPECT_EQ(rows.columns(0, 2, std::vector<int64_t>{7, 6}),
            (std::vector<std::vector<float>>{{14, 12}, {15, 13}}));
  EXPECT_TRUE(rows.columns(1, 1, {})[0].empty());
}

}  // namespace
}  // namespace tpack
