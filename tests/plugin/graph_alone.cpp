// The graph alone: a plane is fitted with gradients, updates and a loop of one's own, on one device.
#include <cmath>
#include <cstdio>

#include "backend/open_device.h"
#include "backend/program.h"
#include "graph/passes/gradient.h"
#include "nn/nn.h"

using namespace tpack;

int main() {
  VariableTable table;
  const auto build = [&](const Signature& fed) {
    Graph graph;
    Builder b(graph, table, {});
    const Symbol y = nn::dense(b, b.input("x", fed[0]), "plane", {.units = 1});
    const Symbol cost = b.reduce_mean(b.square(b.sub(y, b.input("target", fed[1]))));
    const std::vector<const VariableSpec*> trained = table.trainable();
    std::vector<Symbol> wrt;
    for (const VariableSpec* v : trained) wrt.push_back(b.read(v->name, v->spec));
    const std::vector<Symbol> of = gradients(b, cost, wrt);
    for (size_t i = 0; i < trained.size(); ++i) b.assign(trained[i]->name, b.sub(wrt[i], b.mul(of[i], 0.1)));
    b.fetch("cost", cost);
    return graph;
  };
  const Tensor x = Tensor::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tensor target = Tensor::of<float>({4, 1}, {3, 2, 5, 4});  // 3 + 2 a - b
  (void)build(signature_of(std::vector{x, target}));              // declares the variables

  const auto device = open_device("cpu:0", DeviceOptions{});
  device->create_variables(table);
  device->variables().initialize(1);
  Plan plan;
  Program step("step", *device, plan, build);
  double cost = 0;
  for (int64_t i = 0; i < 2000; ++i) cost = step.run(std::vector{x, target}, {.step = i}).fetched(0).at(0);
  const double a = device->variables().tensor("plane/W").at(0);
  std::printf("cost %g, slope %g\n", cost, a);
  return cost < 1e-6 && std::abs(a - 2) < 1e-3 ? 0 : 1;
}
