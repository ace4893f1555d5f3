#include "core/text.h"

#include <limits>

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {
namespace {

TEST(Split, keeps_empty_parts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(split("a,,b", ','), "-"), "a--b");
  EXPECT_EQ(join_first(split("a,b", ',')), "a, b");
  EXPECT_EQ(join_first(split("a,b,c,d,e,f,g,h,i,j", ',')), "a, b, c, d, e, f, g, h, i, j");
  EXPECT_EQ(join_first(split("a,b,c,d,e,f,g,h,i,j,k,l", ',')), "a, b, c, d, e, f, g, h, i, j and 2 more");
}

TEST(CharacterCount, counts_utf8_characters_not_bytes) {
  EXPECT_EQ(character_count("na\xc3\xafve"), 5U);
  EXPECT_EQ(character_count("\xe2\x82\xac\xf0\x9f\x98\x80"), 2U);
}

TEST(Trim, takes_blanks_from_both_ends) {
  EXPECT_EQ(trim(" \t a b\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(SnakeCase, follows_the_names_of_components) {
  EXPECT_EQ(snake_case("MapData"), "map_data");
  EXPECT_EQ(snake_case("ReLU"), "relu");
  EXPECT_EQ(snake_case("LeakyReLU"), "leaky_relu");
  EXPECT_EQ(snake_case("Conv2D"), "conv2d");
  EXPECT_EQ(snake_case("BatchNorm"), "batch_norm");
  EXPECT_EQ(snake_case("GlobalAvgPooling"), "global_avg_pooling");
  EXPECT_EQ(snake_case("SGD"), "sgd");
  EXPECT_EQ(snake_case("MeanIoU"), "mean_iou");
}

TEST(Shortest, reads_back_as_the_same_number) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(0.1F), "0.1");
  EXPECT_EQ(shortest(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-.inf");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), ".nan");
}

TEST(HumanBytes, never_prints_a_thousand_of_a_unit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999949), "999.9 kB");
  EXPECT_EQ(human_bytes(999999), "1.0 MB");
  EXPECT_EQ(human_bytes(1500000000), "1.5 GB");
}

TEST(HumanDuration, picks_the_unit_after_rounding) {
  EXPECT_EQ(human_duration(0.0000123), "12.3 us");
  EXPECT_EQ(human_duration(0.0045), "4.5 ms");
  EXPECT_EQ(human_duration(0.99999), "1.0 s");
  EXPECT_EQ(human_duration(12.34), "12.3 s");
  EXPECT_EQ(human_duration(59.97), "1 min 00 s");
  EXPECT_EQ(human_duration(3723), "1 h 02 min 03 s");
}

TEST(WithThousands, separates_groups_of_three) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(-1234), "-1,234");
  EXPECT_EQ(with_thousands(12345678), "12,345,678");
  EXPECT_EQ(with_thousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace tpack
