#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backend/open_device.h"
#include "ops/arg_max.h"
#include "ops/gather.h"
#include "ops/matmul.h"
#include "train/batch_trainer.h"

namespace tpack {
namespace {

constexpr const char* kCenters = "centers";
constexpr const char* kCentersStage = "centers of clusters";

struct KMeansParams {
  int64_t clusters = 10;
  ComponentRef component = "image";
  Ref<DeviceName> device = default_device();
};

/// Finds the nearest center of each sample: |y - c|^2 = |y|^2 - (2 y c - |c|^2), so one product does the
/// work. Shapes: x [N, ...] -> cluster int32 [N], distance [N], center [N, features]; centers [clusters,
/// features].
class NearestCenter final : public TowerFunction {
 public:
  NearestCenter(const TowerInput& input, int64_t clusters) : inputs_{input}, clusters_(clusters) {}
  const std::vector<TowerInput>& inputs() const override { return inputs_; }

  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    const Symbol x = rows_of(b, in.begin()->second);  // [N, features]
    const int64_t samples = x.shape()[0];
    const Symbol centers = b.variable(kCenters, {clusters_, x.shape()[1]}, nullptr, false);
    // Numbers far from 0 would leave the product few digits for the differences.
    const Symbol middle = b.reduce_mean(centers, {0}, Builder::Keep::kYes);  // [1, features]
    const Symbol y = b.sub(x, middle);
    const Symbol c = b.sub(centers, middle);
    const Symbol norms = b.reduce_sum(b.square(c), {1});                                    // [clusters]
    const Symbol score = b.sub(b.mul(matmul(b, y, c, {.transpose_b = true}), 2.0), norms);  // [N, clusters]
    const Symbol cluster = b.emit<ArgMax>({1}, {score}).out();
    const Symbol square = b.max(b.sub(b.reduce_sum(b.square(y), {1}), b.reduce_max(score, {1})), 0.0);
    TowerResult result;
    result.outputs = {
        {"cluster", cluster}, {"distance", b.sqrt(square)}, {"center", gather(b, centers, cluster, 0)}};
    if (b.training()) result.outputs.insert({{"rows", x}, {"square", square}});
    result.statistics = {{"distortion", b.reduce_sum(square), b.constant(static_cast<double>(samples))}};
    result.statistics[0].goal = Goal::kMin;
    return result;
  }

 private:
  std::vector<TowerInput> inputs_;
  int64_t clusters_;
};

/// Rows of samples, of all ranks.
struct FirstSamples {
  std::vector<float> values;
  int64_t features = 0;

  int64_t count() const { return std::ssize(values) / features; }
  const float* row(int64_t i) const { return values.data() + i * features; }
  double square_distance(const float* a, const float* b) const {
    double sum = 0;
    for (int64_t i = 0; i < features; ++i) {
      const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      sum += difference * difference;
    }
    return sum;
  }
};

/// k-means++: the first center is any sample, each further one a sample with a probability that grows with
/// the square of its distance to the nearest center so far. Shapes: -> numbers of samples [clusters].
/// Source: Arthur, Vassilvitskii 2007, "k-means++: The advantages of careful seeding".
std::vector<int64_t> choose_centers(const FirstSamples& rows, int64_t clusters, Rng rng) {
  std::vector<int64_t> chosen = {rng.below(static_cast<uint32_t>(rows.count()))};
  std::vector<double> nearest(static_cast<size_t>(rows.count()), std::numeric_limits<double>::infinity());
  while (std::ssize(chosen) < clusters) {
    for (size_t i = 0; i < nearest.size(); ++i) {
      const float* sample = rows.row(static_cast<int64_t>(i));
      nearest[i] = std::min(nearest[i], rows.square_distance(sample, rows.row(chosen.back())));
    }
    double left = rng.uniform64() * std::accumulate(nearest.begin(), nearest.end(), 0.0);
    size_t next = 0;
    for (size_t i = 0; i < nearest.size(); ++i) {
      if (nearest[i] == 0) continue;  // as good as chosen; all are if samples repeat
      next = i;
      left -= nearest[i];
      if (left < 0) break;
    }
    chosen.push_back(static_cast<int64_t>(next));
  }
  return chosen;
}

/// Mini-batch k-means: each center is the mean of all samples that were nearest to it when their batch came.
/// A center that has never been the nearest one (samples repeat) moves to a random sample of the batch.
/// Source: Sculley 2010, "Web-scale k-means clustering".
class KMeans final : public BatchTrainer {
 public:
  using Params = KMeansParams;
  static Schema<Params> schema() {
    return on_a_component(
        Schema<Params>("Clusters samples around centers, one batch per step; makes its own model.")
            .example("KMeans: {clusters: 20, component: image}")
            .field("clusters", &Params::clusters, between(1, 100000),
                   "number of centers; the first batches of all ranks must have at least as many samples"));
  }
  explicit KMeans(Params p) : p_(std::move(p)) {}

  void setup(const TrainSetup& setup) override {
    BatchTrainer::setup(setup);
    if (batch_of_all() < p_.clusters) {
      throw ConfigError("'clusters' of trainer KMeans is " + std::to_string(p_.clusters) +
                        ", but the first centers are samples of the first step, which has " +
                        std::to_string(batch_of_all()) + "; make batches larger");
    }
    const auto ranks = static_cast<size_t>(world().size());
    clusters_ = static_cast<size_t>(p_.clusters);
    features_ = static_cast<size_t>(this->features());
    totals_.resize(clusters_ * features_ + clusters_ + ranks + 1);
    next_ = Tensor::zeros({DType::kFloat32, {p_.clusters, features()}});
    counts_ = Tensor::zeros({DType::kFloat64, {p_.clusters}});
  }

  std::vector<StepStatistic> statistics() const override { return {{"distortion", true}}; }
  std::optional<double> statistic(size_t /*index*/) const override { return distortion_; }

 protected:
  Choice choice() const override { return {p_.component, p_.device}; }
  std::unique_ptr<TowerFunction> make_tower(const TowerInput& input) const override {
    return std::make_unique<NearestCenter>(input, p_.clusters);
  }
  std::vector<std::string> fetches() const override { return {"rows", "cluster", "square"}; }
  std::map<std::string, Tensor> arrays() const override { return {{"counts", counts_}}; }
  uint64_t working_bytes() const override { return totals_.size() * sizeof(double) + next_.bytes(); }

  void fit(int64_t global_step, const std::stop_token& /*stop*/) override {
    const Executable* done = &run(global_step);
    if (global_step == 0 && !has_centers()) {
      set_first_centers(done->fetched(0));
      done = &run(global_step);
    }
    add_up(done->fetched(0), done->fetched(1), done->fetched(2));
    world().all_reduce_sum(std::span<double>(totals_), kCentersStage);
    move_centers();
    move_unused_centers(global_step, done->fetched(0));
    store().set(kCenters, next_);
    const std::span<const double> per_rank = samples_of_ranks();
    distortion_ = totals_.back() / std::accumulate(per_rank.begin(), per_rank.end(), 0.0);
  }

 private:
  // Parts of the totals of a step.
  std::span<double> sums(size_t cluster) { return {totals_.data() + cluster * features_, features_}; }
  std::span<double> hits() { return {totals_.data() + clusters_ * features_, clusters_}; }
  std::span<double> samples_of_ranks() {
    return {totals_.data() + clusters_ * (features_ + 1), static_cast<size_t>(world().size())};
  }

  /// Those of `init`, say.
  bool has_centers() {
    const Tensor centers = store().value(kCenters);
    return std::any_of(centers.span<float>().begin(), centers.span<float>().end(),
                       [](float value) { return value != 0; });
  }

  void set_first_centers(const Tensor& own) {
    FirstSamples rows{.features = features()};
    const std::string bytes(reinterpret_cast<const char*>(own.raw()), own.bytes());
    for (const std::string& part : world().all_gather(bytes, kCentersStage)) {
      const auto* values = reinterpret_cast<const float*>(part.data());
      rows.values.insert(rows.values.end(), values, values + part.size() / sizeof(float));
    }
    const int64_t samples = rows.count();
    if (samples < p_.clusters)
      throw DataError("the first step of trainer KMeans has " + std::to_string(samples) +
                      " samples, fewer than 'clusters' (" + std::to_string(p_.clusters) +
                      "); use more data, or fewer clusters");
    const std::vector<int64_t> chosen =
        choose_centers(rows, p_.clusters, Rng(with().seed, stable_hash(kCentersStage)));
    for (size_t k = 0; k < clusters_; ++k) {
      const float* row = rows.row(chosen[k]);
      std::copy(row, row + features_, next_.row(static_cast<int64_t>(k)).data<float>());
    }
    store().set(kCenters, next_);
  }

  /// In double: sums of floats of one magnitude are exact, so they do not depend on how samples are divided
  /// among ranks. Shapes: rows [N, features], cluster [N], square [N].
  void add_up(const Tensor& rows, const Tensor& cluster, const Tensor& square) {
    std::fill(totals_.begin(), totals_.end(), 0.0);
    const float* row = rows.data<float>();
    for (size_t i = 0; i < cluster.span<int32_t>().size(); ++i, row += features_) {
      const auto k = static_cast<size_t>(cluster.data<int32_t>()[i]);
      double* sum = sums(k).data();
      for (size_t f = 0; f < features_; ++f) sum[f] += static_cast<double>(row[f]);
      hits()[k] += 1;
      totals_.back() += static_cast<double>(square.data<float>()[i]);
    }
    samples_of_ranks()[static_cast<size_t>(world().rank())] = static_cast<double>(cluster.elements());
  }

  void move_centers() {
    next_.copy_from(store().value(kCenters));
    auto* counts = counts_.data<double>();
    auto* center = next_.data<float>();
    for (size_t k = 0; k < clusters_; ++k, center += features_) {
      const double count = hits()[k];
      if (count == 0) continue;
      counts[k] += count;
      const std::span<const double> sum = sums(k);
      for (size_t f = 0; f < features_; ++f) {
        const auto before = static_cast<double>(center[f]);
        center[f] = static_cast<float>(before + (sum[f] - count * before) / counts[k]);
      }
    }
  }

  void move_unused_centers(int64_t global_step, const Tensor& own) {
    const std::span<const double> per_rank = samples_of_ranks();
    const double all = std::accumulate(per_rank.begin(), per_rank.end(), 0.0);
    for (size_t k = 0; k < clusters_; ++k) {
      if (counts_.data<double>()[k] > 0) continue;
      Rng rng(mix(with().seed, stable_hash(kCentersStage)), mix(static_cast<uint64_t>(global_step) + 1, k));
      int64_t sample = rng.below(static_cast<uint32_t>(all));
      int rank = 0;
      for (; sample >= static_cast<int64_t>(per_rank[static_cast<size_t>(rank)]); ++rank)
        sample -= static_cast<int64_t>(per_rank[static_cast<size_t>(rank)]);
      const Tensor center = next_.row(static_cast<int64_t>(k));
      if (rank == world().rank()) center.copy_from(own.row(sample));
      world().broadcast({center.raw(), center.bytes()}, rank, kCentersStage);
    }
  }

  Params p_;
  size_t clusters_ = 0;
  size_t features_ = 0;
  // Totals of a step, over all ranks: sums of the samples of each cluster, their numbers, samples of each
  // rank, the sum of squared distances.
  std::vector<double> totals_;
  Tensor next_;    // [clusters, features]
  Tensor counts_;  // [clusters]: samples that each center has had
  std::optional<double> distortion_;
};

TPACK_REGISTER(Trainer, KMeans, "KMeans");

}  // namespace
}  // namespace tpack
