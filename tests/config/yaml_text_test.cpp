#include "config/yaml_text.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/errors.h"

namespace tpack {
namespace {

std::string writing_complaint(const std::string& text) {
  return error_from([&] { YamlText::of_string(text, "a.yaml"); });
}

TEST(YamlText, counts_columns_in_characters) {
  const YamlText text = YamlText::of_string("a: 1\n\xc3\xa4\xe2\x82\xac: x\n", "a.yaml");
  EXPECT_EQ(text.position(0).str(), "a.yaml:1:1");
  EXPECT_EQ(text.position(3).str(), "a.yaml:1:4");
  EXPECT_EQ(text.position(5).str(), "a.yaml:2:1");
  EXPECT_EQ(text.position(10).str(), "a.yaml:2:3");
  EXPECT_EQ(text.position(1000).str(), "a.yaml:3:1");
}

TEST(YamlText, counts_columns_of_long_lines) {
  std::string line = "x\n";
  for (int i = 0; i < 500; ++i) line += "\xc3\xa4";
  EXPECT_EQ(YamlText::of_string(line, "a").position(2 + 2 * 400).str(), "a:2:401");
}

TEST(YamlText, does_not_see_the_byte_order_mark) {
  EXPECT_EQ(YamlText::of_string("\xEF\xBB\xBFkey: 1", "a").text(), "key: 1");
}

TEST(YamlText, rejects_bytes_that_are_no_utf8_and_tabs_in_the_indentation) {
  for (const auto& [text, place] : {std::pair<std::string, std::string>("a: \xff", "a.yaml:1:4:"),
                                    {"a\na: \xc3", "a.yaml:2:4:"},
                                    {std::string("a\0b", 3), "a.yaml:1:2:"}})
    EXPECT_TRUE(says(writing_complaint(text), {place, "invalid UTF-8; save the file as UTF-8"}));
  EXPECT_EQ(writing_complaint("a:\n  \tb: 1"), "a.yaml:2:3: tab in the indentation; use spaces");
  for (const char* fine : {"a: \xf0\x9f\x98\x80", "a:\tb"}) EXPECT_EQ(writing_complaint(fine), "no error");
}

TEST(YamlText, rejects_what_is_larger_than_a_config) {
  EXPECT_EQ(writing_complaint(std::string(1000001, ' ')), "a.yaml:1:1: is larger than 1.0 MB");
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "tpack_large.yaml";
  std::ofstream(path) << std::string(1000001, '#');
  EXPECT_EQ(error_from([&] { YamlText::of_file(path.string()); }),
            path.string() + ": is larger than 1.0 MB; keep data out of the config");
  std::filesystem::remove(path);
}

TEST(YamlText, names_a_file_that_is_not_there) {
  EXPECT_EQ(error_from([&] { YamlText::of_file("no/such.yaml"); }), "no/such.yaml: no such file");
}

TEST(YamlText, knows_how_a_scalar_is_written) {
  const YamlText text = YamlText::of_string("!append &x 'it''s' \"a\\\"\" |", "a");
  EXPECT_EQ(text.skip_properties(0), 11U);
  EXPECT_EQ(text.style_at(11), ConfigNode::Style::kQuoted);
  EXPECT_TRUE(text.quote_ends(11));
  EXPECT_TRUE(text.quote_ends(19));
  EXPECT_FALSE(text.quote_ends(23));
  EXPECT_EQ(text.style_at(25), ConfigNode::Style::kBlock);
}

}  // namespace
}  // namespace tpack
