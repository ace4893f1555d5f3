#include "core/pattern.h"

#include <gmock/gmock.h>

#include "core/error.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(FullMatch, takes_the_whole_name) {
  EXPECT_TRUE(full_match("fc0/W", "fc.*/W"));
  EXPECT_FALSE(full_match("xfc0/W", "fc.*/W"));
  EXPECT_FALSE(full_match("fc0/Wx", "fc.*/W"));
  EXPECT_TRUE(full_match("conv0/b", "fc.*|conv.*"));
  EXPECT_TRUE(full_match("Größe", "Gr..e"));
  EXPECT_TRUE(full_match("x12", R"([a-z]\d+)"));
}

TEST(PartialMatch, finds_a_part_of_the_name) {
  EXPECT_TRUE(partial_match("validation_cost", "cost$"));
  EXPECT_FALSE(partial_match("validation_cost", "^cost"));
}

TEST(MatchAndReplace, fills_in_the_groups_of_a_whole_match) {
  EXPECT_EQ(match_and_replace("fc0/W", "fc(.*)/(.*)", "dense$1/$2"), "dense0/W");
  EXPECT_EQ(match_and_replace("fc0/W", "fc.*", "old_$&"), "old_fc0/W");
  EXPECT_EQ(match_and_replace("a", "(a)|(b)", "[$1$2$$]"), "[a$]");
  EXPECT_EQ(match_and_replace("xfc0/W", "fc.*/W", "y"), std::nullopt);
  EXPECT_THROW(match_and_replace("a", "(", "b"), ConfigError);
  EXPECT_THAT([] { match_and_replace("fc0/W", "fc(.*)", "$2"); },
              ThrowsMessage<ConfigError>("'$2' uses group 2, but 'fc(.*)' has 1"));
}

std::string rejection(const std::string& pattern) {
  try {
    full_match("a", pattern);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FullMatch, says_why_a_pattern_is_rejected) {
  EXPECT_THAT(rejection("("),
              HasSubstr("'(' is not a valid regular expression: its '(' and ')' do not match"));
  EXPECT_EQ(rejection("*W"),
            "'*W' is not a valid regular expression: nothing comes before '*'; write '.*' for any text");
  EXPECT_THAT(rejection("(?!fc).*"), HasSubstr("look-ahead"));
  EXPECT_THAT(rejection("a(?=b)"), HasSubstr("look-ahead"));
  EXPECT_THAT(rejection("(?<=a)b"), HasSubstr("look-behind"));
  EXPECT_THAT(rejection(R"((a)\1)"), HasSubstr("the texts of groups"));
  EXPECT_THAT(rejection("((a{100}){100}){100}"), HasSubstr("is not a valid regular expression"));
}

// Backtracking, as in std::regex, takes 2^n steps for these, or overflows the stack.
TEST(FullMatch, needs_linear_time_and_bounded_memory) {
  const std::string many(100'000, 'a');
  EXPECT_FALSE(full_match(many, "(a+)+b"));
  EXPECT_TRUE(full_match(many, "[^k].*"));
  EXPECT_FALSE(partial_match(many, "(a|aa)*c"));
  EXPECT_LT(rejection("(" + std::string(300'000, 'x') + "{1000}").size(), 1000U);
}

}  // namespace
}  // namespace tpack
