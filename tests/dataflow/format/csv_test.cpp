#include "dataflow/format/csv.h"

#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char delimiter = ',') {
  CsvReader reader(text, delimiter, "a.csv");
  Rows rows;
  for (std::vector<std::string_view> fields; reader.next(fields);)
    rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

TEST(CsvReader, splits_lines_of_all_kinds) {
  const Rows expected = {{"a", "b"}, {"1", "2"}, {"3", ""}};
  EXPECT_EQ(rows_of("a,b\n1,2\n3,\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n3,\r\n"), expected);
  EXPECT_EQ(rows_of("a,b\r1,2\r3,"), expected);
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\n\n1,2\n\n\n3,\n\n"),
            expected);
  EXPECT_EQ(rows_of("a;b\n1;2\n3;", ';'), expected);
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\n\r\n"), Rows{});
}

TEST(CsvReader, reads_quotes_as_in_rfc_4180) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"yes\"\"\"\n\"two\nlines\",\"\"\n"),
            (Rows{{"a,b", "say \"yes\""}, {"two\nlines", ""}}));
  EXPECT_EQ(rows_of("\"\"\"\",5\" pipe"), (Rows{{"\"", "5\" pipe"}}));
}

TEST(CsvReader, counts_lines) {
  CsvReader reader("a\n\n\"b\nc\"\nd\n", ',', "a.csv");
  std::vector<int64_t> lines;
  for (std::vector<std::string_view> fields; reader.next(fields);) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<int64_t>{1, 3, 5}));
}

/// The rows of a text in pieces of so many bytes, each of which is gone when the next one is read.
Rows rows_in_pieces(const std::string& text, size_t piece, std::vector<int64_t>& lines) {
  size_t at = 0;
  std::string given;
  CsvReader reader(
      [&] {
        given = std::string(text.substr(at, piece));
        at += given.size();
        return std::string_view(given);
      },
      ',', "a.csv");
  Rows rows;
  for (std::vector<std::string_view> fields; reader.next(fields);) {
    rows.emplace_back(fields.begin(), fields.end());
    lines.push_back(reader.line());
  }
  return rows;
}

TEST(CsvReader, reads_the_same_in_pieces) {
  const std::string text = "a,b\r\n\r\n1,\"two\r\nlines\"\r\"say \"\"yes\"\"\",4\n\n5,\n6,7";
  std::vector<int64_t> expected_lines;
  const Rows expected = rows_in_pieces(text, text.size(), expected_lines);
  EXPECT_EQ(expected, (Rows{{"a", "b"}, {"1", "two\r\nlines"}, {"say \"yes\"", "4"}, {"5", ""}, {"6", "7"}}));
  EXPECT_EQ(expected_lines, (std::vector<int64_t>{1, 3, 5, 7, 8}));
  for (size_t piece = 1; piece < text.size(); ++piece) {
    std::vector<int64_t> lines;
    EXPECT_EQ(rows_in_pieces(text, piece, lines), expected) << piece;
    EXPECT_EQ(lines, expected_lines) << piece;
  }
  std::vector<int64_t> lines;
  EXPECT_EQ(error_of([&] { rows_in_pieces("a\n1\n\"b,2\n3", 3, lines); }), "a.csv:3: a quote is not closed");
}

TEST(CsvReader, says_in_which_line_a_quote_is_wrong) {
  EXPECT_EQ(error_of([] { rows_of("a\n1\n\"b,2\n3"); }), "a.csv:3: a quote is not closed");
  EXPECT_THAT(error_of([] { rows_of("a\n\"b\"c\n"); }),
              testing::StartsWith("a.csv:2: text after a closing quote"));
  EXPECT_EQ(error_of([] {
              rows_of(
                  std::string_view("\xFF\xFE"
                                   "a\0",
                                   4));
            }),
            "a.csv: is text in UTF-16; save it as UTF-8");
}

TEST(CsvReader, rejects_what_is_not_text) {
  EXPECT_EQ(error_of([] { rows_of(std::string_view("\x89PNG\0", 5)); }),
            "a.csv: is not text: byte 5 is zero");
  EXPECT_EQ(error_of([] { rows_of("\x93NUMPY\x01"); }),
            "a.csv: is an .npy array, not a CSV file; source Npz reads it");
  EXPECT_EQ(error_of([] { rows_of("version https://git-lfs.github.com/spec/v1\nsize 3\n"); }),
            "a.csv: is a Git LFS pointer, not a CSV file; fetch the file with `git lfs pull`");
}

TEST(CsvReader, ends_or_throws_for_any_text) {
  const std::string alphabet = "a,\"\n\r";
  for (int code = 0; code < 5 * 5 * 5 * 5 * 5 * 5; ++code) {
    std::string text;
    for (int rest = code, i = 0; i < 6; ++i, rest /= 5) text += alphabet[static_cast<size_t>(rest % 5)];
    size_t fields = 0;
    try {
      for (const auto& row : rows_of(text)) fields += row.size();
    } catch (const DataError&) {
      continue;
    }
    EXPECT_LE(fields, 7U) << text;
  }
}

/// Whichever way a number is read, it is the double that is nearest to the text.
TEST(CsvNumber, is_the_nearest_double) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = rng.below(3) == 0 ? "-" : "";
    const uint32_t digits = 1 + rng.below(19);
    const uint32_t point = rng.below(digits + 2);
    for (uint32_t k = 0; k < digits; ++k) {
      if (k == point) text += '.';
      text += static_cast<char>('0' + rng.below(10));
    }
    const double expected = std::strtod(text.c_str(), nullptr);
    const auto found = csv_number(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(*found, expected) << text;
    EXPECT_EQ(std::signbit(*found), std::signbit(expected)) << text;
  }
  EXPECT_EQ(csv_number("5."), 5);
  EXPECT_EQ(csv_number("."), std::nullopt);
  EXPECT_EQ(csv_number("-"), std::nullopt);
  EXPECT_EQ(csv_number("1.2.3"), std::nullopt);
}

TEST(CsvNumber, reads_numbers_and_nothing_else) {
  EXPECT_EQ(csv_number(" -1.5 "), -1.5);
  EXPECT_EQ(csv_number("+2e-3"), 2e-3);
  EXPECT_EQ(csv_number(".5"), 0.5);
  for (const char* bad : {"", "a", "1,5", "1 2", "0x10", "inf", "nan", "1e", "--1", "1e999"})
    EXPECT_EQ(csv_number(bad), std::nullopt) << bad;
}

TEST(CsvNumber, knows_what_stands_for_no_value) {
  for (const char* missing : {"", " ", "NA", "nan", "null", "?"}) EXPECT_TRUE(is_missing_in_csv(missing));
  for (const char* value : {"0", "-", "nana"}) EXPECT_FALSE(is_missing_in_csv(value));
}

}  // namespace
}  // namespace tpack
