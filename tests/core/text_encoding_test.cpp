#include "core/text_encoding.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(TextEncoding, finds_the_first_byte_that_is_not_utf8) {
  EXPECT_FALSE(first_invalid_utf8(""));
  EXPECT_FALSE(first_invalid_utf8("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x95"));  // e acute, euro sign, a dog
  EXPECT_EQ(first_invalid_utf8("caf\xE9"), 3U) << "Latin-1";
  EXPECT_EQ(first_invalid_utf8("a\xC3"), 1U) << "cut off";
  EXPECT_EQ(first_invalid_utf8("\xC0\x80"), 0U) << "longer than needed";
  EXPECT_EQ(first_invalid_utf8("\xE0\x80\x80"), 0U);
  EXPECT_EQ(first_invalid_utf8("\xED\xA0\x80"), 0U) << "half of a pair";
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0U) << "above U+10FFFF";
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    text[at] = '\xFF';
    EXPECT_EQ(first_invalid_utf8(text), at);
    EXPECT_EQ(first_invalid_utf8(text.substr(0, at + 1)), at);
  }
}

TEST(TextEncoding, writes_other_bytes_as_numbers) {
  EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(printable("b\xE9\xFFt.png"), "b\\xE9\\xFFt.png");
  EXPECT_EQ(printable(""), "");
}

TEST(TextEncoding, converts_latin1) {
  EXPECT_EQ(utf8_of_latin1("M\xFCller \xA3"), "M\xC3\xBCller \xC2\xA3");
  EXPECT_FALSE(first_invalid_utf8(utf8_of_latin1("\x80\xBF\xC0\xFF")));
}

TEST(TextEncoding, skips_a_byte_order_mark) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFx"), "x");
  EXPECT_EQ(without_byte_order_mark("x"), "x");
}

TEST(TextEncoding, has_two_forms_of_accents) {
  EXPECT_EQ(composed("cafe\u0301"), "caf\u00e9");
  EXPECT_EQ(decomposed("caf\u00e9"), "cafe\u0301");
  EXPECT_EQ(composed("caf\u00e9 x"), "caf\u00e9 x");
  EXPECT_EQ(composed("caf\xe9"), "caf\xe9") << "no UTF-8";
  EXPECT_EQ(composed(std::string("e\u0301\0e", 5)), std::string("\u00e9\0e", 4)) << "a NUL is a character";
}

TEST(TextEncoding, makes_control_characters_visible) {
  EXPECT_EQ(printable("a\x1B]0;t\x07"
                      "b\x7F\tc\n\r"),
            "a\\x1B]0;t\\x07b\\x7F\\tc\\n\\r");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9B31m")
      << "a control of one byte in Latin-1";
  EXPECT_EQ(printable("x\u202Egpj.exe"), "x\\u202Egpj.exe");
  EXPECT_EQ(printable("\u00A0\u00e9\U0001F415"), "\u00A0\u00e9\U0001F415");
  EXPECT_EQ(printable_lines("a\tb\n\x1B[2Kc\xFF\r"), "a\tb\n\\x1B[2Kc\\xFF\\r");
}

TEST(TextEncoding, keeps_control_characters_where_text_is_data) {
  EXPECT_EQ(valid_utf8("a\tb\n\x1B\xFF\xC3\xA9"), "a\tb\n\x1B\\xFF\xC3\xA9");
}

}  // namespace
}  // namespace tpack
