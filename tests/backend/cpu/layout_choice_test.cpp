#include "backend/cpu/layout_choice.h"

#include <limits>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "ops/convolution.h"
#include "ops/pad.h"
#include "ops/pooling.h"

namespace tpack::cpu {
namespace {

using Algorithm = DeviceOptions::Algorithm;

class LayoutChoiceTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Tuner tuner_{""};
  Team team_{1};

  Symbol conv(const std::string& name, Symbol x, int64_t filters, int64_t size) {
    const Builder::NameScope scope(b_, name);
    const int64_t pad = size / 2;
    return convolution(b_, x, b_.variable("W", {filters, x.shape()[1], size, size}, {}),
                       {.padding = {pad, pad, pad, pad}});
  }
  PlanSection choose(Algorithm algorithm) { return choose_layouts(graph_, algorithm, tuner_, 1, team_); }
};

TEST_F(LayoutChoiceTest, takes_winograd_in_blocks_for_many_channels_and_keeps_the_pooling_between_there) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  const Symbol y = max_pool(b_, conv("a", x, 64, 3), {.window = {2, 2}, .stride = {2, 2}});
  b_.fetch("y", conv("b", y, 64, 3));
  const PlanSection section = choose(Algorithm::kHeuristic);
  EXPECT_EQ(section.nodes.at("a/Convolution"), (NodeChoice{"nChw16c", "winograd-tiled"}));
  EXPECT_EQ(section.nodes.at("MaxPool").layout, "nChw16c");
}

TEST_F(LayoutChoiceTest, stays_in_nhwc_if_winograd_does_not_exist) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  b_.fetch("y", conv("a", x, 64, 5));
  EXPECT_EQ(choose(Algorithm::kHeuristic).nodes.at("a/Convolution"), (NodeChoice{"nhwc", "direct"}));
}

TEST_F(LayoutChoiceTest, direct_means_direct) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  b_.fetch("y", conv("a", x, 64, 3));
  EXPECT_EQ(choose(Algorithm::kDirect).nodes.at("a/Convolution").algorithm, "direct");
}

TEST_F(LayoutChoiceTest, chooses_nothing_for_four_axes_that_are_no_image) {
  const Symbol scores = b_.input("scores", {DType::kFloat32, {4, 8, 32, 32}});
  b_.fetch("y", b_.exp(b_.sub(scores, b_.reduce_max(scores, {3}, Builder::Keep::kYes))));
  EXPECT_TRUE(choose(Algorithm::kHeuristic).nodes.empty());
}

/// A Slice that splits blocks of channels runs in nhwc, whatever is chosen: as a part of the region around
/// it, it would count as free in blocks.
TEST_F(LayoutChoiceTest, keeps_nodes_that_cut_blocks_out_of_regions_in_blocks) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  const Symbol y = max_pool(b_, conv("a", x, 64, 3), {.window = {2, 2}, .stride = {2, 2}});
  const auto cut = [&](const char* name, int64_t begin, int64_t channels) {
    const Builder::NameScope scope(b_, name);
    return slice(b_, y, {0, begin, 0, 0}, {4, channels, 8, 8});
  };
  b_.fetch("y", conv("b", y, 64, 3));
  b_.fetch("whole blocks", conv("c", cut("whole", 16, 32), 64, 3));
  b_.fetch("cut blocks", conv("d", cut("cut", 8, 32), 64, 3));
  const PlanSection section = choose(Algorithm::kHeuristic);
  EXPECT_EQ(section.nodes.at("MaxPool").layout, "nChw16c");
  EXPECT_EQ(section.nodes.at("whole/Slice").layout, "nChw16c");
  EXPECT_EQ(section.nodes.at("cut/Slice").layout, "nhwc");
}

TEST(ComparableSeconds, prefer_the_rule_in_its_own_layout_in_a_near_tie) {
  const auto seconds = comparable_seconds({{1.0, 64}, {0.95, 64}}, 0);  // nhwc and blocked, both direct
  EXPECT_LT(seconds[0], seconds[1]);
  const auto better = comparable_seconds({{1.0, 64}, {0.85, 64}}, 0);
  EXPECT_GT(better[0], better[1]);
}

TEST(ComparableSeconds, leave_out_what_needs_more_scratch_than_the_rule) {
  const double never = std::numeric_limits<double>::infinity();
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {0.1, 65}, {0.5, 64}}, 0), (std::vector{0.9, never, 0.5}));
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {0.1, 64, true}}, 0),
            (std::vector{0.9, never}));                                                  // a busy machine
  EXPECT_EQ(comparable_seconds({{1.0, 64}, {never, 0}}, 1), (std::vector{1.0, never}));  // nothing to hold to
}

TEST_F(LayoutChoiceTest, a_section_must_hold_exactly_the_nodes_of_the_graph) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  b_.fetch("y", conv("b", conv("a", x, 64, 3), 64, 3));
  const PlanSection whole = choose(Algorithm::kHeuristic);
  const auto error_of = [&](const PlanSection& section) -> std::string {
    try {
      require_section_of(graph_, section);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(whole), "");
  PlanSection missing = whole;
  missing.nodes.erase("b/Convolution");
  EXPECT_EQ(error_of(missing),
            "the plan has no entry for node b/Convolution: it is for another network or version of tpack; "
            "use --replan without --plan");
  PlanSection more = whole;
  more.nodes["c/Convolution"] = {"nhwc", "direct"};
  EXPECT_NE(error_of(more).find("names node c/Convolution, which"), std::string::npos);
}

}  // namespace
}  // namespace tpack::cpu
