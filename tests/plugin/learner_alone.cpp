// A model as an object: trained in a loop of one's own, saved, loaded, evaluated, and asked.
#include <cmath>
#include <cstdio>

#include "learner/learner.h"
#include "nn/nn.h"
#include "optim/optimizers.h"

using namespace tpack;

std::unique_ptr<TowerFunction> network() {
  return std::make_unique<nn::FunctionTower>(
      std::vector<TowerInput>{{"x", "x", {DType::kFloat32, {2}}}, {"label", "label", {DType::kInt32, {}}}},
      [](Builder& b, const std::map<std::string, Symbol>& in) -> TowerResult {
        const Symbol hidden = nn::dense(b, in.at("x"), "hidden", {.units = 16, .activation = nn::relu});
        const Symbol logits = nn::dense(b, hidden, "logits", {.units = 2});
        const Symbol cost = nn::cross_entropy(b, logits, in.at("label"));
        return {.costs = {{kCost, cost}},
                .statistics = {nn::cost_statistic(b, cost, logits.shape()[0])},
                .outputs = {{"probability", nn::softmax(b, logits)}}};
      });
}

int main() {
  const Tensor x = Tensor::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tensor label = Tensor::of<int32_t>({4}, {0, 1, 1, 0});  // exclusive or
  Learner learner(network(), momentum(0.1));
  double cost = 0;
  for (int i = 0; i < 500; ++i) cost = learner.step({{"x", x}, {"label", label}}).at("cost");
  learner.save("xor.h5");

  Learner loaded(network());
  loaded.load("xor.h5");
  const Tensor p = loaded.predict({{"x", x}}, {"probability"}).at("probability");
  std::printf("cost %.4f, of two different ones %.4f\n", cost, p.at(3));
  return cost < 0.05 && p.at(3) > 0.9 && p.at(1) < 0.1 ? 0 : 1;
}
