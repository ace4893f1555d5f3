#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/batch_norm.h"
#include "ops/convolution.h"
#include "ops/matmul.h"
#include "ops/pad.h"
#include "ops/pooling.h"
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

inline OpCase matmul_case(const char* name, MatMulParams p, const Shape& x, const Shape& y) {
  return {name,
          [p](Builder& b, Symbols in) { return std::vector{matmul(b, in[0], in[1], p)}; },
          {random_tensor(x, 1), random_tensor(y, 2)}};
}

inline std::vector<OpCase> all_cases() {
  using Fn = pointwise::Fn;
  std::vector<OpCase> cases = {
      conv_case("conv 3x3 same", {.padding = {1, 1, 1, 1}}, {2, 3, 5, 4}, {4, 3, 3, 3}),
      conv_case("conv stride 2, odd padding", {.stride = {2, 2}, .padding = {0, 1, 1, 0}}, {1, 2, 6, 5},
                {3, 2, 3, 2}),
      conv_case("conv dilated, grouped", {.dilation = {2, 1}, .groups = 2}, {2, 4, 6, 3}, {2, 2, 2, 2}),
      pool_case("max pool 2x2", {.window = {2, 2}, .stride = {2, 2}}, {2, 3, 4, 6}, true),
      pool_case("max pool overlapping, padded", {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}},
                {1, 2, 5, 5}, true),
      pool_case("avg pool padded", {.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0, 1, 1}},
                {2, 2, 5, 4}, false),
      matmul_case("matmul", {}, {3, 4}, {4, 2}),
      matmul_case("matmul, first transposed", {true, false}, {4, 3}, {4, 2}),
      matmul_case("matmul, second transposed", {false, true}, {3, 4}, {2, 4}),
      matmul_case("matmul, both transposed", {true, true}, {4, 3}, {2, 4}),
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
      {"transpose",
       [](Builder& b, Symbols in) {
         return std::vector{b.transpose(in[0], {2, 0, 1})};
       },
       {random_tensor({2, 3, 4}, 8)}},
      {"reduce max",
       [](Builder& b, Symbols in) { return std::vector{b.reduce_max(in[0], {1})}; },
       {random_tensor({3, 4, 2}, 9)}},
      {"broadcast mul",
       [](Builder& b, Symbols in) { return std::vector{b.mul(in[0], in[1])}; },
       {random_tensor({2, 3, 4}, 1), random_tensor({3, 1}, 2)}},
  };
  for (const Fn fn : {Fn::kAdd, Fn::kSub, Fn::kMul, Fn::kDiv, Fn::kMax, Fn::kMin}) {
    cases.push_back({pointwise::name_of(fn),
                     [fn](Builder& b, Symbols in) {
                       return std::vector{b.apply(fn, {in[0], in[1]})};
                     },
                     {random_tensor({3, 4}, 1), random_tensor({4}, 2, DType::kFloat64, 0.6, 2)}});
  }
  for (const Fn fn :
       {Fn::kNeg, Fn::kAbs, Fn::kExp, Fn::kLog, Fn::kSqrt, Fn::kRsqrt, Fn::kTanh, Fn::kSigmoid}) {
    cases.push_back({pointwise::name_of(fn),
                     [fn](Builder& b, Symbols in) { return std::vector{b.apply(fn, {in[0]})}; },
                     {random_tensor({5}, 1, DType::kFloat64, 0.3, 2)}});
  }
  return cases;
}

inline std::string name_of_case(const testing::TestParamInfo<OpCase>& param) {
  std::string name = param.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

}  // namespace tpack
