#include "backend/engine/layout_choice.h"

#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "cpu/convolution/winograd_pairs.h"
#include "cpu/library.h"
#include "cpu/onednn/onednn.h"
#include "cpu/team.h"
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
  Team team_{1};
  std::unique_ptr<KernelLibrary> library_ = make_library();

  Symbol conv(const std::string& name, Symbol x, int64_t filters, int64_t size) {
    const Builder::NameScope scope(b_, name);
    const int64_t pad = size / 2;
    return convolution(b_, x, b_.variable("W", {filters, x.shape()[1], size, size}, {}),
                       {.padding = {pad, pad, pad, pad}});
  }
  PlanSection choose(Algorithm algorithm) const { return choose_layouts(graph_, algorithm, 1, *library_); }
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

/// The tiled Winograd multiplies float32, a direct convolution bfloat16; oneDNN's Winograd has no images of
/// 16 bits. Winograd in pairs of bfloat16 wins from 64 channels on, but not next to AMX.
TEST_F(LayoutChoiceTest, prefers_products_of_bfloat16_for_images_of_16_bits) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  b_.fetch("y", b_.sigmoid(conv("a", b_.sigmoid(x), 32, 3)));
  b_.fetch("z", b_.sigmoid(conv("b", b_.sigmoid(x), 64, 3)));
  const auto library = make_library(Precision::kBf16);
  const Graph graph = library->rewritten(graph_);
  if (!is_half(library->stored_type())) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const PlanSection section = choose_layouts(graph, Algorithm::kHeuristic, 1, *library);
  EXPECT_EQ(section.nodes.at("a/Convolution").algorithm, "direct");
  EXPECT_EQ(section.nodes.at("b/Convolution").algorithm, has_amx() ? "direct" : kPairWinograd);
  for (const auto& node : graph.nodes()) {
    if (node->op->window() == nullptr) continue;
    EXPECT_TRUE(is_half(node->inputs[0].dtype()));
    for (const Way& way : library->ways(*node, false)) EXPECT_NE(way.algorithm, "winograd");
  }
}

/// Measured on VGG-16: with 512 channels the tiled Winograd takes 1.5 times as long as direct convolutions.
TEST_F(LayoutChoiceTest, leaves_the_tiled_winograd_for_very_many_channels) {
  b_.fetch("y", conv("a", b_.input("x", {DType::kFloat32, {4, 256, 16, 16}}), 256, 3));
  b_.fetch("z", conv("b", b_.input("x2", {DType::kFloat32, {4, 512, 16, 16}}), 512, 3));
  const PlanSection section = choose(Algorithm::kHeuristic);
  EXPECT_NE(section.nodes.at("a/Convolution").algorithm, "direct");
  EXPECT_EQ(section.nodes.at("b/Convolution").algorithm, has_avx512() ? "winograd" : "direct");
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

/// What is timed as a test says: seconds of a way of a node; every other one takes a second.
class MeasuredLayouts : public LayoutChoiceTest {
 protected:
  PlanSection measure(double budget_s, const std::map<std::string, double>& seconds) {
    const auto prepare = [&](const KernelRequest& way, KernelQueue&) -> std::optional<TimedKernel> {
      const auto found = seconds.find(way.node.path + " " + way.algorithm);
      const double taken = found == seconds.end() ? 1 : found->second;
      return TimedKernel{.run = [this, taken] {
        time_s_ += taken;
        return TimedRun{taken, false};
      }};
    };
    Tuner tuner(*library_, {.budget_s = budget_s}, prepare, [this] { return time_s_; });
    return measure_layouts(graph_, choose(Algorithm::kHeuristic), tuner, team_, *library_);
  }
  double time_s_ = 0;
};

TEST_F(MeasuredLayouts, stay_as_the_rules_have_them_where_the_budget_ended) {
  const Symbol x = b_.input("x", {DType::kFloat32, {8, 64, 32, 32}});
  const Symbol much = conv("much", x, 128, 3);
  b_.fetch("y", conv("little", max_pool(b_, much, {.window = {4, 4}, .stride = {4, 4}}), 64, 3));
  const PlanSection rules = choose(Algorithm::kHeuristic);
  ASSERT_EQ(rules.nodes.at("much/Convolution").algorithm, "winograd-tiled");
  ASSERT_EQ(rules.nodes.at("little/Convolution").algorithm, "winograd-tiled");
  // Processors have two to four ways of each: those of `much` take 2.2 s at most.
  const std::map<std::string, double> direct = {{"much/Convolution direct", 0.1},
                                                {"little/Convolution direct", 0.1}};
  const PlanSection some = measure(2.5, {{"much/Convolution direct", 0.1}, {"little/Convolution direct", 2}});
  EXPECT_EQ(some.nodes.at("much/Convolution").algorithm, "direct");
  EXPECT_EQ(some.nodes.at("little/Convolution").algorithm, "winograd-tiled");
  EXPECT_NO_THROW(require_section_of(graph_, some, *library_)) << "a plan for every process all the same";
  EXPECT_EQ(measure(1e9, direct).nodes.at("little/Convolution").algorithm, "direct");
  EXPECT_EQ(measure(0, direct).nodes, rules.nodes);
}

TEST_F(LayoutChoiceTest, a_section_must_hold_exactly_the_nodes_of_the_graph) {
  const Symbol x = b_.input("x", {DType::kFloat32, {4, 64, 16, 16}});
  b_.fetch("y", conv("b", conv("a", x, 64, 3), 64, 3));
  const PlanSection whole = choose(Algorithm::kHeuristic);
  const auto error_of = [&](const PlanSection& section) -> std::string {
    try {
      require_section_of(graph_, section, *library_);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(whole), "");
  PlanSection missing = whole;
  missing.nodes.erase("b/Convolution");
  EXPECT_EQ(
      error_of(missing),
      "the plan has no entry for node b/Convolution: it is for a different network or version of tpack");
  PlanSection more = whole;
  more.nodes["c/Convolution"] = {"nhwc", "direct"};
  EXPECT_NE(error_of(more).find("names node c/Convolution, which"), std::string::npos);
}

}  // namespace
}  // namespace tpack::cpu
