// Functions of one number and their gradients in float32 on the cpu backend, against long double, over all
// sizes of numbers. (backend_check.h compares whole tensors, and divides by the largest element: it cannot
// see that a small one is wrong.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "graph/passes/gradient.h"
#include "layers/layer_cases.h"
#include "model/cost.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

using Real = long double;
using Function = Real (*)(Real);

constexpr double kMaxError = 4e-6;  // relative

struct FloatCase {
  std::string name;  // of the test
  std::string layer;
  Function value;
  Function gradient;
  Real least = -100;  // numbers that are tried
  Real most = 100;
  /// Gradients that are made from the output, as 1 - y * y is, have no more digits than the output leaves.
  double gradient_from_output = 0;
};

constexpr Real kSelu = 1.0507009873554804934193349852946L;
constexpr Real kSeluAlpha = 1.6732632423543772848170429916717L;

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real softplus(Real x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Real normal_cdf(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
Real zero(Real /*x*/) { return 0; }
Real hard_sigmoid(Real x) { return std::clamp<Real>(x + 3, 0, 6) / 6; }

const std::vector<FloatCase> kFloatCases = {
    {"softplus", "Softplus", softplus, sigmoid},
    {"elu", "ELU", [](Real x) { return x > 0 ? x : std::expm1(x); },
     [](Real x) { return x > 0 ? Real{1} : std::exp(x); }},
    {"sigmoid", "Sigmoid", sigmoid, [](Real x) { return sigmoid(x) * sigmoid(-x); }, -100, 100, 2e-7},
    {"tanh", "Tanh", [](Real x) { return std::tanh(x); },
     [](Real x) { return 1 / (std::cosh(x) * std::cosh(x)); }, -100, 100, 4e-7},
    {"leaky_relu", "LeakyReLU: {alpha: 0.1}", [](Real x) { return x > 0 ? x : Real{0.1F} * x; },
     [](Real x) { return x > 0 ? Real{1} : Real{0.1F}; }},
    {"silu", "SiLU", [](Real x) { return x * sigmoid(x); },
     [](Real x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }, -80, 100, 3e-7},
    {"mish", "Mish", [](Real x) { return x * std::tanh(softplus(x)); },
     [](Real x) {
       const Real t = std::tanh(softplus(x));
       return t + x * sigmoid(x) * (1 - t * t);
     },
     -80, 100, 6e-7},
    {"selu", "SELU", [](Real x) { return kSelu * (x > 0 ? x : kSeluAlpha * std::expm1(x)); },
     [](Real x) { return kSelu * (x > 0 ? Real{1} : kSeluAlpha * std::exp(x)); }},
    {"log_sigmoid", "LogSigmoid", [](Real x) { return -softplus(-x); }, [](Real x) { return sigmoid(-x); }},
    {"softsign", "Softsign", [](Real x) { return x / (1 + std::abs(x)); },
     [](Real x) { return 1 / ((1 + std::abs(x)) * (1 + std::abs(x))); }, -100, 100, 1e-7},
    // Where 1 + erf(x / sqrt(2)) is near 0, it has few digits.
    {"gelu", "GELU", [](Real x) { return x * normal_cdf(x); },
     [](Real x) {
       return normal_cdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Real>);
     },
     -1.5L, 100, 2e-7},
    {"hard_sigmoid", "HardSigmoid", [](Real x) { return hard_sigmoid(x); },
     [](Real x) { return std::abs(x) < 3 ? Real{1} / 6 : 0; }},
    {"hard_swish", "HardSwish", [](Real x) { return x * hard_sigmoid(x); },
     [](Real x) { return std::abs(x) < 3 ? (2 * x + 3) / 6 : Real{x > 0 ? 1.0F : 0.0F}; }, -100, 100, 2e-7},
    {"hard_tanh", "HardTanh", [](Real x) { return std::clamp<Real>(x, -1, 1); },
     [](Real x) { return std::abs(x) < 1 ? Real{1} : 0; }},
    {"relu6", "ReLU6", [](Real x) { return std::clamp<Real>(x, 0, 6); },
     [](Real x) { return x > 0 && x < 6 ? Real{1} : 0; }},
    {"exp", "Elementwise: exp(x)", [](Real x) { return std::exp(x); }, [](Real x) { return std::exp(x); },
     -100, 88},
    {"expm1", "Elementwise: expm1(x)", [](Real x) { return std::expm1(x); },
     [](Real x) { return std::exp(x); }, -100, 88},
    {"log", "Elementwise: log(x)", [](Real x) { return std::log(x); }, [](Real x) { return 1 / x; }, 0, 100},
    {"sqrt", "Elementwise: sqrt(x)", [](Real x) { return std::sqrt(x); },
     [](Real x) { return 1 / (2 * std::sqrt(x)); }, 0, 100},
    {"rsqrt", "Elementwise: rsqrt(x)", [](Real x) { return 1 / std::sqrt(x); },
     [](Real x) { return -1 / (2 * x * std::sqrt(x)); }, 0, 100},
    {"softplus_in_a_formula", "Elementwise: softplus(x)", softplus, sigmoid},
    {"sigmoid_in_a_formula", "Elementwise: sigmoid(x)", sigmoid,
     [](Real x) { return sigmoid(x) * sigmoid(-x); }, -100, 100, 2e-7},
    {"tanh_in_a_formula", "Elementwise: tanh(x)", [](Real x) { return std::tanh(x); },
     [](Real x) { return 1 / (std::cosh(x) * std::cosh(x)); }, -100, 100, 4e-7},
    {"log1p", "Elementwise: log1p(x)", [](Real x) { return std::log1p(x); },
     [](Real x) { return 1 / (1 + x); }, -1, 100},
    {"erf", "Elementwise: erf(x)", [](Real x) { return std::erf(x); },
     [](Real x) { return 2 / std::sqrt(std::numbers::pi_v<Real>) * std::exp(-x * x); }, -100, 100, 1e-20},
    {"sin", "Elementwise: sin(x)", [](Real x) { return std::sin(x); }, [](Real x) { return std::cos(x); }},
    {"cos", "Elementwise: cos(x)", [](Real x) { return std::cos(x); }, [](Real x) { return -std::sin(x); }},
    {"square_root_of_the_fifth_power", "Elementwise: pow(x, 2.5)",
     [](Real x) { return std::pow(x, Real{2.5}); }, [](Real x) { return 2.5L * std::pow(x, Real{1.5}); }, 0,
     100, 1e-37},
    {"third_power", "Elementwise: pow(x, 3)", [](Real x) { return x * x * x; },
     [](Real x) { return 3 * x * x; }, -100, 100, 1e-37},
    {"power_of_three", "Elementwise: pow(3, x)", [](Real x) { return std::pow(Real{3}, x); },
     [](Real x) { return std::log(Real{3}) * std::pow(Real{3}, x); }, -79, 80},
    {"abs", "Elementwise: abs(x)", [](Real x) { return std::abs(x); },
     [](Real x) { return x > 0 ? Real{1} : Real{-1}; }},
    {"sign", "Elementwise: sign(x)", [](Real x) { return x > 0 ? Real{1} : Real{-1}; }, zero},
    {"floor", "Elementwise: floor(x)", [](Real x) { return std::floor(x); }, zero},
    {"round", "Elementwise: round(x)", [](Real x) { return std::nearbyint(x); }, zero},
    {"trunc", "Elementwise: trunc(x)", [](Real x) { return std::trunc(x); }, zero},
    {"is_nan", "Elementwise: is_nan(x)", zero, zero}};

/// Both signs of numbers from 1e-30 to 100, each 1.23 times the one before, within the range of the case.
std::vector<float> numbers_for(Real least, Real most) {
  std::vector<float> all;
  for (double x = 1e-30; x < 100; x *= 1.23) {
    for (const double signed_x : {x, -x})
      if (signed_x > static_cast<double>(least) && signed_x < static_cast<double>(most))
        all.push_back(static_cast<float>(signed_x));
  }
  return all;
}

/// `slack`: absolute. What is smaller than the smallest normal float counts as zero on processors.
void expect_near(const Tensor& found, const std::vector<float>& x, Function truth, double slack) {
  for (size_t i = 0; i < x.size(); ++i) {
    const auto expected = truth(static_cast<Real>(x[i]));
    if (std::abs(expected) > static_cast<Real>(std::numeric_limits<float>::max())) continue;
    const double error = std::abs(found.at(static_cast<int64_t>(i)) - static_cast<double>(expected));
    EXPECT_LE(error, kMaxError * std::abs(static_cast<double>(expected)) +
                         static_cast<double>(std::numeric_limits<float>::min()) + slack)
        << "at " << x[i] << ": " << found.at(static_cast<int64_t>(i)) << " for "
        << static_cast<double>(expected);
  }
}

class AccuracyOfFloats : public testing::TestWithParam<FloatCase> {};

TEST_P(AccuracyOfFloats, of_value_and_gradient) {
  const FloatCase& c = GetParam();
  const std::vector<float> x = numbers_for(c.least, c.most);
  ASSERT_GT(x.size(), 300U);
  const auto found = testkit::evaluate_on_cpu(
      [&](Builder& b, std::span<const Symbol> in) {
        const Symbol y = function_of("- " + c.layer)(b, in)[0];
        const Symbol dx = gradients(b, b.reduce_sum(y), in)[0];
        return std::vector{y, dx ? dx : b.mul(in[0], 0.0)};  // none reaches a function that is flat
      },
      {Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}, {});
  expect_near(found[0], x, c.value, 0);
  expect_near(found[1], x, c.gradient, c.gradient_from_output);
}

TEST(AccuracyOfFloats, has_a_case_for_every_function_of_one_value) {
  for (const pointwise::Fn fn : pointwise::functions()) {
    if (pointwise::arity(fn) != 1 || fn == pointwise::Fn::kNeg) continue;
    const std::string layer = std::string("Elementwise: ") + pointwise::name_of(fn) + "(x)";
    EXPECT_TRUE(std::any_of(kFloatCases.begin(), kFloatCases.end(), [&](const FloatCase& c) {
      return c.layer == layer;
    })) << layer;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, AccuracyOfFloats, testing::ValuesIn(kFloatCases),
                         [](const auto& param_info) { return param_info.param.name; });

/// A loss of one number y, and its gradient.
struct LossCase {
  std::string name;
  std::string cost;
  Function value;
  Function gradient;
  int64_t scores = 1;  // x, then zeros
  int32_t label = 0;
  float most = 100;  // of |x|
};

void PrintTo(const LossCase& c, std::ostream* out) { *out << c.name; }

Real cross_entropy_of_yes(Real x) { return softplus(-x); }
Real cross_entropy_of_yes_gradient(Real x) { return -sigmoid(-x); }
/// Of the probability 1 - q that is the sigmoid of x, gamma = 2.
Real focal_loss_of_yes(Real x) {
  const Real q = sigmoid(-x);
  return q * q * softplus(-x);
}
Real focal_loss_of_yes_gradient(Real x) {
  const Real q = sigmoid(-x);
  return -q * q * (2 * sigmoid(x) * softplus(-x) + q);
}

const std::vector<LossCase> kLossCases = {
    {"sigmoid_yes", "SigmoidCrossEntropy: {logits: y, labels: 1}", cross_entropy_of_yes,
     cross_entropy_of_yes_gradient},
    {"sigmoid_no", "SigmoidCrossEntropy: {logits: y, labels: 0}", softplus, sigmoid},
    {"softmax_yes", "SoftmaxCrossEntropy: {logits: y, labels: label}", cross_entropy_of_yes,
     cross_entropy_of_yes_gradient, 2},
    {"softmax_no", "SoftmaxCrossEntropy: {logits: y, labels: label}", softplus, sigmoid, 2, 1},
    {"focal_yes", "FocalLoss: {logits: y, labels: label}", focal_loss_of_yes, focal_loss_of_yes_gradient, 2},
    {"focal_no", "FocalLoss: {logits: y, labels: label}", [](Real x) { return focal_loss_of_yes(-x); },
     [](Real x) { return -focal_loss_of_yes_gradient(-x); }, 2, 1},
    {"mean_squared_error", "MeanSquaredError: {predictions: y, targets: 0}", [](Real x) { return x * x; },
     [](Real x) { return 2 * x; }},
    {"mean_absolute_error", "MeanAbsoluteError: {predictions: y, targets: 0}",
     [](Real x) { return std::abs(x); }, [](Real x) { return x > 0 ? Real{1} : Real{-1}; }},
    {"huber", "Huber: {predictions: y, targets: 0}",
     [](Real x) { return std::abs(x) <= 1 ? x * x / 2 : std::abs(x) - Real{0.5}; },
     [](Real x) { return std::clamp<Real>(x, -1, 1); }},
    {"hinge_yes", "Hinge: {logits: y, labels: 1}", [](Real x) { return std::max<Real>(1 - x, 0); },
     [](Real x) { return x < 1 ? Real{-1} : 0; }},
    {"hinge_no", "Hinge: {logits: y, labels: 0}", [](Real x) { return std::max<Real>(1 + x, 0); },
     [](Real x) { return x > -1 ? Real{1} : 0; }},
    {"mean_absolute_percentage_error", "MeanAbsolutePercentageError: {predictions: y, targets: 4}",
     [](Real x) { return std::abs(x - 4) / 4; }, [](Real x) { return x > 4 ? Real{0.25} : Real{-0.25}; }},
    {"poisson", "Poisson: {predictions: y, targets: 0}", [](Real x) { return std::exp(x); },
     [](Real x) { return std::exp(x); }, 1, 0, 80},
    {"ordinal_cross_entropy", "OrdinalCrossEntropy: {logits: y, labels: label}", softplus, sigmoid, 1},
    {"quantile", "Quantile: {predictions: y, targets: 0, quantile: 0.9}",
     [](Real x) { return x > 0 ? x / 10 : -9 * x / 10; },
     [](Real x) { return x > 0 ? Real{1} / 10 : Real{-9} / 10; }}};

TEST(AccuracyOfLosses, has_a_case_for_every_loss) {
  for (const ComponentInfo* info : Registry<Cost>::table().list()) {
    if (Registry<Metric>::table().find(info->name) == nullptr) continue;  // a cost of another form
    // Those have a test of their own.
    const std::set<std::string> others = {"CosineDistance", "KLDivergence",    "DiceLoss",
                                          "TripletLoss",    "ContrastiveLoss", "Expression"};
    if (others.contains(info->name)) continue;
    EXPECT_TRUE(std::any_of(kLossCases.begin(), kLossCases.end(), [&](const LossCase& c) {
      return c.cost.starts_with(info->name + ":");
    })) << info->name;
  }
}

class AccuracyOfLosses : public testing::TestWithParam<LossCase> {};

TEST_P(AccuracyOfLosses, of_value_and_gradient) {
  const LossCase& c = GetParam();
  const auto cost =
      cost_of("inputs: {x0: {shape: [" + std::to_string(c.scores) +
              "]}, x1: {shape: [], dtype: int32}}\nlayers: [Identity: {name: y, input: x0}, Identity: {name: "
              "label, input: x1}]\ncost: [" +
              c.cost + "]");
  const std::vector<float> all = numbers_for(-c.most, c.most);
  for (size_t i = 0; i < all.size(); i += 5) {
    Tensor x = Tensor::zeros({DType::kFloat32, {1, c.scores}});
    x.data<float>()[0] = all[i];
    const auto found = testkit::evaluate_on_cpu(
        [&](Builder& b, std::span<const Symbol> in) {
          const Symbol y = cost(b, in)[0];
          return std::vector{y, gradients(b, y, in.first(1))[0]};
        },
        {x, Tensor::of<int32_t>({1}, {c.label})}, {});
    const auto expect_close = [&](double value, Real truth) {
      EXPECT_LE(std::abs(value - static_cast<double>(truth)),
                kMaxError * std::abs(static_cast<double>(truth)) +
                    static_cast<double>(std::numeric_limits<float>::min()))
          << "at " << all[i];
    };
    expect_close(found[0].at(0), c.value(static_cast<Real>(all[i])));
    expect_close(found[1].at(0), c.gradient(static_cast<Real>(all[i])));
  }
}

/// Losses that depend on the differences of several numbers have an error relative to these, not to the loss,
/// which may be 0. 1 - cos is from 0 to 2, its gradient up to 1 / |x|.
TEST(AccuracyOfLosses, of_vectors) {
  for (const bool is_cosine : {true, false}) {
    const auto cost = cost_of(
        std::string("inputs: {x0: {shape: [8]}, x1: {shape: [8]}}\nlayers: [Softmax: {name: p, input: x1}, "
                    "Identity: {name: y, input: x0}]\ncost: [") +
        (is_cosine ? "CosineDistance: {predictions: y, targets: x1}"
                   : "KLDivergence: {logits: y, targets: p}") +
        "]");
    const auto with_gradient = [&](Builder& b, std::span<const Symbol> in) {
      const Symbol y = cost(b, in)[0];
      return std::vector{y, gradients(b, y, in.first(1))[0]};
    };
    Rng rng(3);
    for (int i = 0; i < 200; ++i) {
      const float scale = std::pow(10.0F, rng.uniform(-2, is_cosine ? 3 : 2));
      Tensor x = Tensor::zeros({DType::kFloat32, {1, 8}});
      Tensor t = x.clone();
      double length = 0;
      for (int64_t k = 0; k < 8; ++k) {
        x.data<float>()[k] = scale * rng.normal();
        t.data<float>()[k] = rng.normal();
        length += x.at(k) * x.at(k);
      }
      const auto found = testkit::evaluate_on_cpu(with_gradient, {x, t}, {});
      const auto truth = testkit::evaluate(with_gradient, {x, t}, DType::kFloat64);
      EXPECT_NEAR(found[0].at(0), truth[0].at(0), is_cosine ? 5e-7 : 5e-7 * (1 + std::sqrt(length)));
      for (int64_t k = 0; k < 8; ++k)
        EXPECT_NEAR(found[1].at(k), truth[1].at(k), is_cosine ? 1e-6 / std::sqrt(length) : 1e-6) << scale;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, AccuracyOfLosses, testing::ValuesIn(kLossCases),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace tpack
