#include <set>

#include <gtest/gtest.h>

#include "golden/golden.h"
#include "optim/updates.h"

namespace tpack {
namespace {

using golden::Json;

/// Assigns a drawn tensor to a variable (or to a gradient).
void set(Updates& updates, const std::string& variable, const std::string& key, const Json& spec) {
  const Tensor ours = updates.variables().tensor(variable);
  const Tensor drawn = golden::draw(key, spec, ours.dtype());
  ASSERT_EQ(ours.spec(), drawn.spec()) << variable;
  std::copy_n(drawn.raw(), drawn.bytes(), ours.raw());
}

void expect_golden(Backend backend, double tolerance) {
  const Json file = golden::read("optimizers.json");
  for (const Json& c : file.at("cases")) {
    const std::string key = "optimizers/" + c.at("name").get<std::string>();
    Updates::Shapes shapes;
    for (const auto& [name, spec] : c.at("parameters").items())
      shapes.emplace_back(name, Shape(spec.at("shape").get<std::vector<int64_t>>()));
    Updates updates(c.at("yaml"), 1, backend, shapes);
    for (const auto& [name, spec] : c.at("parameters").items()) set(updates, name, key + "/" + name, spec);
    const Json& sizes = file.at(c.value("sizes", "gradient_sizes"));
    for (size_t step = 0; step < sizes.size(); ++step) {
      for (const auto& [name, parameter] : c.at("parameters").items()) {
        Json spec = parameter;
        spec["within"] = sizes.at(step);
        set(updates, gradient_name(name), key + "/step" + std::to_string(step) + "/" + name, spec);
      }
      updates.run({.step = static_cast<int64_t>(step)});
    }
    EXPECT_EQ(c.at("results").size(), c.at("parameters").size()) << key;
    for (const auto& [name, summary] : c.at("results").items())
      EXPECT_TRUE(
          golden::agrees(key + "/after/" + name, updates.variables().tensor(name), summary, tolerance));
  }
}

TEST(GoldenOptimizers, agree_with_pytorch_in_double) { expect_golden(Backend::kReference, 1e-12); }

TEST(GoldenOptimizers, agree_with_pytorch_on_processors) { expect_golden(Backend::kCpu, 1e-6); }

template <class Kind>
void expect_optimizer_cases() {
  std::set<std::string> covered;
  const Json file = golden::read("optimizers.json");
  for (const Json& c : file.at("cases")) covered.insert(c.at("covers"));
  for (const ComponentInfo* info : Registry<Kind>::table().list()) {
    EXPECT_TRUE(covered.contains(info->name)) << info->kind << " " << info->name
                                              << " has no case in tests/golden/optimizers.json: add one to "
                                                 "make_optimizers.py next to it and run that "
                                                 "script";
  }
}

TEST(GoldenOptimizers, have_a_case_for_every_optimizer_and_gradient_processor) {
  expect_optimizer_cases<Optimizer>();
  expect_optimizer_cases<GradientProcessor>();
}

}  // namespace
}  // namespace tpack
