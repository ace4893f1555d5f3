#include "backend/engine/reference_kernel.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "backend/reference/kernel.h"
#include "graph/builder.h"
#include "support/captured_log.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

/// An op that has only a reference kernel: y = x^3, and the number of the step in its second output.
class Cube final : public OpOf<Cube, NoParams> {
 public:
  static constexpr const char* kType = "TestCube";
  static Schema<NoParams> schema() { return Schema<NoParams>("x^3"); }
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override {
    return {in[0], {DType::kInt32, {}}};
  }
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override {
    const Symbol x = n.inputs[0];
    return {b.mul(dy[0], b.mul(b.mul(x, x), 3.0))};
  }
};

void run_cube(const Node& node, std::span<const Tensor> in, std::span<const Tensor> out,
              const RunInfo& /*info*/) {
  reference::by_float(in[0], [&](auto zero) {
    using T = decltype(zero);
    const auto x = in[0].span<T>();
    std::transform(x.begin(), x.end(), out[0].data<T>(), [](T v) { return v * v * v; });
  });
  *out[1].data<int32_t>() = static_cast<int32_t>(node.path.size());
}
const reference::Registration kCube("TestCube", run_cube);

TEST(ReferenceKernel, runs_an_op_that_has_no_kernel_on_the_cpu_within_others) {
  const auto function = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.exp(b.emit<Cube>({}, {b.mul(in[0], 0.5)}).out())};
  };
  const auto result = testkit::check_backend(function, {testkit::random_tensor({2, 20, 3, 5}, 1)}, {});
  EXPECT_LT(result.largest_error, 1e-6) << result.text;
  EXPECT_NE(std::find(result.kinds.begin(), result.kinds.end(), "TestCube (reference)"), result.kinds.end());
}

/// A separate op, so that the order of tests does not matter.
class Twice final : public OpOf<Twice, NoParams> {
 public:
  static constexpr const char* kType = "TestTwice";
  static Schema<NoParams> schema() { return Schema<NoParams>("2 x"); }
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
};
const reference::Registration kTwice("TestTwice", [](const Node& /*node*/, std::span<const Tensor> in,
                                                     std::span<const Tensor> out, const RunInfo& /*info*/) {
  for (int64_t i = 0; i < in[0].elements(); ++i) out[0].data<float>()[i] = 2 * in[0].data<float>()[i];
});

TEST(ReferenceKernel, is_warned_of_once_per_op) {
  const auto device = open_device("cpu:0", DeviceOptions{});
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {3}});
  b.fetch("y", b.emit<Twice>({}, {b.emit<Twice>({}, {x}).out()}).out());
  device->create_variables(table);
  const CapturedLog log;
  std::unique_ptr<Executable> executable;
  for (int i = 0; i < 2; ++i) {
    PlanSection section;
    executable = device->compile(graph, section);
  }
  const std::vector<Tensor> inputs = {Tensor::of<float>({3}, {1, 2, 3})};
  executable->run(inputs, {});
  EXPECT_EQ(executable->fetched(0).at(2), 12);
  EXPECT_EQ(log.text(),
            "warning: op TestTwice has no cpu kernel; its reference kernel runs instead, on one thread\n");
}

}  // namespace
}  // namespace tpack
