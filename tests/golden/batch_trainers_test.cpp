// KMeans and PCA against PyTorch in double precision.
#include "dataflow/source.h"
#include "golden/golden.h"
#include "support/batch_training.h"

namespace tpack {
namespace {

using golden::Json;

struct GoldenRowsParams {
  std::string key;
  int64_t samples = 0;
  int64_t features = 0;
};

/// The samples of make_batch_trainers.py.
class GoldenRows final : public RandomAccessSource {
 public:
  using Params = GoldenRowsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Samples around 50.")
        .field("key", &Params::key, "of the numbers")
        .field("samples", &Params::samples, "how many")
        .field("features", &Params::features, "of each");
  }
  explicit GoldenRows(const Params& p)
      : p_(p),
        rows_(golden::draw(p.key, {{"shape", {p.samples, p.features}}, {"around", 0}, {"within", 1}},
                           DType::kFloat64)) {
    double* value = rows_.data<double>();
    for (int64_t i = 0; i < rows_.elements(); ++i)
      value[i] = value[i] * std::pow(4.0, -static_cast<double>(i % p.features)) * 64 + 50;
    rows_ = rows_.cast(DType::kFloat32);
  }
  Spec spec() const override { return {{"x", {DType::kFloat32, {p_.features}}}}; }
  int64_t size() const override { return p_.samples; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    out.renew(0, {DType::kFloat32, {p_.features}}).copy_from(rows_.row(index));
  }

 private:
  Params p_;
  Tensor rows_;
};
TPACK_REGISTER(Source, GoldenRows, "GoldenRows");

BatchTraining training_of(const std::string& key, const Json& golden, const std::string& trainer,
                          EngineSettings::Backend backend) {
  return BatchTraining(trainer,
                       flow_of("- GoldenRows: {key: " + key + "/rows, samples: " +
                               golden.at("samples").dump() + ", features: " + golden.at("features").dump() +
                               "}\n- BatchData: {batch_size: " + golden.at("batch").dump() + "}"),
                       make_self_comm(), backend);
}

class GoldenBatchTrainers : public testing::TestWithParam<EngineSettings::Backend> {};

TEST_P(GoldenBatchTrainers, pca_finds_the_components_of_all_samples_in_one_pass) {
  const Json golden = golden::read("batch_trainers.json").at("pca");
  BatchTraining training = training_of(
      "pca", golden, "PCA: {components: " + golden.at("components").dump() + ", component: x}", GetParam());
  Trainer& trainer = training.trainer();
  trainer.initialize();
  training.run(0, *trainer.part<StepData>().steps_per_pass());
  for (const auto& [name, summary] : golden.at("results").items())
    EXPECT_TRUE(golden::agrees("pca/" + name, trainer.part<TrainedVariables>().variables()->value(name),
                               summary, 2e-6));
  EXPECT_NEAR(*trainer.part<StepStatistics>().statistic(0), golden.at("explained_variance")[0].get<double>(),
              1e-7);
}

/// The samples are the same ones in each pass, so the estimate of their variance is, too.
TEST_P(GoldenBatchTrainers, pca_finds_the_same_in_several_passes) {
  const Json golden = golden::read("batch_trainers.json").at("pca");
  BatchTraining training = training_of(
      "pca", golden, "PCA: {components: " + golden.at("components").dump() + ", component: x}", GetParam());
  Trainer& trainer = training.trainer();
  trainer.initialize();
  training.run(0, 3 * *trainer.part<StepData>().steps_per_pass());
  EXPECT_TRUE(golden::agrees("pca/variances",
                             trainer.part<TrainedVariables>().variables()->value("variances"),
                             golden.at("results").at("variances"), 2e-6));
  EXPECT_TRUE(trainer.part<StepStatistics>().statistics()[0].is_mean)
      << "reported as it is, not as a mean over steps";
}

TEST_P(GoldenBatchTrainers, k_means_moves_centers_to_the_means_of_their_samples) {
  const Json golden = golden::read("batch_trainers.json").at("k_means");
  BatchTraining training =
      training_of("k_means", golden, "KMeans: {clusters: " + golden.at("clusters").dump() + ", component: x}",
                  GetParam());
  Trainer& trainer = training.trainer();
  trainer.initialize();
  const GoldenRows source({"k_means/rows", golden.at("samples"), golden.at("features")});
  const Tensor first = trainer.part<TrainedVariables>().variables()->value("centers").clone();
  for (int64_t k = 0; k < first.shape()[0]; ++k) {
    Datapoint sample;
    sample.resize(1);
    source.get(k, {}, sample);
    first.row(k).copy_from(sample.to_tensor(0));
  }
  trainer.part<TrainedVariables>().variables()->set("centers", first);
  const auto distortion = golden.at("distortion").get<std::vector<double>>();
  for (size_t step = 0; step < distortion.size(); ++step) {
    training.run(static_cast<int64_t>(step), static_cast<int64_t>(step) + 1);
    EXPECT_NEAR(*trainer.part<StepStatistics>().statistic(0) / distortion[step], 1, 1e-5) << step;
  }
  CheckpointContent content = training.saved();
  const Json& results = golden.at("results");
  EXPECT_TRUE(
      golden::agrees("k_means/centers", content.tensors.at("model/centers"), results.at("centers"), 1e-6));
  EXPECT_TRUE(
      golden::agrees("k_means/counts", content.tensors.at("optimizer/counts"), results.at("counts"), 0));
}

INSTANTIATE_TEST_SUITE_P(Backends, GoldenBatchTrainers,
                         testing::Values(EngineSettings::Backend::kReference,
                                         EngineSettings::Backend::kKernels),
                         [](const auto& param_info) {
                           return param_info.param == EngineSettings::Backend::kKernels ? "cpu" : "reference";
                         });

}  // namespace
}  // namespace tpack
