#include "table/csv.h"

#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using Lines = std::vector<Texts>;

Lines rows_of(std::string_view text, char delimiter = ',') {
  CsvReader reader(text, delimiter, {"a.csv"});
  Lines rows;
  for (std::vector<std::string_view> fields; reader.next(fields);)
    rows.emplace_back(fields.begin(), fields.end());
  return rows;
}

TEST(CsvReader, splits_lines_of_all_kinds) {
  const Lines expected = {{"a", "b"}, {"1", "2"}, {"3", ""}};
  EXPECT_EQ(rows_of("a,b\n1,2\n3,\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n3,\r\n"), expected);
  EXPECT_EQ(rows_of("a,b\r1,2\r3,"), expected);
  EXPECT_EQ(rows_of("a,b\n\n1,2\n\n\n3,\n\n"), expected);
  EXPECT_EQ(rows_of("a;b\n1;2\n3;", ';'), expected);
  EXPECT_EQ(rows_of(""), Lines{});
  EXPECT_EQ(rows_of("\n\r\n"), Lines{});
}

TEST(CsvReader, reads_quotes_as_in_rfc_4180) {
  EXPECT_EQ(rows_of("\"a,b\",\"say \"\"yes\"\"\"\n\"two\nlines\",\"\"\n"),
            (Lines{{"a,b", "say \"yes\""}, {"two\nlines", ""}}));
  EXPECT_EQ(rows_of("\"\"\"\",5\" pipe"), (Lines{{"\"", "5\" pipe"}}));
}

TEST(CsvReader, counts_lines) {
  CsvReader reader("a\n\n\"b\nc\"\nd\n", ',', {"a.csv", 10});
  Integers lines;
  for (std::vector<std::string_view> fields; reader.next(fields);) lines.push_back(reader.line());
  EXPECT_EQ(lines, (Integers{10, 12, 14}));
  EXPECT_EQ(reader.next_line(), 15);
}

TEST(CsvReader, stops_before_a_record_that_more_text_ends) {
  const std::string text = "a,b\n1,\"two\nlines,3\n";
  CsvReader reader(text, ',', {"a.csv", 1, false});
  std::vector<std::string_view> fields;
  EXPECT_TRUE(reader.next(fields));
  EXPECT_FALSE(reader.next(fields));
  EXPECT_EQ(text.substr(reader.at()), "1,\"two\nlines,3\n");
  EXPECT_EQ(reader.next_line(), 2);
}

/// Fields of all lengths, so that their ends have all places in the blocks that are looked at together.
TEST(CsvReader, finds_the_ends_of_fields_of_any_length) {
  for (const char delimiter : {',', CsvReader::kWhitespace}) {
    std::string text;
    Lines expected;
    for (size_t row = 0; row < 200; ++row) {
      auto& fields = expected.emplace_back();
      for (size_t k = 0; k <= row % 5; ++k) {
        fields.emplace_back(1 + (row * 7 + k * 13) % 150, static_cast<char>('a' + k));
        if (row % 11 == 3 && k == 1) fields.back()[0] = '"';
        const bool is_quoted = fields.back()[0] == '"';
        if (is_quoted) fields.back() = "in " + fields.back().substr(1) + ", quotes";
        text += (k == 0             ? ""
                 : delimiter == ',' ? ","
                                    : " \t") +
                (is_quoted ? "\"" + fields.back() + "\"" : fields.back());
      }
      text += row % 3 == 0 ? "\n" : row % 3 == 1 ? "\r\n" : "\r";
    }
    EXPECT_EQ(rows_of(text, delimiter), expected);
  }
}

TEST(CsvReader, says_in_which_line_a_quote_is_wrong) {
  EXPECT_EQ(error_of([] { rows_of("a\n1\n\"b,2\n3"); }), "a.csv:3: a quote is not closed");
  EXPECT_TRUE(fails([] { rows_of("a\n\"b\"c\n"); }, {"a.csv:2: text after a closing quote"}));
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
  EXPECT_EQ(csv_number("12345678."), 12345678);
  EXPECT_EQ(csv_number("1.3456789.1"), std::nullopt);
  EXPECT_EQ(csv_number("-1234567,25", ','), -1234567.25);
  EXPECT_EQ(csv_number("1e-2", ','), 0.01);
}

/// Of texts of up to 17 bytes, one byte of which is another one, only those are numbers that strtod reads.
TEST(CsvNumber, takes_no_other_byte_for_a_digit) {
  for (size_t size = 1; size <= 17; ++size) {
    for (size_t at = 0; at < size; ++at) {
      for (int byte = 1; byte < 256; ++byte) {
        std::string text(size, '7');
        text[at] = static_cast<char>(byte);
        const bool is_digit = byte >= '0' && byte <= '9';
        const bool is_other_part = byte == '.' || byte == ' ' || (byte >= '\t' && byte <= '\r') ||
                                   byte == '-' || byte == '+' || byte == 'e' || byte == 'E';
        EXPECT_TRUE(is_other_part || csv_number(text).has_value() == is_digit) << text;
        EXPECT_EQ(csv_number(text).value_or(std::strtod(text.c_str(), nullptr)),
                  std::strtod(text.c_str(), nullptr))
            << text;
      }
    }
  }
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
