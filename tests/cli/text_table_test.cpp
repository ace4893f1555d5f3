#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(TextTable, aligns_columns_and_numbers) {
  TextTable table({"name", "count"});
  table.add({"a", "7"});
  table.add({"longer", "1,234"});
  EXPECT_EQ(table.str(),
            "name    count\n"
            "------  -----\n"
            "a           7\n"
            "longer  1,234\n");
}

TEST(TextTable, needs_no_head_and_no_whole_rows) {
  TextTable table;
  table.add({"a", "b", "c"});
  table.add({"d"});
  EXPECT_EQ(table.str(), "a  b  c\nd\n");
}

TEST(TextTable, counts_characters_not_bytes) {
  TextTable table;
  table.add({"ä", "x"});
  table.add({"bc", "y"});
  EXPECT_EQ(table.str(), "ä   x\nbc  y\n");
}

}  // namespace
}  // namespace tpack
