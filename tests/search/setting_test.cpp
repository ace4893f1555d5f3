#include "search/setting.h"

#include <cmath>
#include <map>

#include <gmock/gmock-matchers.h>

#include "config/overrides.h"
#include "config/yaml_reader.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const std::vector<std::string>& texts) {
  return error_from([&] { parse_search_settings(texts); });
}

SearchSetting one_setting(const std::string& text) { return parse_search_settings({text})[0]; }

TEST(SearchSettings, a_list_has_the_values_of_runs_as_they_are_written) {
  const auto settings = parse_search_settings({"optimizer.Adam.learning_rate=[1e-3, 3e-4]", "seed=7",
                                               "layers=[[8, 16], [32]]", "callbacks=!append [ModelSaver]"});
  EXPECT_THAT(settings[0].values, ElementsAre("1e-3", "3e-4"));
  EXPECT_FALSE(settings[1].is_searched());
  EXPECT_THAT(settings[2].values, ElementsAre("[8, 16]", "[32]"));
  EXPECT_FALSE(settings[3].is_searched());
  EXPECT_THAT(searched_keys(settings), ElementsAre("optimizer.Adam.learning_rate", "layers"));
  EXPECT_THAT(overrides_of(settings, {"3e-4", "[32]"}),
              ElementsAre("optimizer.Adam.learning_rate=3e-4", "seed=7", "layers=[32]",
                          "callbacks=!append [ModelSaver]"));
}

TEST(SearchSettings, each_value_reads_back_as_the_item_of_the_list) {
  const std::string list =
      "[1e-3, 'a, b', {Momentum: {learning_rate: 0.1, \"x\": [~, true]}}, $(min(1, 2)), 'no: map', !delete , "
      "\"7\", {callbacks: !append [A]}, '1..2']";
  // An expression with a comma needs quotes within a list.
  std::string quoted = list;
  quoted.replace(quoted.find("$("), std::string("$(min(1, 2))").size(), "\"$(min(1, 2))\"");
  const SearchSetting setting = one_setting("key=" + quoted);
  NodeBudget budget;
  const ConfigNode whole = *parse_override("key=" + quoted, budget).find("key");
  ASSERT_EQ(setting.values.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    const ConfigNode again = *parse_override("key=" + setting.values[i], budget).find("key");
    EXPECT_TRUE(again.same_value(whole.items()[i])) << setting.values[i];
    EXPECT_EQ(again.tag(), whole.items()[i].tag()) << setting.values[i];
  }
  EXPECT_THAT(setting.values[7], HasSubstr("!append [A]"));
}

TEST(SearchSettings, a_range_has_a_scale) {
  const SearchSetting linear = one_setting("x=[0.5..2]");
  ASSERT_TRUE(linear.range);
  EXPECT_EQ(linear.range->low, 0.5);
  EXPECT_EQ(linear.range->high, 2);
  EXPECT_FALSE(linear.range->is_log || linear.range->is_integer);
  EXPECT_TRUE(one_setting("x=[1e-5..1e-2 log]").range->is_log);
  EXPECT_TRUE(one_setting("x=[-3..4]").range->is_integer);
  EXPECT_FALSE(one_setting("x=[../a, ../b]").range) << "paths";
}

TEST(SearchSettings, draws_stay_in_the_range_and_fill_it) {
  for (const char* text : {"x=[1e-5..1e-2 log]", "x=[-1..0.25]", "x=[3..6]", "x=[1..100 log]"}) {
    const ValueRange range = *one_setting(text).range;
    Rng rng(3);
    constexpr int kDraws = 4000;
    int low_half = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = std::stod(range.draw(rng));
      ASSERT_GE(value, range.low) << text;
      ASSERT_LE(value, range.high) << text;
      if (range.is_integer) {
        ASSERT_EQ(value, std::round(value)) << text;
      }
      const double middle = range.is_log
                                ? std::sqrt(range.low * (range.is_integer ? range.high + 1 : range.high))
                                : (range.low + range.high) / 2;
      low_half += value < middle ? 1 : 0;
    }
    EXPECT_NEAR(low_half, kDraws / 2, 150) << text;  // 5 standard deviations
  }
}

TEST(SearchSettings, an_integer_range_gives_every_integer_equally_often) {
  const ValueRange range = *one_setting("x=[3..6]").range;
  Rng rng(1);
  std::map<std::string, int> counts;
  for (int i = 0; i < 4000; ++i) ++counts[range.draw(rng)];
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 1000, 140) << value;
}

TEST(SearchSettings, mistakes_are_reported_together_with_their_option) {
  const std::string text = message_of({"a=[2..1]", "b=[1e-5..1e-3 lin]", "c=[0..1 log]", "d=[1, 2..3]",
                                       "e=[]", "f=[1, 1]", "g=[1, 2]", "g=3", "h=[.nan..1]"});
  EXPECT_TRUE(says(text, {"--set a: range '2..1' is empty; the first number must be below the second",
                          "--set b: '1e-5..1e-3 lin' is", "write LOW..HIGH, or LOW..HIGH",
                          "--set c: range '0..1 log' is logarithmic; its first number must be above 0",
                          "--set d: range '2..3' is one of several values", "--set e: no value to search",
                          "to set an empty list in all", "--set f: duplicate value 1",
                          "--set g: is given more than once; write all values in one list"}));
}

TEST(SearchSettings, short_keys_tell_keys_apart) {
  EXPECT_THAT(short_keys({"optimizer.Adam.learning_rate", "vars.width"}),
              ElementsAre("learning_rate", "width"));
  EXPECT_THAT(short_keys({"updates.d.optimizer.Adam.beta1", "updates.g.optimizer.Adam.beta1", "seed"}),
              ElementsAre("d.optimizer.Adam.beta1", "g.optimizer.Adam.beta1", "seed"));
  EXPECT_THAT(short_keys({"a.b", "b"}), ElementsAre("a.b", "b"));
}

TEST(SearchSettings, names_of_runs_are_names_of_files) {
  EXPECT_EQ(run_name(3, {"optimizer.Adam.learning_rate", "vars.width"}, {"1e-3", "8"}),
            "003-learning_rate=1e-3,width=8");
  EXPECT_EQ(run_name(12, {"optimizer", "seed"}, {"{Adam: {}}", "2"}), "012-seed=2");
  EXPECT_EQ(run_name(0, {"path"}, {"../x"}), "000");
  EXPECT_EQ(run_name(1234, {}, {}), "1234");
}

}  // namespace
}  // namespace tpack
