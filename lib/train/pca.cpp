#include <algorithm>
#include <cmath>

#include "backend/open_device.h"
#include "core/stop.h"
#include "ops/matmul.h"
#include "train/batch_trainer.h"
#include "train/rank_vote.h"
#include "train/symmetric_eigen.h"

namespace tpack {
namespace {

constexpr const char* kMean = "mean";
constexpr const char* kComponents = "components";
constexpr const char* kVariances = "variances";
constexpr const char* kOffset = "offset";
constexpr const char* kMomentsStage = "moments of the samples";

/// The moments grow with the square: of this many they are 134 MB, and a solution works on a copy.
constexpr int64_t kMaxFeatures = 4096;

struct PcaParams {
  int64_t components = 16;
  int64_t solve_every = 0;
  ComponentRef component = "image";
  Ref<DeviceName> device = default_device();
};

/// What a sample is in terms of the components, and what they make of it. In training also the moments of a
/// batch about the offset, which is close to the mean, so that differences keep their digits.
/// Shapes: x [N, ...] -> coefficients [N, components], reconstruction [N, features]; sum [features], scatter
/// [features, features].
class Projection final : public TowerFunction {
 public:
  Projection(const TowerInput& input, int64_t components) : inputs_{input}, components_(components) {}
  const std::vector<TowerInput>& inputs() const override { return inputs_; }

  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const Symbol x = rows_of(b, in.begin()->second);  // [N, features]
    const int64_t features = x.shape()[1];
    const Symbol mean = b.variable(kMean, {features}, nullptr, false);
    const Symbol components = b.variable(kComponents, {components_, features}, nullptr, false);
    b.variable(kVariances, {components_}, nullptr, false);
    const Symbol y = b.sub(x, mean);
    const Symbol coefficients = matmul(b, y, components, {.transpose_b = true});
    const Symbol part = matmul(b, coefficients, components);
    TowerResult result;
    result.outputs = {{"coefficients", coefficients}, {"reconstruction", b.add(part, mean)}};
    result.statistics = {{"reconstruction_error", b.reduce_sum(b.square(b.sub(y, part))),
                          b.constant(static_cast<double>(x.shape()[0]))}};
    result.statistics[0].goal = Goal::kMin;
    if (!b.training()) return result;
    const Symbol offset = b.variable(
        {.name = kOffset, .spec = {b.float_type(), {features}}, .scope = VariableScope::kOptimizer});
    const Symbol z = b.sub(x, offset);
    result.outputs.insert(
        {{"sum", b.reduce_sum(z, {0})}, {"scatter", matmul(b, z, z, {.transpose_a = true})}});
    return result;
  }

 private:
  std::vector<TowerInput> inputs_;
  int64_t components_;
};

/// Adds up the moments of all samples, and finds the directions in which they vary most: the eigenvectors of
/// the covariance with the largest eigenvalues. The element of a component with the largest absolute value is
/// positive. One pass over the data gives the exact result.
class Pca final : public BatchTrainer {
 public:
  using Params = PcaParams;
  static Schema<Params> schema() {
    return on_a_component(Schema<Params>("Finds the principal components of samples; makes its own model.")
                              .example("PCA: {components: 16, component: image}")
                              .field("components", &Params::components, at_least(1),
                                     "number of components, at most the number of features")
                              .field("solve_every", &Params::solve_every, at_least(0),
                                     "steps between computations of the components, the first one after step "
                                     "1; 0: at the end of each pass"));
  }
  explicit Pca(Params p) : p_(std::move(p)) {}

  void setup(const TrainSetup& setup) override {
    BatchTrainer::setup(setup);
    if (p_.solve_every == 0 && !steps_per_pass()) {
      throw ConfigError(
          "trainer PCA: data.train does not declare the length of a pass; set 'solve_every' to a number of "
          "steps");
    }
    const int64_t n = features();
    sum_ = Tensor::zeros({DType::kFloat64, {n}});
    scatter_ = Tensor::zeros({DType::kFloat64, {n, n}});
    scalars_ = Tensor::zeros({DType::kFloat64, {2}});
    moments_.resize(static_cast<size_t>(n * n + n + 1));
  }

  std::vector<StepStatistic> statistics() const override {
    return {{.name = "explained_variance", .is_mean = true, .goal = Goal::kMax}};
  }
  std::optional<double> statistic(size_t /*index*/) const override {
    return explained() > 0 ? std::optional(explained()) : std::nullopt;
  }
  bool statistic_is_of_last_step(size_t /*index*/) const override { return solved_; }

 protected:
  Choice choice() const override { return {p_.component, p_.device}; }
  std::unique_ptr<TowerFunction> make_tower(const TowerInput& input) const override {
    const int64_t features = input.spec.shape.elements();
    const std::string there =
        "component '" + input.component + "' has " + std::to_string(features) + " values";
    if (p_.components > features)
      throw ConfigError(input.position, "trainer PCA: 'components' is " + std::to_string(p_.components) +
                                            ", but " + there + "; use at most " + std::to_string(features));
    if (features > kMaxFeatures) {
      throw ConfigError(input.position, "trainer PCA: " + there + ", but it can use at most " +
                                            std::to_string(kMaxFeatures) +
                                            "; make images smaller with a Resize");
    }
    return std::make_unique<Projection>(input, p_.components);
  }
  std::vector<std::string> fetches() const override { return {"sum", "scatter"}; }
  std::map<std::string, Tensor> arrays() const override {
    return {{"sum", sum_}, {"scatter", scatter_}, {"count_and_explained_variance", scalars_}};
  }

  /// A solution has the covariance besides what it needs itself.
  uint64_t working_bytes() const override {
    return moments_.size() * sizeof(float) + scatter_.bytes() +
           bytes_of_eigenpairs(features(), p_.components);
  }

  void fit(int64_t global_step, const std::stop_token& stop) override {
    if (global_step == 0) {
      store().set(kOffset, Tensor::zeros(store().spec(kOffset)));  // also if this step was cut short before
      take_moments(run(global_step));
      set_offset();
    }
    take_moments(run(global_step));
    const int64_t every = p_.solve_every > 0 ? p_.solve_every : std::max<int64_t>(*steps_per_pass(), 1);
    solved_ = (global_step + 1) % every == 0;
    if (solved_ || global_step == 0) solve(stop);
    const float* batch = moments_.data();
    for (double& value : scatter_.span<double>()) value += static_cast<double>(*batch++);
    for (double& value : sum_.span<double>()) value += static_cast<double>(*batch++);
    count() += static_cast<double>(*batch);
  }

 private:
  double& count() const { return scalars_.data<double>()[0]; }
  double& explained() const { return scalars_.data<double>()[1]; }

  /// Those of this step, over all ranks.
  void take_moments(const Executable& done) {
    const std::span<const float> sum = done.fetched(0).span<float>();
    const std::span<const float> scatter = done.fetched(1).span<float>();
    auto at = std::copy(scatter.begin(), scatter.end(), moments_.begin());
    at = std::copy(sum.begin(), sum.end(), at);
    *at = static_cast<float>(batch_samples());
    world().all_reduce_sum(std::span<float>(moments_), kMomentsStage);
  }

  /// The mean of the first step; the offset was zero in it.
  void set_offset() {
    const Tensor mean(DType::kFloat32, {features()});
    const float* sum = moments_.data() + features() * features();
    std::transform(sum, sum + features(), mean.data<float>(),
                   [samples = moments_.back()](float value) { return value / samples; });
    store().set(kOffset, mean);
  }

  /// On rank 0, for all: other processors could give other bits.
  void solve(const std::stop_token& stop) {
    if (world().rank() == 0) {
      const ScopedActivity busy(world(), "computing components");
      try {
        set_components(stop);
      } catch (const Stopped&) {
        agree(world(), RankVote::kInterruptNow);
        throw;
      }
    }
    agree(world(), RankVote::kContinue);
    share_variables();
    world().broadcast({scalars_.raw(), scalars_.bytes()}, 0, kMomentsStage);
  }

  /// N - 1 for the N samples of a pass: several passes see the same samples again, and do not know more.
  double divisor_of(double samples) const {
    const auto batching = data().batching();
    const auto batches = data().finite_size();
    if (!batching || !batches) return std::max(samples - 1, 1.0);
    const int64_t all =
        batching->keeps_remainder && batching->samples ? *batching->samples : *batches * batching->batch_size;
    const auto of_pass = static_cast<double>(all);
    return samples <= of_pass ? std::max(samples - 1, 1.0) : samples * ((of_pass - 1) / of_pass);
  }

  /// The moments of all samples including this step, whose samples are added to the sums only after that.
  void set_components(const std::stop_token& stop) {
    const int64_t n = features();
    const float* batch = moments_.data();
    const auto with_batch = [&batch](double value) { return value + static_cast<double>(*batch++); };
    const double samples = count() + static_cast<double>(moments_.back());
    const double divisor = divisor_of(samples);
    const Tensor covariance(DType::kFloat64, {n, n});
    auto* const scatter = covariance.data<double>();
    std::transform(scatter_.data<double>(), scatter_.data<double>() + n * n, scatter, with_batch);
    std::vector<double> sum(static_cast<size_t>(n));
    std::transform(sum_.data<double>(), sum_.data<double>() + n, sum.begin(), with_batch);
    double all = 0;
    for (int64_t i = 0; i < n; ++i) {
      double* const row = scatter + i * n;
      for (int64_t j = 0; j < n; ++j)
        row[j] = (row[j] - sum[static_cast<size_t>(i)] * sum[static_cast<size_t>(j)] / samples) / divisor;
      all += row[i];
    }
    if (!std::isfinite(all))
      throw Diverged("trainer PCA: component '" + component() +
                     "' of data.train has values that are not finite, or too large to be squared; remove or "
                     "replace them");
    const EigenPairs pairs = largest_eigenpairs(covariance, p_.components, stop);
    double kept = 0;
    for (const double variance : pairs.values.span<double>()) kept += variance;
    explained() = all > 0 ? kept / all : 1;
    const Tensor mean = store().value(kOffset).clone();
    for (int64_t i = 0; i < n; ++i)
      mean.data<float>()[i] += static_cast<float>(sum[static_cast<size_t>(i)] / samples);
    store().set(kMean, mean);
    store().set(kComponents, pairs.vectors.cast(DType::kFloat32));
    store().set(kVariances, pairs.values.cast(DType::kFloat32));
  }

  Params p_;
  Tensor sum_;                  // [features], about the offset
  Tensor scatter_;              // [features, features], likewise
  Tensor scalars_;              // samples so far; the share of the variance when it was last solved
  std::vector<float> moments_;  // of a step: scatter, sum, samples
  bool solved_ = false;         // in the last step, which was due
};

TPACK_REGISTER(Trainer, Pca, "PCA");

}  // namespace
}  // namespace tpack
