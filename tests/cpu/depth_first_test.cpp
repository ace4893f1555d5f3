#include "backend/passes/depth_first.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "backend/engine/executable.h"
#include "backend/engine/layout_choice.h"
#include "backend/passes/passes.h"
#include "cpu/convolution/winograd.h"
#include "cpu/library.h"
#include "cpu/onednn/onednn.h"
#include "cpu/team.h"
#include "graph/passes/simplify.h"
#include "ops/op_cases.h"

namespace tpack {
namespace {

struct PooledConvolution {
  const char* name;
  int64_t images;
  int64_t channels;
  int64_t filters;
  Size2 size;
  ConvolutionParams convolution = {.padding = {1, 1, 1, 1}};
  Size2 kernel = {3, 3};
  PoolingParams pooling = {.window = {2, 2}, .stride = {2, 2}};
  bool in_parts = true;  // the values in between are too large for the cache
};

std::ostream& operator<<(std::ostream& out, const PooledConvolution& c) { return out << c.name; }

/// How a case is run: the number of pieces, and the number of threads that compute them.
struct How {
  const char* layout;
  const char* algorithm;
  int pieces;
  int threads;
};

std::ostream& operator<<(std::ostream& out, const How& how) {
  return out << how.layout << " " << how.algorithm << ", " << how.pieces << " pieces, " << how.threads
             << " threads";
}

/// A convolution, its bias, a pooling. The image is data, like that of a first layer: it has no gradient.
testkit::Function network_of(const PooledConvolution& c) {
  return [c](Builder& b, Symbols in) {
    const Symbol y = convolution(b, b.stop_gradient(in[0]), in[1], c.convolution);
    const Symbol biased = b.add(y, per_channel(b, in[2], y.shape()));
    return std::vector{max_pool(b, biased, c.pooling)};
  };
}

std::vector<Tensor> inputs_of(const PooledConvolution& c) {
  return {random_tensor({c.images, c.channels, c.size.h, c.size.w}, 1),
          random_tensor({c.filters, c.channels / c.convolution.groups, c.kernel.h, c.kernel.w}, 2),
          random_tensor({c.filters}, 3)};
}

/// A function with everything joined that can be joined, as a device runs it.
class JoinedRun {
 public:
  JoinedRun(const testkit::Function& function, const std::vector<Tensor>& inputs, const How& how) {
    cpu::use_one_onednn_thread();
    for (const Tensor& x : inputs) inputs_.push_back(x.cast(DType::kFloat32));
    VariableTable table;
    Graph graph;
    Builder b(graph, table, {});
    std::vector<Symbol> in;
    for (const Tensor& x : inputs_) in.push_back(b.input("input" + std::to_string(in.size()), x.spec()));
    for (const Symbol& y : function(b, in)) b.fetch("result" + std::to_string(graph.fetches().size()), y);
    results_ = graph.fetches().size();
    const Graph lowered = simplify(sum_before_scatter(simplify(graph, Stops::kDrop)), Stops::kDrop);
    const auto library = cpu::make_library();
    const Graph joined = join_depth_first(fuse_epilogues(lowered, *library), 1);
    const Graph fused = simplify(fuse_pointwise(joined), Stops::kDrop);
    const auto team = std::make_shared<cpu::Team>(how.threads);
    PlanSection plan = choose_layouts(fused, DeviceOptions::Algorithm::kHeuristic, how.pieces, *library);
    for (auto& [path, choice] : plan.nodes) {
      choice.layout = how.layout;
      if (!choice.algorithm.empty()) choice.algorithm = how.algorithm;
    }
    store_ = std::make_unique<VariableStore>(table);
    executable_ =
        make_executable(lower(fused, plan, *store_, *library), *store_, std::make_shared<Arena>(), team);
    executable_->run(inputs_, {});
  }

  size_t results() const { return results_; }
  const Tensor& result(size_t i) const { return executable_->fetched(i); }
  std::ptrdiff_t kernels(const std::string& kind) const {
    const std::vector<NodeTime> all = executable_->times();
    return std::count_if(all.begin(), all.end(), [&](const NodeTime& node) { return node.kind == kind; });
  }

 private:
  std::vector<Tensor> inputs_;
  size_t results_ = 0;
  std::unique_ptr<VariableStore> store_;
  std::unique_ptr<Executable> executable_;
};

/// The largest difference over the largest element; infinite where one is not a number.
double error_of(const Tensor& ours, const Tensor& truth) {
  double scale = 0;
  double difference = 0;
  for (int64_t i = 0; i < truth.elements(); ++i) {
    scale = std::max(scale, std::abs(truth.at(i)));
    const double here = std::abs(ours.at(i) - truth.at(i));
    if (std::isnan(here)) return HUGE_VAL;
    difference = std::max(difference, here);
  }
  return difference / scale;
}

constexpr int64_t kCacheBytes = int64_t{1} << 20;

/// The values between a convolution and its pooling.
int64_t bytes_between(const PooledConvolution& c) {
  const std::vector<Tensor> inputs = inputs_of(c);
  const std::vector<TensorSpec> in = {{DType::kFloat32, inputs[0].shape()},
                                      {DType::kFloat32, inputs[1].shape()}};
  return Convolution(c.convolution).infer(in)[0].bytes();
}

std::vector<How> ways_of(const PooledConvolution& c) {
  std::vector<How> ways = {{"nhwc", "direct", 1, 1},
                           {"nhwc", "direct", 3, 2},
                           {"nChw16c", "direct", 1, 1},
                           {"nChw16c", "direct", 2, 2},
                           {"nChw16c", "direct", 3, 1}};
  if (cpu::tiled_winograd_fits(c.convolution, inputs_of(c)[1].shape())) {
    ways.push_back({"nChw16c", cpu::kTiledWinograd, 1, 1});
    ways.push_back({"nChw16c", cpu::kTiledWinograd, 3, 2});
  }
  return ways;
}

/// Compares `function` with the reference in every way. `joined` kernels must have run, and none of the
/// kernels that they replace.
void expect_same(const PooledConvolution& c, const testkit::Function& function, std::ptrdiff_t joined) {
  std::vector<Tensor> inputs = inputs_of(c);
  for (Tensor& x : inputs) x = x.cast(DType::kFloat32).cast(DType::kFloat64);
  const std::vector<Tensor> truth = testkit::evaluate(function, inputs, DType::kFloat64);
  for (const How& how : ways_of(c)) {
    std::ostringstream text;
    text << how;
    SCOPED_TRACE(text.str());
    const JoinedRun run(function, inputs, how);
    EXPECT_EQ(run.kernels("DepthFirst"), joined);
    for (const char* kind : {"FusedConvolution", "MaxPool", "MaxPoolScatter", "ConvolutionBackwardWeights"})
      EXPECT_EQ(run.kernels(kind), 0) << kind;
    ASSERT_EQ(run.results(), truth.size());
    for (size_t i = 0; i < truth.size(); ++i) EXPECT_LT(error_of(run.result(i), truth[i]), 2e-5) << i;
  }
}

class DepthFirstKernels : public testing::TestWithParam<PooledConvolution> {};

/// The output, and the gradients of weights and bias.
TEST_P(DepthFirstKernels, compute_what_the_reference_does) {
  const PooledConvolution& c = GetParam();
  EXPECT_EQ(bytes_between(c) > kCacheBytes, c.in_parts);
  expect_same(c, testkit::with_gradients(network_of(c)), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, DepthFirstKernels,
    testing::Values(
        PooledConvolution{
            .name = "first_layer_in_two_parts", .images = 8, .channels = 1, .filters = 16, .size = {52, 52}},
        PooledConvolution{.name = "images_that_only_one_divides",
                          .images = 7,
                          .channels = 3,
                          .filters = 16,
                          .size = {52, 52}},
        PooledConvolution{
            .name = "fewer_images_than_pieces", .images = 2, .channels = 3, .filters = 16, .size = {96, 96}},
        PooledConvolution{.name = "filters_that_fill_no_block",
                          .images = 5,
                          .channels = 3,
                          .filters = 20,
                          .size = {47, 59}},
        PooledConvolution{.name = "channels_that_fill_no_block",
                          .images = 4,
                          .channels = 17,
                          .filters = 33,
                          .size = {45, 47}},
        PooledConvolution{.name = "overlapping_padded_windows",
                          .images = 5,
                          .channels = 3,
                          .filters = 16,
                          .size = {61, 59},
                          .pooling = {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}}},
        PooledConvolution{.name = "windows_that_leave_a_border",
                          .images = 6,
                          .channels = 3,
                          .filters = 16,
                          .size = {55, 52},
                          .pooling = {.window = {3, 2}, .stride = {3, 2}}},
        PooledConvolution{.name = "no_padding",
                          .images = 6,
                          .channels = 2,
                          .filters = 16,
                          .size = {57, 55},
                          .convolution = {}},
        PooledConvolution{.name = "wide_padding",
                          .images = 6,
                          .channels = 2,
                          .filters = 16,
                          .size = {51, 55},
                          .convolution = {.padding = {2, 2, 2, 2}}},
        PooledConvolution{.name = "one_image",
                          .images = 1,
                          .channels = 1,
                          .filters = 16,
                          .size = {24, 24},
                          .in_parts = false},
        PooledConvolution{.name = "dilation",
                          .images = 5,
                          .channels = 2,
                          .filters = 16,
                          .size = {31, 37},
                          .convolution = {.dilation = {2, 3}},
                          .in_parts = false},
        PooledConvolution{.name = "stride_and_uneven_padding",
                          .images = 5,
                          .channels = 4,
                          .filters = 24,
                          .size = {33, 31},
                          .convolution = {.stride = {2, 2}, .padding = {0, 1, 2, 1}},
                          .kernel = {4, 3},
                          .in_parts = false},
        PooledConvolution{.name = "groups",
                          .images = 5,
                          .channels = 4,
                          .filters = 32,
                          .size = {19, 21},
                          .convolution = {.padding = {1, 1, 1, 1}, .groups = 2},
                          .in_parts = false}),
    [](const auto& param) { return std::string(param.param.name); });

/// As in inference; in training, a ReLU comes after the pooling.
TEST(DepthFirstKernelsOfRelu, compute_what_the_reference_does) {
  const PooledConvolution c{.name = "relu", .images = 7, .channels = 16, .filters = 18, .size = {54, 50}};
  ASSERT_GT(bytes_between(c), kCacheBytes);
  const auto rectified = [&c](Builder& b, Symbols in) {
    const Symbol y = convolution(b, in[0], in[1], c.convolution);
    const Symbol biased = b.add(y, per_channel(b, in[2], y.shape()));
    return std::vector{max_pool(b, b.max(biased, 0.0), c.pooling)};
  };
  expect_same(c, rectified, 1);
}

}  // namespace
}  // namespace tpack
