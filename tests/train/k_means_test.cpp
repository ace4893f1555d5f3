// Against PyTorch: tests/golden/batch_trainers_test.cpp. Ranks and resume: batch_trainer_test.cpp.
#include <cmath>

#include <gmock/gmock-matchers.h>

#include "dataflow/source.h"
#include "support/batch_training.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/on_ranks.h"

namespace tpack {
namespace {

struct HeapsParams {
  int64_t size = 60;
  int64_t different = 60;
};

/// Sample i is close to one of three points, far from 0; only the first `different` samples are different.
class Heaps final : public RandomAccessSource {
 public:
  using Params = HeapsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Three heaps of points.")
        .field("size", &Params::size, "samples")
        .field("different", &Params::different, "after so many they repeat");
  }
  explicit Heaps(Params p) : p_(p) {}
  Spec spec() const override { return {{"x", {DType::kFloat32, {2}}}}; }
  int64_t size() const override { return p_.size; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const int64_t i = index % p_.different;
    Rng rng(static_cast<uint64_t>(i));
    float* x = out.renew(0, {DType::kFloat32, {2}}).data<float>();
    x[0] = 1000 + 10 * static_cast<float>(i % 3) + rng.normal();
    x[1] = -500 + 10 * static_cast<float>(i % 3 == 1) + rng.normal();
  }

 private:
  Params p_;
};
TPACK_REGISTER(Source, Heaps, "Heaps");

DataFlow heaps(const std::string& params, int64_t batch = 20) {
  return flow_of("- Heaps: {" + params + "}\n- BatchData: {batch_size: " + std::to_string(batch) + "}");
}

TEST(KMeans, finds_heaps_of_points) {
  BatchTraining training("KMeans: {clusters: 3, component: x}", heaps("size: 60"));
  Trainer& trainer = training.trainer();
  EXPECT_FALSE(trainer.needs().model || trainer.needs().optimizer);
  trainer.initialize();
  EXPECT_EQ(trainer.part<StepStatistics>().statistic(0), std::nullopt);
  training.run(0, 30);
  const Tensor centers = trainer.part<TrainedVariables>().variables()->value("centers");
  for (int heap = 0; heap < 3; ++heap) {
    double nearest = 100;
    for (int64_t k = 0; k < 3; ++k)
      nearest = std::min(nearest, std::hypot(centers.at(2 * k) - (1000 + 10 * heap),
                                             centers.at(2 * k + 1) - (heap == 1 ? -490 : -500)));
    EXPECT_LT(nearest, 1) << "heap " << heap;
  }
  EXPECT_NEAR(*trainer.part<StepStatistics>().statistic(0), 2, 0.5);  // the variances of both coordinates
  EXPECT_EQ(trainer.part<StepStatistics>().statistics()[0].name, "distortion");
}

TEST(KMeans, chooses_far_samples_as_first_centers) {
  // Any three samples would often be of two heaps; squares of distances all but forbid that.
  int64_t good = 0;
  for (int64_t different = 21; different < 41; ++different) {
    BatchTraining training("KMeans: {clusters: 3, component: x}",
                           heaps("different: " + std::to_string(different)));
    training.trainer().initialize();
    training.run(0, 1);
    good += *training.trainer().part<StepStatistics>().statistic(0) < 10 ? 1 : 0;
  }
  EXPECT_GE(good, 18);
}

TEST(KMeans, moves_centers_that_no_sample_is_near) {
  // 2 different samples for 3 centers: one of them is no center's.
  BatchTraining training("KMeans: {clusters: 3, component: x}", heaps("size: 6, different: 2", 3));
  training.trainer().initialize();
  training.run(0, 4);
  EXPECT_NEAR(*training.trainer().part<StepStatistics>().statistic(0), 0, 1e-2);
  const Tensor centers = training.trainer().part<TrainedVariables>().variables()->value("centers");
  for (int64_t i = 0; i < centers.elements(); ++i) EXPECT_TRUE(std::isfinite(centers.at(i)));
  const CheckpointContent content = training.saved();
  double counts = 0;
  for (int64_t k = 0; k < 3; ++k) counts += content.tensors.at("optimizer/counts").at(k);
  EXPECT_EQ(counts, 12);  // each sample counts once
}

/// The samples of a flow in one batch.
Tensor samples_of(const DataFlow& flow) {
  const auto cursor = flow.open({});
  Datapoint batch;
  EXPECT_TRUE(cursor->next(batch));
  return batch.tensor(0).clone();
}

TEST(KMeans, counts_the_samples_of_the_first_step) {
  const Tensor samples = samples_of(heaps("size: 4", 4));
  BatchTraining training("KMeans: {clusters: 1, component: x}", heaps("size: 4", 4));
  training.trainer().initialize();
  training.run(0, 1);
  std::vector<double> mean(2);
  for (int64_t i = 0; i < samples.elements(); ++i) mean[static_cast<size_t>(i % 2)] += samples.at(i) / 4;
  const CheckpointContent content = training.saved();
  for (int64_t f = 0; f < 2; ++f)
    EXPECT_NEAR(content.tensors.at("model/centers").at(f), mean[static_cast<size_t>(f)], 1e-3);
  EXPECT_EQ(content.tensors.at("optimizer/counts").at(0), 4);
  std::vector<double> distortions;  // around each of the samples, one of which was the first center
  for (int64_t c = 0; c < 4; ++c) {
    double squares = 0;
    for (int64_t i = 0; i < samples.elements(); ++i)
      squares += std::pow(samples.at(i) - samples.at(2 * c + i % 2), 2);
    distortions.push_back(squares / 4);
  }
  EXPECT_THAT(distortions, testing::Contains(testing::DoubleNear(
                               *training.trainer().part<StepStatistics>().statistic(0), 1e-2)));
}

/// Two samples at (5, 5) on one rank and six at (20, 20) on the other, around a center at (10, 10).
TEST(KMeans, reports_the_distortion_of_the_samples_of_all_ranks) {
  const auto reported = on_ranks(2, [](int rank, std::unique_ptr<Comm> comm) {
    const std::string place = rank == 0 ? "[5, 5]" : "[20, 20]";
    BatchTraining training("KMeans: {clusters: 1, component: x}",
                           flow_of("- FakeData: {shapes: [[2]], names: [x], size: 24, domain: " + place +
                                   "}\n- BatchData: {batch_size: " + (rank == 0 ? "2" : "6") + "}"),
                           std::move(comm));
    training.trainer().initialize();
    training.trainer().part<TrainedVariables>().variables()->set("centers",
                                                                 Tensor::of<float>({1, 2}, {10, 10}));
    training.run(0, 1);
    return training.trainer().part<StepStatistics>().statistic(0).value_or(-1);
  });
  EXPECT_THAT(reported, testing::Each(testing::DoubleNear((2 * 50 + 6 * 200) / 8.0, 1e-4)));
}

TEST(KMeans, keeps_centers_that_it_was_given) {
  BatchTraining training("KMeans: {clusters: 1, component: x}", heaps("size: 60"));
  training.trainer().initialize();
  training.trainer().part<TrainedVariables>().variables()->set("centers",
                                                               Tensor::of<float>({1, 2}, {1000, -500}));
  training.run(0, 1);
  EXPECT_GT(*training.trainer().part<StepStatistics>().statistic(0), 10);
  EXPECT_LT(*training.trainer().part<StepStatistics>().statistic(0), 1000);
}

TEST(KMeans, rejects_more_clusters_than_samples_in_a_step) {
  EXPECT_TRUE(
      says(error_from([] { BatchTraining("KMeans: {clusters: 21, component: x}", heaps("size: 60")); }),
           {"'clusters' of trainer KMeans is 21", "which has 20"}));
}

/// The centers after some steps, or why there are none.
std::string centers_after_steps(const std::string& item) {
  BatchTraining training(item, flow_of("- FakeData: {shapes: [[2], [2]], names: [x, y], size: 60}\n"
                                       "- BatchData: {batch_size: 20}"));
  training.trainer().initialize();
  training.run(0, 3);
  std::string text = training.trainer().part<TrainedModel>().model_handle()->device->name();
  const Tensor centers = training.trainer().part<TrainedVariables>().variables()->value("centers");
  for (int64_t i = 0; i < centers.elements(); ++i) text += " " + shortest(centers.at(i));
  return text;
}

const live::Fields kKMeans("trainer", "KMeans",
                           {.base = "{clusters: 2, component: x}",
                            .values = {{"component", "y"}, {"device", "apart:0"}},
                            .build = centers_after_steps});

}  // namespace
}  // namespace tpack
