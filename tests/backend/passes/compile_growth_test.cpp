// The work of compiling a program grows with its number of layers, not with its square.
#include <ctime>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "backend/program.h"
#include "graph/builder.h"
#include "graph/passes/gradient.h"
#include "ops/batch_norm.h"

namespace tpack {
namespace {

/// A training step of a chain of batch normalizations: each becomes about 40 nodes, some with far users.
Graph chain_of_norms(VariableTable& table, int layers) {
  Graph graph;
  Builder b(graph, table, {});
  Symbol y = b.input("x", {DType::kFloat32, {8, 4}});
  std::vector<Symbol> read;
  std::vector<std::string> names;
  for (int i = 0; i < layers; ++i) {
    const Builder::NameScope scope(b, "bn" + std::to_string(i));
    for (const char* name : {"gamma", "beta"}) {
      read.push_back(b.variable(name, {4}, {}));
      names.push_back(b.variable_name(name));
    }
    y = b.emit<BatchNorm>({1e-5}, {y, read[read.size() - 2], read.back()}).out();
  }
  const std::vector<Symbol> found = gradients(b, b.reduce_mean(b.square(y)), read);
  for (size_t i = 0; i < read.size(); ++i) b.assign(names[i], b.sub(read[i], b.mul(found[i], 0.1)));
  return graph;
}

/// Seconds of a processor; the least of three.
double cpu_s_of_compiling(int layers) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto device = open_device("cpu:0", EngineSettings{}, 1);
    VariableTable table;
    chain_of_norms(table, layers);
    device->create_variables(table);
    Plan plan;
    Program program("step", *device, plan,
                    [&](const Signature& /*fed*/) { return chain_of_norms(table, layers); });
    const double begin = now();
    program.compile({{DType::kFloat32, {8, 4}}}, Choosing::kByRules);
    least = std::min(least, now() - begin);
  }
  return least;
}

TEST(CompileGrowth, is_about_linear_in_layers) {
  const double few = cpu_s_of_compiling(60);
  const double many = cpu_s_of_compiling(960);
  // Other processes cost both of them time, by what they do to caches: the bound is in the middle.
  EXPECT_LT(many, 4 * 16 * few) << "16 times as many layers; a square would be 256 times as much";
}

}  // namespace
}  // namespace tpack
