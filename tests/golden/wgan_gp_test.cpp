// A critic whose cost has a gradient in it, and its generator, against 10 steps of PyTorch.
#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "golden/golden.h"
#include "parallel/data_parallel.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using golden::Json;

/// A model whose outputs NAME_cost are its costs.
class OutputsAsCosts final : public TowerFunction {
 public:
  explicit OutputsAsCosts(const std::string& yaml) : model_(model_of(yaml)) {}
  const std::vector<TowerInput>& inputs() const override { return model_->inputs(); }
  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    TowerResult result = model_->build(b, in);
    for (const char* name : {"critic", "generator"})
      result.costs[name] = result.outputs.at(std::string(name) + "_cost");
    return result;
  }

 private:
  std::unique_ptr<TowerFunction> model_;
};

using MakeDevice = std::function<std::unique_ptr<Device>(const std::string& name)>;

/// Runs the steps on a device and compares the cost of the critic in each, and all variables after them.
void expect_golden(const MakeDevice& make_device, DType float_type, double tolerance) {
  const Json golden = golden::read("wgan_gp.json");
  std::string yaml = golden.at("model");
  for (size_t at = yaml.find("float32"); at != std::string::npos; at = yaml.find("float32", at + 1))
    yaml.replace(at, 7, name_of(float_type));
  const OutputsAsCosts tower(yaml);
  const auto adam = optimizer_of("Adam: {learning_rate: 2.0e-3, beta1: 0.5, beta2: 0.9}");
  const auto update = [&](const char* network, int64_t round) {
    return Update{.name = network,
                  .cost = {network, {}},
                  .variables = {{network, {}}},
                  .optimizer = adam.get(),
                  .schedule = {.round = round}};
  };
  ReplicaOptions options;
  options.make_device = [&](size_t /*k*/, int /*threads*/) { return make_device("cpu:0"); };
  options.fetches = {"critic_cost"};
  Plan plan;
  DataParallel replicas(tower, {update("critic", 1), update("generator", 2)}, plan, std::move(options));
  const auto batch = [&](size_t step) {
    std::vector<Tensor> fed;
    for (const TowerInput& input : tower.inputs()) {
      fed.push_back(golden::draw("wgan_gp/step" + std::to_string(step) + "/" + input.name,
                                 golden.at("inputs").at(input.name), float_type));
    }
    return fed;
  };
  const Signature signature = signature_of(batch(0));
  replicas.declare(signature);
  replicas.build(signature);
  replicas.initialize();
  for (const auto& [name, spec] : golden.at("variables").items())
    replicas.variables().set(name, golden::draw("wgan_gp/" + name, spec, float_type));
  const auto costs = golden.at("costs").get<std::vector<double>>();
  ASSERT_EQ(costs.size(), 10);
  for (size_t step = 0; step < costs.size(); ++step) {
    const std::vector<Tensor> fed = batch(step);
    ASSERT_TRUE(replicas.step(static_cast<int64_t>(step),
                              [&](size_t, int64_t) { return std::span<const Tensor>(fed); }));
    EXPECT_NEAR(replicas.fetched("critic_cost").at(0), costs[step], tolerance * std::abs(costs[step]))
        << "step " << step;
  }
  for (const auto& [name, summary] : golden.at("after").items())
    EXPECT_TRUE(
        golden::agrees("wgan_gp/after/" + name, replicas.variables().value(name), summary, tolerance));
  EXPECT_EQ(golden.at("after").size(), replicas.variables().names(VariableScope::kModel).size());
}

TEST(GoldenGradientPenalty, follows_pytorch_in_double) {
  const auto reference = [](const std::string& name) {
    return make_reference_device(name, {.float_type = DType::kFloat64});
  };
  expect_golden(reference, DType::kFloat64, 1e-9);
}

TEST(GoldenGradientPenalty, follows_pytorch_on_processors) {
  using Algorithm = DeviceOptions::Algorithm;
  for (const Algorithm algorithm : {Algorithm::kDirect, Algorithm::kHeuristic}) {
    const auto cpu = [&](const std::string& name) {
      return open_device(name, DeviceOptions{.algorithm = algorithm});
    };
    expect_golden(cpu, DType::kFloat32, 1e-5);
  }
}

}  // namespace
}  // namespace tpack
