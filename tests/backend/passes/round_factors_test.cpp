#include <cmath>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "backend/passes/passes.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "graph/pointwise.h"
#include "ops/matmul.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

/// softplus(x w) v, with all gradients: five products, in which w and v are read twice.
Graph two_layers(VariableTable& table) {
  Graph graph;
  Builder b(graph, table, {Phase::kTraining, DType::kFloat32});
  const Symbol x = b.input("x", {DType::kFloat32, {9, 40}});
  const Symbol w = b.input("w", {DType::kFloat32, {40, 24}});
  const Symbol v = b.input("v", {DType::kFloat32, {24, 3}});
  const Symbol hidden = b.softplus(matmul(b, x, w));
  const Symbol y = matmul(b, hidden, v);
  const Symbol cost = b.reduce_sum(b.square(y), {0, 1}, Builder::Keep::kNo);
  const std::vector<Symbol> found = gradients(b, cost, std::vector<Symbol>{x, w, v});
  b.fetch("y", y);
  b.fetch("dx", found[0]);
  b.fetch("dw", found[1]);
  b.fetch("dv", found[2]);
  return graph;
}

size_t casts_to(const Graph& graph, DType type) {
  size_t count = 0;
  for (const auto& node : graph.nodes()) {
    if (op_cast<pointwise::Pointwise>(*node) != nullptr && node->outputs[0].dtype == type) ++count;
  }
  return count;
}

TEST(RoundFactors, casts_each_factor_once_and_gives_float32) {
  VariableTable table;
  const Graph rounded = round_factors(two_layers(table), DType::kBFloat16);
  size_t products = 0;
  for (const auto& node : rounded.nodes()) {
    if (op_cast<MatMul>(*node) == nullptr) continue;
    ++products;
    for (const Symbol& factor : node->inputs) {
      EXPECT_EQ(factor.dtype(), DType::kFloat32);
      EXPECT_EQ(factor.node->inputs[0].dtype(), DType::kBFloat16);
    }
  }
  EXPECT_EQ(products, 6U);
  // x, w, v, the hidden layer, and the gradients of both products.
  EXPECT_EQ(casts_to(rounded, DType::kBFloat16), 6U);
}

TEST(RoundFactors, leaves_float64_alone) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kTraining, DType::kFloat64});
  const Symbol x = b.input("x", {DType::kFloat64, {2, 2}});
  b.fetch("y", matmul(b, x, x));
  EXPECT_EQ(casts_to(round_factors(graph, DType::kBFloat16), DType::kBFloat16), 0U);
}

std::vector<Tensor> run(Device& device, const std::vector<Tensor>& inputs) {
  VariableTable table;
  const Graph graph = two_layers(table);
  device.create_variables(table);
  PlanSection section;
  const auto executable = device.compile(graph, section);
  executable->run(inputs, {});
  std::vector<Tensor> results;
  for (size_t i = 0; i < 4; ++i) results.push_back(executable->fetched(i).clone());
  return results;
}

class RoundedProducts : public testing::TestWithParam<Precision> {
 protected:
  const std::vector<Tensor> inputs_ = {testkit::random_tensor({9, 40}, 1, DType::kFloat32),
                                       testkit::random_tensor({40, 24}, 2, DType::kFloat32),
                                       testkit::random_tensor({24, 3}, 3, DType::kFloat32)};
};

TEST_P(RoundedProducts, are_those_of_rounded_factors) {
  const std::vector<Tensor> found = run(*make_reference_device("cpu:0", {.precision = GetParam()}), inputs_);
  const auto rounded = [&](const Tensor& t) { return t.cast(factor_type(GetParam())).cast(DType::kFloat64); };
  const Tensor x = rounded(inputs_[0]);
  const Tensor w = rounded(inputs_[1]);
  const Tensor v = rounded(inputs_[2]);
  Tensor hidden(DType::kFloat32, {9, 24});
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 24; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 40; ++k) sum += x.at(i * 40 + k) * w.at(k * 24 + j);
      hidden.data<float>()[i * 24 + j] = static_cast<float>(std::log1p(std::exp(sum)));
    }
  }
  hidden = rounded(hidden);
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 24; ++k) sum += hidden.at(i * 24 + k) * v.at(k * 3 + j);
      EXPECT_NEAR(found[0].at(i * 3 + j), sum, 1e-6 * (1 + std::abs(sum)));
    }
  }
}

/// A sum in another order may round a factor of the next product to the neighbor of 8 or 11 bits, so the
/// bound is one step of the type, of the largest element; what is rounded differs from float32 by more.
TEST_P(RoundedProducts, agree_on_both_backends) {
  const std::vector<Tensor> expected =
      run(*make_reference_device("cpu:0", {.precision = GetParam()}), inputs_);
  const std::vector<Tensor> exact = run(*make_reference_device("cpu:0", {}), inputs_);
  for (const int threads : {1, 2}) {
    const auto device = open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic,
                                                           .threads = threads,
                                                           .precision = GetParam()});
    const std::vector<Tensor> found = run(*device, inputs_);
    const double step = GetParam() == Precision::kBf16 ? 0x1p-8 : 0x1p-11;
    for (size_t i = 0; i < found.size(); ++i) {
      double largest = 0;
      for (int64_t k = 0; k < expected[i].elements(); ++k)
        largest = std::max(largest, std::abs(expected[i].at(k)));
      EXPECT_LE(max_difference(found[i], expected[i]), step * largest / 8) << i;
      EXPECT_GT(max_difference(found[i], exact[i]), 0) << i;
    }
  }
}

/// Within two steps of the type, of the largest element. (Where a ReLU turns, a gradient may differ by more.)
TEST_P(RoundedProducts, are_near_the_exact_ones) {
  const std::vector<Tensor> exact = run(*make_reference_device("cpu:0", {}), inputs_);
  const std::vector<Tensor> found = run(*make_reference_device("cpu:0", {.precision = GetParam()}), inputs_);
  const double step = GetParam() == Precision::kBf16 ? 0x1p-8 : 0x1p-11;
  for (size_t i = 0; i < found.size(); ++i) {
    double largest = 0;
    for (int64_t k = 0; k < exact[i].elements(); ++k) largest = std::max(largest, std::abs(exact[i].at(k)));
    EXPECT_LE(max_difference(found[i], exact[i]), 2 * step * largest) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RoundedProducts, testing::Values(Precision::kBf16, Precision::kFp16),
                         [](const auto& param_info) {
                           return std::string(name_of(factor_type(param_info.param)));
                         });

}  // namespace
}  // namespace tpack
