#include "table/text_file.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

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
