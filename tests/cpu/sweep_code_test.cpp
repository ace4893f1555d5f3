#include "cpu/sweep/sweep_code.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "cpu/ops/float_elements.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;
using Instructions = SweepCode::Instructions;
using Walk = SweepSource::Walk;

constexpr std::array kFunctions = {Fn::kAdd,   Fn::kSub,     Fn::kMul,          Fn::kDiv,   Fn::kMax,
                                   Fn::kMin,   Fn::kGreater, Fn::kGreaterEqual, Fn::kEqual, Fn::kSelect,
                                   Fn::kNeg,   Fn::kAbs,     Fn::kSqrt,         Fn::kRsqrt, Fn::kFloor,
                                   Fn::kRound, Fn::kTrunc,   Fn::kIsNan};
constexpr std::array kReadTypes = {DType::kFloat32, DType::kBFloat16, DType::kInt32, DType::kUInt8,
                                   DType::kBool};
constexpr std::array kWrittenTypes = {DType::kFloat32, DType::kBFloat16, DType::kBool};

/// Numbers of all sizes, zeros of both signs, infinities and NaN.
float number(std::mt19937& random) {
  constexpr std::array kSpecial = {0.0F,
                                   -0.0F,
                                   1.0F,
                                   -1.0F,
                                   0.5F,
                                   2.5F,
                                   -3.5F,
                                   std::numeric_limits<float>::infinity(),
                                   -std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::quiet_NaN()};
  const size_t pick = random() % 30;
  if (pick < kSpecial.size()) return kSpecial[pick];
  const float x = std::uniform_real_distribution<float>(-8, 8)(random);
  return pick % 7 == 0 ? std::ldexp(x, static_cast<int>(random() % 200) - 100) : x;
}

/// An expression with sources and sinks of all kinds, and elements for them.
struct SweepCase {
  Expression expression;
  std::vector<SweepSource> sources;
  std::vector<SweepSink> sinks;
  std::vector<std::vector<std::byte>> data;  // of the sources

  int64_t columns = 0;  // of a row, where a source is one

  SweepCase(uint32_t seed, size_t count) {
    std::mt19937 random(seed);
    const size_t row = 16 * (1 + random() % 3);
    const size_t inputs = 1 + random() % 5;
    for (size_t i = 0; i < inputs; ++i) {
      SweepSource source{kReadTypes[random() % kReadTypes.size()], Walk::kElements};
      const size_t walk = random() % 4;
      if (walk == 0) source = {DType::kFloat32, Walk::kUniform};
      if (walk == 1 && count > 0 && count % row == 0) source.walk = Walk::kRow;
      if (source.walk == Walk::kRow) columns = static_cast<int64_t>(row);
      sources.push_back(source);
      std::vector<float> values(std::max<size_t>(count, 1));
      for (float& value : values) value = number(random);
      data.emplace_back(values.size() * size_of(source.type));
      store_floats(source.type, values.data(), data.back().data(), 0, static_cast<int64_t>(values.size()));
      expression.code.push_back({Fn::kInput, {static_cast<int>(i), -1, -1}});
    }
    expression.inputs = static_cast<int>(inputs);
    expression.code.push_back({Fn::kConstant, {-1, -1, -1}, number(random)});
    const size_t functions = 1 + random() % 8;
    for (size_t i = 0; i < functions; ++i) {
      Instruction instruction{kFunctions[random() % kFunctions.size()]};
      for (int k = 0; k < pointwise::arity(instruction.fn); ++k)
        instruction.args[static_cast<size_t>(k)] = static_cast<int>(random() % expression.code.size());
      expression.code.push_back(instruction);
    }
    const size_t outputs = 1 + random() % 4;
    for (size_t i = 0; i < outputs; ++i) {
      const bool adds = random() % 3 == 0;
      sinks.push_back({static_cast<int>(expression.code.size() - 1 - random() % (functions + 2)),
                       adds ? SweepSink::Kind::kAdd : SweepSink::Kind::kStore,
                       adds ? DType::kFloat32 : kWrittenTypes[random() % kWrittenTypes.size()]});
    }
  }
};

using Results = std::vector<std::vector<std::byte>>;

/// Where sums start from 1, 2, ...; some bytes more, which nothing may touch.
Results fresh(const SweepCase& c, size_t count) {
  Results results;
  for (const SweepSink& sink : c.sinks) {
    results.emplace_back(count * size_of(sink.type) + 64, std::byte{0x5A});
    for (size_t i = 0; i < count && sink.kind == SweepSink::Kind::kAdd; ++i) {
      const float start = static_cast<float>(i) + 1;
      std::memcpy(results.back().data() + i * sizeof(float), &start, sizeof start);
    }
  }
  return results;
}

/// Function by function.
Results by_functions(const SweepCase& c, size_t count) {
  const auto& code = c.expression.code;
  std::vector<std::vector<float>> values(code.size(), std::vector<float>(std::max<size_t>(count, 1)));
  for (size_t i = 0; i < code.size(); ++i) {
    const auto operand = [&](size_t k) {
      const int argument = code[i].args[k];
      return argument < 0 ? simd::Vector{}
                          : simd::Vector{values[static_cast<size_t>(argument)].data(), false};
    };
    if (code[i].fn == Fn::kConstant) {
      std::ranges::fill(values[i], static_cast<float>(code[i].value));
    } else if (code[i].fn == Fn::kInput) {
      const auto input = static_cast<size_t>(code[i].args[0]);
      load_floats(c.sources[input].type, c.data[input].data(), 0, values[i].data(),
                  static_cast<int64_t>(count));
      const SweepSource::Walk walk = c.sources[input].walk;
      const size_t period = walk == Walk::kUniform ? 1 : static_cast<size_t>(c.columns);
      for (size_t k = period; k < count && walk != Walk::kElements; ++k) values[i][k] = values[i][k - period];
    } else {
      simd::apply(code[i].fn, operand(0), operand(1), operand(2), values[i].data(), count);
    }
  }
  Results results = fresh(c, count);
  for (size_t k = 0; k < c.sinks.size(); ++k) {
    const float* x = values[static_cast<size_t>(c.sinks[k].value)].data();
    if (c.sinks[k].kind == SweepSink::Kind::kAdd) {
      simd::add_to(x, reinterpret_cast<float*>(results[k].data()), count);
    } else if (c.sinks[k].type == DType::kBool) {
      for (size_t i = 0; i < count; ++i) results[k][i] = std::byte{static_cast<uint8_t>(x[i] != 0)};
    } else {
      store_floats(c.sinks[k].type, x, results[k].data(), 0, static_cast<int64_t>(count));
    }
  }
  return results;
}

Results by_code(const SweepCode& code, const SweepCase& c, size_t count) {
  Results results = fresh(c, count);
  SweepCode::Operands operands{};
  for (size_t i = 0; i < c.data.size(); ++i) operands.sources[i] = c.data[i].data();
  for (size_t k = 0; k < results.size(); ++k) operands.sinks[k] = results[k].data();
  operands.columns = c.columns == 0 ? static_cast<int64_t>(count) : c.columns;
  operands.rows = c.columns == 0 ? 1 : static_cast<int64_t>(count) / c.columns;
  code.run(operands);
  return results;
}

/// The same bits, but for the sign and digits of NaN, and for floats below the smallest normal one, which
/// the instructions that round to bfloat16 treat as 0.
void expect_same(const Results& found, const Results& expected, const SweepCase& c, size_t count) {
  for (size_t k = 0; k < found.size(); ++k) {
    const DType type = c.sinks[k].type;
    EXPECT_EQ(
        std::memcmp(found[k].data() + count * size_of(type), expected[k].data() + count * size_of(type), 64),
        0)
        << "beyond the end of sink " << k;
    std::vector<float> a(count);
    std::vector<float> b(count);
    load_floats(type, found[k].data(), 0, a.data(), static_cast<int64_t>(count));
    load_floats(type, expected[k].data(), 0, b.data(), static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      if (type == DType::kBFloat16 && std::abs(b[i]) < 1e-37F && std::abs(a[i]) < 1e-37F) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
          << a[i] << " is not " << b[i] << ", sink " << k << ", element " << i << ", " << c.expression.str();
    }
  }
}

class SweepCodes : public testing::TestWithParam<Instructions> {};

TEST_P(SweepCodes, have_the_bits_of_the_functions_one_by_one) {
  int made = 0;
  for (uint32_t seed = 0; seed < 900; ++seed) {
    const size_t count = seed % 3 == 0 ? seed % 4 * 96 : seed % 100;
    const SweepCase c(seed, count);
    const auto code = SweepCode::make(c.expression, c.sources, c.sinks, c.columns, GetParam());
    if (code == nullptr) continue;
    ++made;
    expect_same(by_code(*code, c, count), by_functions(c, count), c, count);
    if (HasFatalFailure()) return;
  }
  if (made == 0) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_GT(made, 800);
}

INSTANTIATE_TEST_SUITE_P(Instructions, SweepCodes, testing::Values(Instructions::kBest, Instructions::kAvx2),
                         [](const auto& param) {
                           return std::string(param.param == Instructions::kBest ? "best" : "avx2");
                         });

TEST(SweepCode, is_not_made_of_functions_that_are_no_instructions) {
  const Expression e{1, {{Fn::kInput, {0, -1, -1}}, {Fn::kExp, {0, -1, -1}}}, {1}, {DType::kFloat32}};
  EXPECT_EQ(SweepCode::make(e, std::vector<SweepSource>(1), std::vector<SweepSink>{{1}}), nullptr);
}

/// Sixty values that are all read at the end.
TEST(SweepCode, is_not_made_of_more_values_than_registers) {
  Expression e{1, {{Fn::kInput, {0, -1, -1}}}, {}, {}};
  for (int i = 0; i < 60; ++i) e.code.push_back({Fn::kNeg, {i, -1, -1}});
  for (int i = 0; i < 60; ++i) e.code.push_back({Fn::kAdd, {i, 60 + i, -1}});
  const int last = static_cast<int>(e.code.size()) - 1;
  EXPECT_EQ(SweepCode::make(e, std::vector<SweepSource>(1), std::vector<SweepSink>{{last}}), nullptr);
}

}  // namespace
}  // namespace tpack::cpu
