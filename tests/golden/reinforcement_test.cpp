// Deep Q-learning and proximal policy optimization against 10 steps of PyTorch.
#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "golden/golden.h"
#include "parallel/data_parallel.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using golden::Json;
using OpenGoldenDevice = std::function<std::unique_ptr<Device>(const std::string& name)>;

/// Sets the target network to the online one, where there is one.
void copy_to_target(VariableStore& variables) {
  const std::string online = "online/";
  for (const std::string& name : variables.names(VariableScope::kModel))
    if (name.starts_with(online))
      variables.set("target/" + name.substr(online.size()), variables.value(name).clone());
}

/// Runs the steps on a device and compares the cost of each, and all variables after them.
void expect_golden_steps(const std::string& name, const OpenGoldenDevice& open, DType float_type,
                         double tolerance) {
  const Json golden = golden::read(name + ".json");
  std::string yaml = golden.at("model");
  for (size_t at = yaml.find("float32"); at != std::string::npos; at = yaml.find("float32", at + 1))
    yaml.replace(at, 7, name_of(float_type));
  const auto tower = model_of(yaml);
  const auto optimizer = optimizer_of(golden.at("optimizer").get<std::string>());
  Update update{.optimizer = optimizer.get()};
  const std::string frozen = golden.at("frozen");
  if (!frozen.empty()) update.frozen = {{frozen, {}}};
  ReplicaOptions options;
  options.make_device = [&](size_t /*k*/, int /*threads*/) { return open("cpu:0"); };
  Plan plan;
  DataParallel replicas(*tower, {update}, plan, std::move(options));
  const auto batch = [&](size_t step) {
    std::vector<Tensor> fed;
    for (const TowerInput& input : tower->inputs()) {
      fed.push_back(golden::draw(name + "/step" + std::to_string(step) + "/" + input.name,
                                 golden.at("inputs").at(input.name), float_type));
    }
    return fed;
  };
  const Signature signature = signature_of(batch(0));
  const std::vector<std::string> statistics = replicas.declare(signature);
  ASSERT_EQ(statistics[0], kCost);
  replicas.build(signature);
  replicas.initialize();
  for (const auto& [variable, spec] : golden.at("variables").items())
    replicas.variables().set(variable, golden::draw(name + "/" + variable, spec, float_type));
  const auto costs = golden.at("costs").get<std::vector<double>>();
  ASSERT_EQ(costs.size(), 10);
  for (size_t step = 0; step < costs.size(); ++step) {
    if (step % 4 == 0) copy_to_target(replicas.variables());
    const std::vector<Tensor> fed = batch(step);
    ASSERT_TRUE(replicas.step(static_cast<int64_t>(step),
                              [&](size_t, int64_t) { return std::span<const Tensor>(fed); }));
    EXPECT_NEAR(replicas.statistic(0).value(), costs[step], tolerance * std::abs(costs[step])) << step;
  }
  for (const auto& [variable, summary] : golden.at("after").items())
    EXPECT_TRUE(golden::agrees(name + "/after/" + variable, replicas.variables().value(variable), summary,
                               tolerance));
  EXPECT_EQ(golden.at("after").size(), replicas.variables().names(VariableScope::kModel).size());
}

class GoldenReinforcement : public testing::TestWithParam<const char*> {};

TEST_P(GoldenReinforcement, follows_pytorch_in_double) {
  const auto reference = [](const std::string& name) {
    return make_reference_device(name, {.float_type = DType::kFloat64});
  };
  expect_golden_steps(GetParam(), reference, DType::kFloat64, 1e-9);
}

TEST_P(GoldenReinforcement, follows_pytorch_on_processors) {
  const auto cpu = [](const std::string& name) {
    return open_device(name, DeviceOptions{.algorithm = DeviceOptions::Algorithm::kHeuristic});
  };
  expect_golden_steps(GetParam(), cpu, DType::kFloat32, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Of, GoldenReinforcement, testing::Values("dqn", "ppo"));

}  // namespace
}  // namespace tpack
