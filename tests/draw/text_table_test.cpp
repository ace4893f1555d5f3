#include "draw/text_table.h"

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

TEST(TextTable, continues_the_last_column_on_lines_that_fit) {
  TextTable table({"name", "meaning"});
  table.add({"a", "one two three four five six seven eight nine"});
  table.add({"b", "ten"});
  EXPECT_EQ(table.str(40),
            "name  meaning\n"
            "----  ----------------------------------\n"
            "a     one two three four five six seven\n"
            "      eight nine\n"
            "b     ten\n");
  EXPECT_EQ(table.str(26),
            "name  meaning\n"
            "----  --------------------\n"
            "a\n"
            "    one two three four\n"
            "    five six seven eight\n"
            "    nine\n"
            "b     ten\n");
}

TEST(TextTable, leaves_a_column_of_words_and_numbers_to_the_left) {
  TextTable table({"layer", "what", "bytes"});
  table.add({"Conv2D", "2-D convolution", "-5"});
  table.add({"Add", "sum", ""});
  table.add({"Pad", "zeros", "1,000"});
  EXPECT_EQ(table.str(),
            "layer   what             bytes\n"
            "------  ---------------  -----\n"
            "Conv2D  2-D convolution     -5\n"
            "Add     sum\n"
            "Pad     zeros            1,000\n");
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
