#include <filesystem>
#include <tuple>

#include <gmock/gmock-more-matchers.h>

#include "backend/open_device.h"
#include "backend/plan.h"
#include "core/text.h"
#include "cpu/kernel.h"
#include "cpu/onednn/onednn_format.h"
#include "graph/passes/gradient.h"
#include "ops/op_cases.h"
#include "ops/pad.h"
#include "ops/pooling.h"
#include "ops/random_normal.h"
#include "ops/random_uniform.h"
#include "support/captured_log.h"
#include "support/temporary_folder.h"
#include "system/machine.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

using testkit::BackendVariant;
using testkit::check_backend;
using Algorithm = DeviceOptions::Algorithm;

struct Variant {
  const char* name;
  BackendVariant variant;
};

std::vector<Variant> variants() {
  return {{"nhwc", {.algorithm = Algorithm::kDirect, .layout = "nhwc", .threads = 1}},
          {"blocked", {.algorithm = Algorithm::kDirect, .layout = "nChw16c", .threads = 1}},
          {"heuristic", {.algorithm = Algorithm::kHeuristic, .threads = 2}}};
}

/// Convolution, batch norm, ReLU and pooling with channel counts that do and do not fill blocks of 16.
OpCase small_network(const char* name, int64_t channels, int64_t filters, int64_t size) {
  return {name,
          [](Builder& b, Symbols in) {
            const Symbol x = convolution(b, in[0], in[1], {.padding = {1, 1, 1, 1}});
            const Symbol biased = b.add(x, per_channel(b, in[2], x.shape()));
            const Symbol active = b.max(biased, 0.0);
            const Node& norm = b.emit<BatchNorm>({1e-5}, {active, in[3], in[4]});
            const Symbol rectified = b.max(norm.out(), 0.0);
            const Symbol pooled = max_pool(b, rectified, {.window = {2, 2}, .stride = {2, 2}});
            const Symbol spread =
                b.sigmoid(avg_pool(b, pooled, {.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1, 1, 1}}));
            const Symbol flat = b.reshape(spread, Shape{spread.shape()[0], Shape::kUnknown});
            return std::vector{spread, b.reduce_mean(flat, {1}), norm.out(1), norm.out(2)};
          },
          {random_tensor({3, channels, size, size + 2}, 1), random_tensor({filters, channels, 3, 3}, 2),
           random_tensor({filters}, 3), random_tensor({filters}, 4), random_tensor({filters}, 5)}};
}

/// Numbers around 1,000, except for the first pixel.
Tensor far_from_zero(const Shape& shape) {
  Tensor x = random_tensor(shape, 1, DType::kFloat64, 999, 1001);
  x.data<double>()[0] = 0;
  return x;
}

/// Operands and reductions that do not have all the channels of the image next to them.
OpCase across_channels(const char* name, int64_t channels) {
  return {name,
          [](Builder& b, Symbols in) {
            const Symbol x = b.mul(b.mul(in[0], in[1]), in[2]);
            return std::vector{b.exp(x), b.reduce_sum(x, {1}), b.reduce_max(x, {1}), b.reduce_max(x)};
          },
          {random_tensor({2, channels, 3, 5}, 1, DType::kFloat64, -2, -1),
           random_tensor({2, 1, 3, 5}, 2, DType::kFloat64, 1, 2),
           random_tensor({channels, 3, 1}, 3, DType::kFloat64, 1, 2)}};
}

std::vector<OpCase> network_cases() {
  std::vector<OpCase> cases = all_cases();
  for (const auto& [name, channels, filters] :
       std::vector<std::tuple<const char*, int64_t, int64_t>>{{"net 1 to 17", 1, 17},
                                                              {"net 3 to 20", 3, 20},
                                                              {"net 17 to 1", 17, 1},
                                                              {"net 16 to 32", 16, 32},
                                                              {"net 32 to 32", 32, 32},
                                                              {"net 24 to 3", 24, 3}}) {
    cases.push_back(small_network(name, channels, filters, 6));
  }
  cases.push_back(across_channels("across 3 channels", 3));
  cases.push_back(across_channels("across 17 channels", 17));
  cases.push_back(across_channels("across 32 channels", 32));
  cases.push_back({"cuts across channels",
                   [](Builder& b, Symbols in) {
                     const Symbol x = b.exp(in[0]);  // in any layout
                     return std::vector{b.exp(slice(b, x, {0, 16, 0, 0}, {2, 16, 3, 5})),
                                        b.exp(slice(b, x, {0, 16, 1, 0}, {2, 24, 2, 5})),
                                        b.exp(slice(b, x, {0, 5, 0, 0}, {2, 3, 3, 5})),
                                        b.exp(pad(b, x, {0, 16, 0, 0}, {0, 2, 0, 0})),
                                        b.exp(pad(b, x, {1, 3, 0, 1}, {0, 0, 0, 0}))};
                   },
                   {random_tensor({2, 48, 3, 5}, 1)}});
  cases.push_back({"concat of images",  // along borders of blocks of channels and inside of blocks
                   [](Builder& b, Symbols in) {
                     const Symbol x = b.exp(in[0]);  // in any layout
                     const Symbol few = b.exp(in[1]);
                     const auto joined = [&](const std::vector<Symbol>& parts, int axis) {
                       return b.exp(concat(b, parts, axis));
                     };
                     return std::vector{joined({x, x}, 1),     joined({x, few}, 1), joined({few, x, few}, 1),
                                        joined({few, few}, 0), joined({x, x}, 2),   joined({few, few}, 3)};
                   },
                   {random_tensor({2, 32, 3, 5}, 1), random_tensor({2, 5, 3, 5}, 2)}});
  cases.push_back({"part of a batch",
                   [](Builder& b, Symbols in) {
                     const Symbol x = b.exp(in[0]);
                     return std::vector{b.exp(slice(b, x, {1, 0, 0, 0}, {2, 17, 4, 4})),
                                        slice(b, x, {3, 0, 0, 0}, {1, 17, 4, 4}), b.mul(x, 2.0)};
                   },
                   {random_tensor({4, 17, 4, 4}, 1)}});
  cases.push_back(
      {"stop gradient",
       [](Builder& b, Symbols in) { return std::vector{b.mul(b.stop_gradient(b.exp(in[0])), in[0])}; },
       {random_tensor({3, 4}, 1)}});
  cases.push_back({"long sums",
                   [](Builder& b, Symbols in) {
                     const Symbol y = b.exp(b.mul(in[0], 0.1));
                     return std::vector{b.reduce_sum(y), b.reduce_sum(y, {0}), b.reduce_sum(y, {1}),
                                        b.reduce_max(in[0], {0})};
                   },
                   {random_tensor({37, 5000}, 1)}});
  cases.push_back({"scalars of scalars",
                   [](Builder& b, Symbols in) {
                     const Symbol s = b.mul(b.add(in[1], 1.0), b.sub(2.0, in[1]));
                     return std::vector{b.mul(in[0], s), b.select(b.greater(in[1], 0.0), in[0], s)};
                   },
                   {random_tensor({3, 1000}, 1), random_tensor({}, 2)}});
  return cases;
}

/// With images and factors of 16 bits, in each layout.
std::vector<Variant> bfloat_variants() {
  std::vector<Variant> all;
  for (const char* layout : {"nhwc", "nChw16c"})
    all.push_back(
        {layout,
         {.algorithm = Algorithm::kDirect, .layout = layout, .threads = 2, .precision = Precision::kBf16}});
  return all;
}

class CpuBackend : public testing::TestWithParam<std::tuple<OpCase, Variant>> {};

TEST_P(CpuBackend, agrees_with_the_reference) {
  const auto& [op, variant] = GetParam();
  const auto result = check_backend(op.function, op.inputs, variant.variant);
  EXPECT_LT(result.largest_error, 2e-5) << result.text;
}

std::string name_of(const testing::TestParamInfo<std::tuple<OpCase, Variant>>& param) {
  return name_of_case({std::get<0>(param.param), 0}) + "_" + std::get<1>(param.param).name;
}

INSTANTIATE_TEST_SUITE_P(Cpu, CpuBackend,
                         testing::Combine(testing::ValuesIn(network_cases()), testing::ValuesIn(variants())),
                         name_of);

/// Each rounding to 8 bits is a 512th of the largest element at most, and few follow each other. In the
/// networks, a ReLU or a maximum may turn where two values are that near.
class CpuBackendInBf16 : public CpuBackend {};

TEST_P(CpuBackendInBf16, agrees_with_the_reference) {
  const auto& [op, variant] = GetParam();
  const auto result = check_backend(op.function, op.inputs, variant.variant);
  const bool turns = std::string_view(op.name).starts_with("net ");
  EXPECT_LT(result.largest_error, turns ? 1e-1 : 2e-2) << result.text;
}

INSTANTIATE_TEST_SUITE_P(Cpu, CpuBackendInBf16,
                         testing::Combine(testing::ValuesIn(network_cases()),
                                          testing::ValuesIn(bfloat_variants())),
                         name_of);

/// A float near 1,000 is exact to 3e-5, which is 1e-4 of the differences between the numbers.
TEST(CpuBackend, normalizes_numbers_far_from_zero_as_exactly_as_they_are_given) {
  const auto norm = [](Builder& b, Symbols in) {
    const Node& node = b.emit<BatchNorm>({1e-5}, {in[0], in[1], in[2]});
    return std::vector{node.out(), node.out(2)};
  };
  const std::vector<Tensor> inputs = {far_from_zero({8, 3, 5, 5}), random_tensor({3}, 2),
                                      random_tensor({3}, 3)};
  for (const auto& [name, variant] : variants()) {
    const auto result = check_backend(norm, inputs, variant);
    EXPECT_LT(result.largest_error, 1e-4) << name << ": " << result.text;
  }
}

/// Floats whose spread is 1, around `mean`.
Tensor around(double mean, const Shape& shape) {
  return random_tensor(shape, 1, DType::kFloat64, mean - 1.7, mean + 1.7)
      .cast(DType::kFloat32)
      .cast(DType::kFloat64);
}

/// Nothing is known of the mean before: the sums are taken around zero.
TEST(CpuBackend, takes_mean_and_variance_of_numbers_around_a_large_mean) {
  const auto statistics = [](Builder& b, Symbols in) {
    const Node& node = b.emit<BatchNorm>({1e-5}, {in[0], in[1], in[2]});
    return std::vector{node.out(1), node.out(2)};
  };
  for (const double mean : {0.0, 1e3, -1e4}) {
    for (const Shape& shape : {Shape{8, 3, 5, 5}, Shape{5, 20, 9, 8}, Shape{2, 16, 40, 33}, Shape{900, 7}}) {
      const Tensor ones =
          Tensor::of<double>({shape[1]}, std::vector<double>(static_cast<size_t>(shape[1]), 1));
      const std::vector<Tensor> inputs = {around(mean, shape), ones, ones};
      const auto truth = testkit::evaluate(statistics, inputs, DType::kFloat64);
      for (const auto& [name, variant] : variants()) {
        const auto found = testkit::evaluate_on_cpu(statistics, inputs, variant);
        for (int64_t c = 0; c < shape[1]; ++c) {
          EXPECT_FLOAT_EQ(static_cast<float>(found[0].at(c)), static_cast<float>(truth[0].at(c))) << name;
          EXPECT_NEAR(found[1].at(c) / truth[1].at(c), 1, 1e-6) << name << " around " << mean;
        }
      }
    }
  }
}

/// All elements of a channel are one number that was broadcast.
TEST(CpuBackend, takes_mean_and_variance_of_numbers_that_are_repeated) {
  const auto statistics = [](Builder& b, Symbols in) {
    const Symbol repeated = b.broadcast_to(in[0], {4, 3, 5, 7});
    const Node& node = b.emit<BatchNorm>({1e-5}, {repeated, in[1], in[1]});
    return std::vector{node.out(), node.out(1), b.add(node.out(2), 1.0)};
  };
  const Tensor ones = Tensor::of<double>({3}, {1, 1, 1});
  for (const Tensor& x : {Tensor::of<double>({}, {2.5}), Tensor::of<double>({3, 1, 1}, {1, -2, 30}),
                          Tensor::of<double>({7}, {1, 2, 3, 4, 5, 6, 7})}) {
    const auto truth = testkit::evaluate(statistics, {x, ones}, DType::kFloat64);
    for (const auto& [name, variant] : variants()) {
      const auto found = testkit::evaluate_on_cpu(statistics, {x, ones}, variant);
      for (size_t k = 0; k < truth.size(); ++k) {
        for (int64_t i = 0; i < truth[k].elements(); ++i)
          EXPECT_NEAR(found[k].at(i), truth[k].at(i), 1e-5) << name << ", result " << k;
      }
    }
  }
}

/// Windows that do not overlap: each place of the gradient is written once.
TEST(CpuBackend, takes_gradients_of_pooling_whose_windows_tile_the_image) {
  for (const int64_t size : {2, 3}) {
    const auto gradient = [size](Builder& b, Symbols in) {
      const Symbol pooled = max_pool(b, b.mul(in[0], 2.0), {.window = {size, size}, .stride = {size, size}});
      return gradients(b, b.reduce_sum(b.square(pooled)), std::vector{in[0]});
    };
    for (const auto& [name, variant] : variants()) {
      const auto result = check_backend(gradient, {random_tensor({2, 20, 6, 12}, 4)}, variant);
      EXPECT_LT(result.largest_error, 1e-5) << name << ": " << result.text;
    }
  }
}

TEST(CpuBackend, has_a_case_for_every_op) {
  EXPECT_THAT(ops_without_case(network_cases()), testing::IsEmpty());
}

TEST(CpuBackend, takes_inputs_that_nothing_needs) {
  const auto second = [](Builder& b, Symbols in) { return std::vector{b.exp(in[1])}; };
  const std::vector<Tensor> three = {random_tensor({3}, 1), random_tensor({2, 2}, 2), random_labels(4, 3, 1)};
  EXPECT_LT(check_backend(second, three, {}).largest_error, 1e-6);
}

TEST(CpuBackend, draws_the_same_random_numbers_as_the_reference) {
  const auto draw = [](Builder& b, Symbols in) {
    const Symbol normal = b.emit<RandomNormal>({{33, 1001}, b.float_type()}, {}).out();
    return std::vector{b.mul(random_uniform(b, {33, 1001}), in[0]), b.mul(normal, in[0])};
  };
  const std::vector<Tensor> one = {Tensor::of<double>({}, {1})};
  const auto cpu = testkit::evaluate_on_cpu(draw, one, {.threads = 2});
  const auto reference = testkit::evaluate(draw, one, DType::kFloat64);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(max_difference(cpu[i].cast(DType::kFloat64), reference[i]), 0);
}

/// Leaves stale values in the channels that fill up the last block.
class UncleanCopy final : public OpOf<UncleanCopy, NoParams> {
 public:
  static constexpr const char* kType = "TestUncleanCopy";
  static Schema<NoParams> schema() { return Schema<NoParams>("x"); }
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  ImageOperands images() const override { return {{0}, {0}}; }
};
const cpu::KernelRegistration kUncleanCopy(
    "TestUncleanCopy",
    [](const KernelRequest& r) -> PreparedKernel {
      const uint64_t bytes = make_format(r.node.outputs[0], r.layout).bytes();
      return {make_kernel([bytes](const KernelArgs& args) {
                std::fill_n(cpu::floats_out(args.out[0]), bytes / sizeof(float), 1.0F);
              }),
              input_formats(r.node, r.layout), output_formats(r.node, r.layout)};
    },
    LayoutRule::kAgnostic);

TEST(CheckBackend, finds_kernels_that_leave_values_in_padding_channels) {
  const auto run = [](int64_t channels) {
    Graph graph;
    VariableTable table;
    Builder b(graph, table, {});
    const Symbol x = b.image_input("x", {DType::kFloat32, {2, channels, 3, 3}});
    b.fetch("y", b.emit<UncleanCopy>({}, {x}).out());
    const auto device = open_device("cpu:0", DeviceOptions{.check_kernels = true});
    device->create_variables(table);
    PlanSection section{.pieces = 1, .chosen = true, .nodes = {{"TestUncleanCopy", {"nChw16c", ""}}}};
    const std::vector<Tensor> inputs = {Tensor::zeros({DType::kFloat32, {2, channels, 3, 3}})};
    device->compile(graph, section)->run(inputs, {});
  };
  EXPECT_THROW(run(17), InternalError);
  EXPECT_NO_THROW(run(32)) << "blocks are full";
}

/// Files in a device's folder for timings after it has compiled a convolution.
std::ptrdiff_t timing_files(Choosing choosing) {
  const TemporaryFolder folder;
  {
    const auto device = open_device("cpu:0", DeviceOptions{.cache_dir = folder.str()});
    Graph graph;
    VariableTable table;
    Builder b(graph, table, {});
    const Symbol x = b.input("x", {DType::kFloat32, {1, 16, 6, 6}});
    b.fetch("y", convolution(b, x, b.input("w", {DType::kFloat32, {16, 16, 3, 3}}), {}));
    device->create_variables(table);
    PlanSection section;
    device->compile(graph, section, choosing);
    EXPECT_TRUE(section.nodes.contains("Convolution"));
  }
  return std::distance(std::filesystem::directory_iterator(folder.str()), {});
}

TEST(CpuDevice, measures_nothing_if_rules_choose) {
  EXPECT_EQ(timing_files(Choosing::kMeasured), 1);
  EXPECT_EQ(timing_files(Choosing::kByRules), 0);
}

TEST(CpuDevice, times_nothing_of_a_program_that_does_not_fit_in_memory) {
  if (available_memory().value_or(0) > 100'000'000'000) GTEST_SKIP() << "this machine has the memory";
  const TemporaryFolder folder;
  const auto device = open_device("cpu:0", DeviceOptions{.cache_dir = folder.str()});
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {8000, 16, 512, 512}});  // 134 GB
  const Symbol w = b.input("w", {DType::kFloat32, {16, 16, 3, 3}});
  const Symbol y = convolution(b, x, w, {.padding = {1, 1, 1, 1}});
  b.fetch("sum", b.reduce_sum(convolution(b, y, w, {.padding = {1, 1, 1, 1}}), {0, 1, 2, 3}));
  device->create_variables(table);
  PlanSection section;
  const CapturedLog log;
  EXPECT_THROW(device->compile(graph, section), ResourceError);
  EXPECT_EQ(log.text(), "") << "nothing was timed";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.str()), {}), 0);
}

TEST(LayoutFrom, takes_the_layouts_that_a_plan_may_choose) {
  for (const char* name : {"plain", "nhwc", "nChw16c"}) EXPECT_STREQ(name_of(layout_from(name)), name);
  for (const char* name : {"opaque", "planar", ""}) EXPECT_THROW(layout_from(name), PlanError) << name;
}

}  // namespace
}  // namespace tpack
