#include "table/table_text.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "table/text_file.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// "aé€😀" again and again, in lines of 10 characters or more.
std::string long_utf8(const std::string& first) {
  std::string text = first;
  for (int i = 0; i < 300'000; ++i)
    text += i % 3 == 0 ? "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n" : "b\xC3\xA9";
  return text;
}

/// UTF-16 of a text of UTF-8 that is valid.
std::string utf16(const std::string& text, bool is_big_endian) {
  std::string out;
  const auto put = [&](uint32_t unit) {
    const char high = static_cast<char>(unit >> 8U);
    const char low = static_cast<char>(unit & 0xFFU);
    out += is_big_endian ? std::string{high, low} : std::string{low, high};
  };
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t character = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t i = 1; i < length; ++i)
      character = character << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    if (character >= 0x10000) {
      put(0xD800U + ((character - 0x10000U) >> 10U));
      put(0xDC00U + ((character - 0x10000U) & 0x3FFU));
    } else {
      put(character);
    }
    at += length;
  }
  return out;
}

class TableTextTest : public testing::Test {
 protected:
  std::string text(const Bytes& bytes, TextEncoding encoding = TextEncoding::kUtf8) const {
    TableText pieces(folder_.write("a", bytes), encoding, "a CSV file");
    std::string all;
    int64_t line = 1;
    while (const auto piece = pieces.next()) {
      EXPECT_TRUE(all.empty() || all.back() == '\n') << "a piece begins with a line";
      require_utf8(piece->text(), "a", line);
      line += std::count(piece->text().begin(), piece->text().end(), '\n');
      all += piece->text();
    }
    return all;
  }
  std::string text(const std::string& bytes, TextEncoding encoding = TextEncoding::kUtf8) const {
    return text(Bytes(bytes.begin(), bytes.end()), encoding);
  }
  std::string why(const std::string& bytes) const {
    return error_of([&] { text(bytes); });
  }
  TempFolder folder_;
};

TEST_F(TableTextTest, gives_lines_as_they_are) {
  for (const std::string first : {"", "1", "22", "333"}) {
    const std::string long_text = long_utf8(first);
    EXPECT_EQ(text(long_text), long_text);
    EXPECT_EQ(text(gzip_file(long_text)), long_text);
    EXPECT_EQ(text(zstandard_file(long_text)), long_text);
    for (const bool is_big : {false, true}) {
      EXPECT_EQ(text(utf16("\xEF\xBB\xBF" + long_text, is_big), TextEncoding::kUtf16), long_text);
      EXPECT_EQ(text(utf16("x" + long_text, is_big), TextEncoding::kUtf16), "x" + long_text)
          << "without a mark";
    }
  }
}

TEST_F(TableTextTest, reads_latin1) {
  EXPECT_EQ(text("K\xF8ln\n", TextEncoding::kLatin1), "K\xC3\xB8ln\n");
  const std::string bytes = std::string(1'500'000, '\xE9');
  EXPECT_EQ(text(bytes, TextEncoding::kLatin1).size(), 3'000'000U);
  EXPECT_EQ(text("\xEF\xBB\xBF"
                 "a\n"),
            "a\n")
      << "without its mark";
  EXPECT_EQ(text(gzip_file("\xEF\xBB\xBF"
                           "a\n")),
            "a\n");
  EXPECT_EQ(text(std::string()), "");
  EXPECT_EQ(text(gzip_file("K\xF8ln\n"), TextEncoding::kLatin1), "K\xC3\xB8ln\n");
}

TEST_F(TableTextTest, rejects_what_is_not_text) {
  EXPECT_THAT(why(std::string("\x89PNG\0", 5)), HasSubstr("is not text: byte 5 is zero"));
  EXPECT_THAT(why("\x93NUMPY\x01"), HasSubstr("is an .npy array, not a CSV file; source Npz reads it"));
  EXPECT_TRUE(
      says(why("version https://git-lfs.github.com/spec/v1\nsize 3\n"), {"Git LFS", "`git lfs pull`"}));
  EXPECT_TRUE(fails([&] { text(gzip_file(std::string(70'000'000, 'a'))); }, {"a line of more than 64 MB"}));
}

TEST_F(TableTextTest, says_where_another_encoding_begins) {
  std::string late(1'200'000, '\n');
  late += "K\xF8ln";
  const char* const wanted =
      ":1200001: is not UTF-8 ('K\\xF8'); save the file as UTF-8, or set encoding: latin1";
  EXPECT_THAT(error_of([&] { text(late); }), HasSubstr(wanted));
  EXPECT_THAT(error_of([&] { text(gzip_file(late)); }), HasSubstr(wanted));
  EXPECT_THAT(error_of([&] { text(gzip_file("a\n\xE2\x82")); }), HasSubstr(":2: is not UTF-8"));
  EXPECT_TRUE(says(why(utf16("\xEF\xBB\xBF;,b\n", false)), {"in UTF-16", "set encoding: utf-16"}));
  const auto why_not_utf16 = [&](const std::string& bytes) {
    return error_of([&] { text(bytes, TextEncoding::kUtf16); });
  };
  EXPECT_TRUE(says(why_not_utf16("a,b\n"), {"is not text in UTF-16", "set encoding: utf-8 (or latin1)"}));
  EXPECT_TRUE(says(why_not_utf16(std::string("a\0b\0c", 5)), {"is cut off"}));
  EXPECT_TRUE(says(why_not_utf16(std::string("a\0\n\0\0\xDC;\0", 8)), {":2: ", "unpaired surrogate"}));
}

using namespace std::string_view_literals;

TEST(TextFile, is_without_its_byte_order_mark) {
  EXPECT_EQ(require_text("a b", "a.txt", "a list"), "a b");
  EXPECT_EQ(require_text("", "a.txt", "a list"), "");
  EXPECT_EQ(require_text("\xEF\xBB\xBFw", "a.txt", "a list"), "w");
}

TEST(TextFile, is_rejected_if_it_is_none) {
  const auto error = [](std::string_view content) {
    return error_of([&] { require_text(content, "a.txt", "a list"); });
  };
  EXPECT_EQ(error("\x89PNG\r\n\x1A\n"sv), "a.txt: is a PNG image, not a list");
  EXPECT_EQ(error("\xFE\xFF\0a"sv), "a.txt: is text in UTF-16; save it as UTF-8");
  EXPECT_THAT(error("ab\0c"sv), HasSubstr("a.txt: is not text: byte 3 is zero"));
}

}  // namespace
}  // namespace tpack
