#pragma once

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "graph/structural.h"
#include "ops/arg_max.h"
#include "ops/batch_norm.h"
#include "ops/concat.h"
#include "ops/convolution.h"
#include "ops/cumulative_sum.h"
#include "ops/gather.h"
#include "ops/in_top_k.h"
#include "ops/matmul.h"
#include "ops/one_hot.h"
#include "ops/pad.h"
#include "ops/pooling.h"
#include "ops/random_normal.h"
#include "ops/random_uniform.h"
#include "ops/replica_mean.h"
#include "ops/segment.h"
#include "ops/softmax_cross_entropy.h"
#include "testkit/gradient_check.h"

/// The table of ops that the gradient tests and the backend tests share.
namespace tpack {

using testkit::random_labels;
using testkit::random_tensor;
using Symbols = std::span<const Symbol>;

struct OpCase {
  const char* name;
  testkit::Function function;
  std::vector<Tensor> inputs;
};

inline void PrintTo(const OpCase& c, std::ostream* out) { *out << c.name; }

inline OpCase conv_case(const char* name, const ConvolutionParams& p, const Shape& x, const Shape& w) {
  return {name,
          [p](Builder& b, Symbols in) { return std::vector{convolution(b, in[0], in[1], p)}; },
          {random_tensor(x, 1), random_tensor(w, 2)}};
}

inline OpCase pool_case(const char* name, const PoolingParams& p, const Shape& x, bool is_max) {
  return {name,
          [p, is_max](Builder& b, Symbols in) {
            return std::vector{is_max ? max_pool(b, in[0], p) : avg_pool(b, in[0], p)};
          },
          {random_tensor(x, 3)}};
}

/// Gradient ops by themselves. `image` is what was convolved or pooled.
inline OpCase conv_data_case(const char* name, const ConvolutionParams& p, const Shape& dy, const Shape& w,
                             Size2 image) {
  return {name,
          [p, image](Builder& b, Symbols in) {
            return std::vector{b.emit<ConvolutionBackwardData>({p, image}, {in[0], in[1]}).out()};
          },
          {random_tensor(dy, 1), random_tensor(w, 2)}};
}

inline OpCase conv_weights_case(const char* name, const ConvolutionParams& p, const Shape& x, const Shape& dy,
                                Size2 kernel) {
  return {name,
          [p, kernel](Builder& b, Symbols in) {
            return std::vector{b.emit<ConvolutionBackwardWeights>({p, kernel}, {in[0], in[1]}).out()};
          },
          {random_tensor(x, 1), random_tensor(dy, 2)}};
}

inline OpCase matmul_case(const char* name, MatMulParams p, const Shape& x, const Shape& y) {
  return {name,
          [p](Builder& b, Symbols in) { return std::vector{matmul(b, in[0], in[1], p)}; },
          {random_tensor(x, 1), random_tensor(y, 2)}};
}

inline OpCase cumulative_sum_case(const char* name, CumulativeSumParams p, const Shape& x) {
  return {name,
          [p](Builder& b, Symbols in) { return std::vector{cumulative_sum(b, in[0], p)}; },
          {random_tensor(x, 1)}};
}

inline std::vector<OpCase> forward_cases() {
  return {
      cumulative_sum_case("cumulative sum of rows", {1}, {2, 5}),
      cumulative_sum_case("cumulative sum in reverse", {.axis = 1, .reverse = true}, {2, 3, 4}),
      cumulative_sum_case("cumulative sum of many columns", {1}, {2, 3, 19}),
      cumulative_sum_case("cumulative sum of images over channels", {1}, {2, 3, 4, 5}),
      cumulative_sum_case("cumulative sum over the batch", {}, {7}),
      conv_case("conv 3x3 same", {.padding = {1, 1, 1, 1}}, {2, 3, 5, 4}, {4, 3, 3, 3}),
      conv_case("conv stride 2, odd padding", {.stride = {2, 2}, .padding = {0, 1, 1, 0}}, {1, 2, 6, 5},
                {3, 2, 3, 2}),
      conv_case("conv 1x1 of every second row", {.stride = {2, 1}}, {2, 3, 16, 16}, {4, 3, 1, 1}),
      conv_case("conv 1x1 of every second pixel", {.stride = {2, 2}}, {2, 12, 8, 8}, {8, 12, 1, 1}),
      conv_case("conv dilated, grouped", {.dilation = {2, 1}, .groups = 2}, {2, 4, 6, 3}, {2, 2, 2, 2}),
      {"conv of scaled weights, grouped",
       [](Builder& b, Symbols in) {
         return std::vector{convolution(b, in[0], b.mul(in[1], b.exp(in[1])), {.groups = 2})};
       },
       {random_tensor({2, 6, 5, 3}, 1), random_tensor({4, 3, 2, 2}, 2)}},
      pool_case("max pool 2x2", {.window = {2, 2}, .stride = {2, 2}}, {2, 3, 4, 6}, true),
      pool_case("max pool overlapping, padded", {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}},
                {1, 2, 5, 5}, true),
      pool_case("avg pool padded", {.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0, 1, 1}},
                {2, 2, 5, 4}, false),
      pool_case("avg pool of many", {.window = {17, 17}, .stride = {1, 1}, .padding = {0, 1, 0, 0}},
                {1, 2, 17, 17}, false),
      matmul_case("matmul", {}, {3, 4}, {4, 2}),
      matmul_case("matmul, first transposed", {true, false}, {4, 3}, {4, 2}),
      matmul_case("matmul, second transposed", {false, true}, {3, 4}, {2, 4}),
      matmul_case("matmul, both transposed", {true, true}, {4, 3}, {2, 4}),
      matmul_case("matmul of many", {}, {2, 3, 4, 5}, {2, 3, 5, 2}),
      matmul_case("matmul of many, both transposed", {true, true}, {3, 5, 4}, {3, 2, 5}),
      matmul_case("matmul of many and one", {false, true}, {3, 4, 5}, {2, 5}),
      matmul_case("matmul of one and many", {true, false}, {5, 4}, {3, 5, 2}),
      matmul_case("matmul of many that broadcast", {}, {3, 1, 4, 5}, {2, 5, 2}),
      {"batch norm",
       [](Builder& b, Symbols in) {
         const Node& n = b.emit<BatchNorm>({0.01}, {in[0], in[1], in[2]});
         return std::vector{n.out(0)};
       },
       {random_tensor({3, 2, 2, 3}, 1), random_tensor({2}, 2), random_tensor({2}, 3)}},
      {"batch norm with its statistics",
       [](Builder& b, Symbols in) {
         const Node& n = b.emit<BatchNorm>({0.01}, {in[0], in[1], in[2]});
         return std::vector{n.out(0), n.out(1), n.out(2)};
       },
       {random_tensor({5, 3}, 1), random_tensor({3}, 2), random_tensor({3}, 3)}},
      {"batch norm, then a curve",  // the second gradient's dy depends on x
       [](Builder& b, Symbols in) {
         return std::vector{b.tanh(b.emit<BatchNorm>({0.01}, {in[0], in[1], in[2]}).out())};
       },
       {random_tensor({4, 2}, 1), random_tensor({2}, 2), random_tensor({2}, 3)}},
      {"two batch norms",
       [](Builder& b, Symbols in) {
         const Symbol first = b.emit<BatchNorm>({0.01}, {in[0], in[1], in[2]}).out();
         const Symbol between = matmul(b, first, in[3], {});
         return std::vector{b.emit<BatchNorm>({0.01}, {between, in[1], in[2]}).out()};
       },
       {random_tensor({5, 2}, 1), random_tensor({2}, 2), random_tensor({2}, 3), random_tensor({2, 2}, 4)}},
      {"softmax",
       [](Builder& b, Symbols in) { return std::vector{softmax(b, in[0])}; },
       {random_tensor({3, 4}, 5)}},
      {"softmax cross entropy",
       [](Builder& b, Symbols in) {
         return std::vector{b.emit<SoftmaxCrossEntropy>({}, {in[0], in[1]}).out()};
       },
       {random_tensor({4, 5}, 6), random_labels(4, 5, 1)}},
      {"squared cross entropy",
       [](Builder& b, Symbols in) {
         return std::vector{b.square(b.emit<SoftmaxCrossEntropy>({}, {in[0], in[1]}).out())};
       },
       {random_tensor({4, 5}, 6), random_labels(4, 5, 1)}},
      {"mean over replicas",
       [](Builder& b, Symbols in) { return std::vector{b.tanh(replica_mean(b, in[0]))}; },
       {random_tensor({3, 4}, 5)}},
      {"dot products of segments",
       [](Builder& b, Symbols in) {
         return std::vector{segment_dot(b, in[0], in[1], {{3, 1, 5}})};
       },
       {random_tensor({9}, 1), random_tensor({9}, 2)}},
      {"root of sums of squares of segments",
       [](Builder& b, Symbols in) {
         return std::vector{b.sqrt(segment_dot(b, in[0], in[0], {{4, 2}}))};
       },
       {random_tensor({6}, 1)}},
      {"numbers of segments at their elements",
       [](Builder& b, Symbols in) {
         return std::vector{b.square(segment_spread(b, in[0], {{2, 1, 4}}))};
       },
       {random_tensor({3}, 1)}},
      {"pad",
       [](Builder& b, Symbols in) {
         return std::vector{pad(b, in[0], {0, 1, 2}, {1, 0, 3})};
       },
       {random_tensor({2, 3, 2}, 7)}},
      {"slice",
       [](Builder& b, Symbols in) {
         return std::vector{slice(b, in[0], {1, 0}, {2, 2})};
       },
       {random_tensor({4, 3}, 7)}},
      {"concat of channels",  // of images
       [](Builder& b, Symbols in) {
         const std::vector<Symbol> parts = {in[0], convolution(b, in[0], in[1], {.padding = {1, 1, 1, 1}}),
                                            in[0]};
         return std::vector{concat(b, parts, 1)};
       },
       {random_tensor({2, 3, 5, 4}, 1), random_tensor({4, 3, 3, 3}, 2)}},
      {"concat of the first axis",
       [](Builder& b, Symbols in) { return std::vector{concat(b, in, 0)}; },
       {random_tensor({2, 3}, 7), random_tensor({1, 3}, 8), random_tensor({4, 3}, 9)}},
      {"gather",
       [](Builder& b, Symbols in) { return std::vector{gather(b, in[0], in[1], 0)}; },
       {random_tensor({4, 3}, 7), Tensor::of<int32_t>({2, 3}, {3, 0, 3, 1, 1, 3})}},
      {"gather along the middle axis",
       [](Builder& b, Symbols in) { return std::vector{gather(b, in[0], in[1], 1)}; },
       {random_tensor({2, 4, 3}, 7), Tensor::of<int32_t>({2, 1}, {2, 0})}},
      {"gather of one, squared",
       [](Builder& b, Symbols in) { return std::vector{b.square(gather(b, in[0], in[1], 1))}; },
       {random_tensor({3, 4}, 7), Tensor::of<int32_t>({}, {2})}},
      {"softplus far from zero",
       [](Builder& b, Symbols in) { return std::vector{b.softplus(in[0])}; },
       {random_tensor({12}, 7, DType::kFloat64, -60, 60, 0.05)}},
      {"transpose",
       [](Builder& b, Symbols in) {
         return std::vector{b.transpose(in[0], {2, 0, 1})};
       },
       {random_tensor({2, 3, 4}, 8)}},
      {"reduce max",
       [](Builder& b, Symbols in) { return std::vector{b.reduce_max(in[0], {1})}; },
       {random_tensor({3, 4, 2}, 9)}},
      {"reduce to mean and variance",
       [](Builder& b, Symbols in) {
         return std::vector{b.emit<Reduce>({Reduction::kMean, {0, 2}}, {in[0]}).out(),
                            b.emit<Reduce>({Reduction::kVariance, {0, 2}}, {in[0]}).out(),
                            b.emit<Reduce>({Reduction::kVariance, {1}}, {in[0]}).out()};
       },
       {random_tensor({3, 4, 2}, 9)}},
      {"broadcast mul",
       [](Builder& b, Symbols in) { return std::vector{b.mul(in[0], in[1])}; },
       {random_tensor({2, 3, 4}, 1), random_tensor({3, 1}, 2)}},
  };
}

inline std::vector<OpCase> gradient_op_cases() {
  const PoolingParams window{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}};
  const auto index_of = [window](Builder& b, Symbol x) { return b.emit<MaxPool>(window, {x}).out(1); };
  return {
      conv_data_case("conv backward data", {.padding = {1, 1, 1, 1}}, {2, 4, 5, 4}, {4, 3, 3, 3}, {5, 4}),
      conv_data_case("conv backward data, grouped, stride 2",
                     {.stride = {2, 2}, .padding = {0, 1, 1, 0}, .groups = 3}, {2, 6, 2, 2}, {6, 1, 3, 2},
                     {5, 4}),
      conv_weights_case("conv backward weights", {.padding = {1, 1, 1, 1}}, {2, 3, 5, 4}, {2, 4, 5, 4},
                        {3, 3}),
      conv_weights_case("conv backward weights, grouped, stride 2",
                        {.stride = {2, 2}, .padding = {0, 1, 1, 0}, .groups = 3}, {2, 3, 5, 4}, {2, 6, 2, 2},
                        {3, 2}),
      {"max pool scatter",
       [window, index_of](Builder& b, Symbols in) {
         return std::vector{b.emit<MaxPoolScatter>({window, {5, 4}}, {in[0], index_of(b, in[1])}).out()};
       },
       {random_tensor({1, 2, 3, 2}, 1), random_tensor({1, 2, 5, 4}, 2)}},
      {"max pool gather",
       [window, index_of](Builder& b, Symbols in) {
         return std::vector{b.emit<MaxPoolGather>({window, {5, 4}}, {in[0], index_of(b, in[1])}).out()};
       },
       {random_tensor({1, 2, 5, 4}, 1), random_tensor({1, 2, 5, 4}, 2)}},
      {"avg pool spread",
       [window](Builder& b, Symbols in) {
         return std::vector{b.emit<AvgPoolSpread>({window, {5, 4}}, {in[0]}).out()};
       },
       {random_tensor({1, 2, 3, 2}, 1)}},
      {"scatter add",  // one row gets two, one is left out
       [](Builder& b, Symbols in) {
         return std::vector{b.emit<ScatterAdd>({4}, {in[0], in[1]}).out()};
       },
       {random_tensor({4, 3}, 1), Tensor::of<int32_t>({4}, {1, 3, 4, 1})}},
      {"batch norm gradient",
       [](Builder& b, Symbols in) {
         const Node& n = b.emit<BatchNorm>({0.01}, {in[0], in[1], in[1]});
         const Node& g = b.emit<BatchNormGradient>({0.01}, {in[0], in[1], n.out(1), n.out(2), in[2]});
         return std::vector{g.out(0), g.out(1), g.out(2)};
       },
       {random_tensor({3, 2, 2, 3}, 1), random_tensor({2}, 2), random_tensor({3, 2, 2, 3}, 3)}},
      {"softmax cross entropy gradient",
       [](Builder& b, Symbols in) {
         return std::vector{b.emit<SoftmaxCrossEntropyGradient>({}, {in[0], in[1], in[2]}).out()};
       },
       {random_tensor({4, 5}, 6), random_labels(4, 5, 1), random_tensor({4}, 7)}},
  };
}

/// A function that is flat but for its steps, times its first input: the gradient is its value.
inline OpCase step_case(const char* name, Symbol (*step)(Builder&, Symbols), std::vector<Tensor> inputs) {
  return {name, [step](Builder& b, Symbols in) { return std::vector{b.mul(b.to_float(step(b, in)), in[0])}; },
          std::move(inputs)};
}

inline std::vector<OpCase> step_cases() {
  const Tensor x = random_tensor({4, 5}, 1, DType::kFloat64, -3, 3, 0.05);
  const Tensor y = random_tensor({4, 5}, 2, DType::kFloat64, -3, 3, 0.05);
  const Tensor labels = Tensor::of<int32_t>({4}, {0, 4, 5, -1});  // two are out of range
  return {
      step_case("floor", [](Builder& b, Symbols in) { return b.floor(in[0]); }, {x}),
      step_case("trunc", [](Builder& b, Symbols in) { return b.trunc(in[0]); }, {x}),
      step_case("round", [](Builder& b, Symbols in) { return b.round(in[0]); }, {x}),
      step_case("sign", [](Builder& b, Symbols in) { return b.sign(in[0]); }, {x}),
      step_case("is nan", [](Builder& b, Symbols in) { return b.add(b.is_nan(in[0]), 2.0); }, {x}),
      step_case("cast to int32", [](Builder& b, Symbols in) { return b.cast(in[0], DType::kInt32); }, {x}),
      step_case("cast to int64", [](Builder& b, Symbols in) { return b.cast(in[0], DType::kInt64); }, {x}),
      step_case("greater", [](Builder& b, Symbols in) { return b.greater(in[0], in[1]); }, {x, y}),
      step_case("greater equal", [](Builder& b, Symbols in) { return b.greater_equal(in[0], in[1]); },
                {x, y}),
      step_case("equal", [](Builder& b, Symbols in) { return b.equal(b.floor(in[0]), b.floor(in[1])); },
                {x, y}),
      step_case("select", [](Builder& b, Symbols in) { return b.select(b.greater(in[0], 0.25), in[1], 0.5); },
                {x, y}),
      step_case("one hot", [](Builder& b, Symbols in) { return one_hot(b, in[1], 5); }, {x, labels}),
      step_case("arg max", [](Builder& b, Symbols in) { return b.emit<ArgMax>({1}, {in[0]}).out(); },
                {random_tensor({5, 5}, 1)}),
      step_case("arg max of the first axis",
                [](Builder& b, Symbols in) { return b.emit<ArgMax>({0}, {in[0]}).out(); },
                {random_tensor({5, 5}, 1)}),
      step_case("arg max of ties",
                [](Builder& b, Symbols in) { return b.emit<ArgMax>({1}, {b.floor(in[0])}).out(); },
                {random_tensor({5, 5}, 1, DType::kFloat64, -3, 3, 0.05)}),
      step_case("in top k",
                [](Builder& b, Symbols in) {
                  return b.reshape(in_top_k(b, in[0], in[1], 2), {4, 1});
                },
                {x, labels}),
      step_case("in top k of ties",
                [](Builder& b, Symbols in) {
                  return b.reshape(in_top_k(b, b.mul(b.floor(in[0]), 0.25), in[1], 2), {4, 1});
                },
                {x, labels}),
      step_case("random uniform", [](Builder& b, Symbols in) { return random_uniform(b, in[0].shape()); },
                {x}),
      step_case("random normal",
                [](Builder& b, Symbols in) {
                  return b.emit<RandomNormal>({in[0].shape(), b.float_type()}, {}).out();
                },
                {x}),
      step_case("variable",
                [](Builder& b, Symbols /*in*/) {
                  const Initialize draw = [](const Tensor& value, Rng& rng) {
                    visit(value.dtype(), [&](auto zero) {
                      for (auto& v : value.span<decltype(zero)>())
                        v = static_cast<decltype(zero)>(rng.uniform());
                    });
                  };
                  return b.variable("v", {5}, draw);
                },
                {x}),
      step_case("constants",
                [](Builder& b, Symbols /*in*/) {
                  return b.add(b.constant(0.7, {5}), b.constant(random_tensor({4, 1}, 3, b.float_type())));
                },
                {x}),
  };
}

inline std::vector<OpCase> pointwise_cases() {
  using Fn = pointwise::Fn;
  std::vector<OpCase> cases;
  for (const Fn fn : {Fn::kAdd, Fn::kSub, Fn::kMul, Fn::kDiv, Fn::kMax, Fn::kMin, Fn::kPow}) {
    cases.push_back({pointwise::name_of(fn),
                     [fn](Builder& b, Symbols in) {
                       return std::vector{b.apply(fn, {in[0], in[1]})};
                     },
                     {random_tensor({3, 4}, 1, DType::kFloat64, fn == Fn::kPow ? 0.3 : -1, 1),
                      random_tensor({4}, 2, DType::kFloat64, 0.6, 2)}});
  }
  for (const Fn fn : pointwise::functions()) {
    const bool is_flat =
        fn == Fn::kSign || fn == Fn::kFloor || fn == Fn::kRound || fn == Fn::kTrunc;  // see step_cases
    if (pointwise::arity(fn) != 1 || pointwise::gives_bool(fn) || is_flat) continue;
    cases.push_back({pointwise::name_of(fn),
                     [fn](Builder& b, Symbols in) { return std::vector{b.apply(fn, {in[0]})}; },
                     {random_tensor({5}, 1, DType::kFloat64, 0.3, 2)}});
  }
  return cases;
}

/// Every case whose gradients are checked.
inline std::vector<OpCase> all_cases() {
  std::vector<OpCase> all;
  for (const auto& cases : {forward_cases(), gradient_op_cases(), step_cases(), pointwise_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

/// The types of ops in a case's own graph, without its gradient's, and the functions of its pointwise ops.
inline std::set<std::string> ops_of(const OpCase& c) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {.float_type = DType::kFloat64});
  std::vector<Symbol> in;
  for (const Tensor& x : c.inputs) in.push_back(b.input("input" + std::to_string(in.size()), x.spec()));
  for (const Symbol& y : c.function(b, in)) b.fetch("output" + std::to_string(graph.fetches().size()), y);
  std::set<std::string> types;
  const std::vector<bool> needed = graph.needed();
  for (const auto& node : graph.nodes()) {
    if (!needed[static_cast<size_t>(node->id)]) continue;
    types.insert(node->op->type());
    const auto* op = op_cast<pointwise::Pointwise>(*node);
    if (op == nullptr) continue;
    for (const pointwise::Instruction& i : op->expression().code) types.insert(pointwise::name_of(i.fn));
  }
  return types;
}

/// Registered ops, those that are made from a value and so cannot be registered, and functions of pointwise
/// ops that none of the cases has.
inline std::vector<std::string> ops_without_case(const std::vector<OpCase>& cases) {
  std::set<std::string> all = {"Literal", pointwise::Pointwise::kType};
  for (const ComponentInfo* info : Registry<Op>::table().list()) all.insert(info->name);
  for (const pointwise::Fn fn : {pointwise::Fn::kInput, pointwise::Fn::kConstant})
    all.insert(pointwise::name_of(fn));
  for (const pointwise::Fn fn : pointwise::functions()) all.insert(pointwise::name_of(fn));
  std::set<std::string> covered;
  for (const OpCase& c : cases) covered.merge(ops_of(c));
  std::vector<std::string> missing;
  std::set_difference(all.begin(), all.end(), covered.begin(), covered.end(), std::back_inserter(missing));
  return missing;
}

inline std::string name_of_case(const testing::TestParamInfo<OpCase>& param) {
  std::string name = param.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace tpack
