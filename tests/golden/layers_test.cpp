#include <map>
#include <memory>
#include <set>

#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "golden/golden.h"
#include "graph/passes/gradient.h"
#include "graph/structural.h"
#include "layers/layer_cases.h"
#include "model/cost.h"
#include "support/small_model.h"

namespace tpack {
namespace {

using golden::Json;

const Json& cases() {
  static const Json all = golden::read("layers.json").at("cases");
  return all;
}

const Json& case_named(const std::string& name) {
  return *std::find_if(cases().begin(), cases().end(), [&](const Json& c) { return c.at("name") == name; });
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const Json& c : cases()) names.push_back(c.at("name"));
  return names;
}

/// Those of layers, costs and metrics that are too large for the tests of gradients, too.
TEST(GoldenCases, have_what_they_cover) {
  for (const Json& c : cases()) {
    const std::string yaml = c.at(c.contains("model") ? "model" : "layers");
    const std::string covered = c.at("covers");
    EXPECT_TRUE(has_component(parse_yaml(yaml, "case.yaml"), covered))
        << "case " << c.at("name") << " covers " << covered << ", which is not in it: " << yaml;
  }
}

using Named = std::vector<std::pair<std::string, Symbol>>;

/// The cost and the metrics of a model section.
Named outputs_of_model(Builder& b, const std::string& yaml, const Named& inputs) {
  const TowerResult result = model_of(yaml)->build(b, {inputs.begin(), inputs.end()});
  Named outputs = {{"cost", result.costs.at(kCost)}};
  for (const Statistic& s : result.statistics) {
    if (s.name == "cost") continue;
    outputs.emplace_back(s.name + "/sum", s.sum);
    outputs.emplace_back(s.name + "/weight", s.weight);
  }
  return outputs;
}

Named outputs_of_layers(Builder& b, const std::string& yaml, const Named& inputs) {
  std::vector<Symbol> symbols;
  for (const auto& [name, symbol] : inputs) symbols.push_back(symbol);
  return {{"output", function_of(yaml)(b, symbols)[0]}};
}

/// One case: built and run once on a device. Has everything that the golden file has results of.
class CaseRun {
 public:
  CaseRun(const Json& c, std::unique_ptr<Device> device)
      : case_(c), key_("layers/" + c.at("name").get<std::string>()), device_(std::move(device)) {
    const bool training = c.at("phase") == "training";
    Builder b(graph_, table_, {training ? Phase::kTraining : Phase::kInference, device_->float_type()});
    fetch_all(b, feed(b));
    device_->create_variables(table_);
    fill_variables();
    PlanSection section;
    const auto executable = device_->compile(graph_, section);
    executable->run(fed_, {});
    for (size_t i = 0; i < graph_.fetches().size(); ++i)
      results_[graph_.fetches()[i].name] = executable->fetched(i).clone();
    for (const VariableSpec* spec : table_.all()) {
      if (!spec->trainable) results_["after/" + spec->name] = device_->variables().tensor(spec->name);
    }
  }

  void expect_golden(double tolerance) const {
    std::set<std::string> expected;
    for (const auto& [name, summary] : case_.at("results").items()) {
      expected.insert(name);
      if (!results_.contains(name)) continue;
      EXPECT_TRUE(golden::agrees(key_ + "/" + name, results_.at(name), summary, tolerance));
    }
    std::set<std::string> ours;
    for (const auto& [name, result] : results_) ours.insert(name);
    EXPECT_EQ(ours, expected);
  }

 private:
  Named feed(Builder& b) {
    Named inputs;
    for (const auto& [name, spec] : case_.at("inputs").items()) {
      fed_.push_back(golden::draw(key_ + "/" + name, spec, device_->float_type()));
      inputs.emplace_back(name, b.input(name, fed_.back().spec()));
    }
    return inputs;
  }

  /// The outputs, and the gradient of the first one times a drawn vector.
  void fetch_all(Builder& b, const Named& inputs) {
    const Named outputs = case_.contains("model") ? outputs_of_model(b, case_.at("model"), inputs)
                                                  : outputs_of_layers(b, case_.at("layers"), inputs);
    for (const auto& [name, symbol] : outputs) b.fetch(name, symbol);
    const Symbol first = outputs[0].second;
    const Json spec = {{"shape", first.shape().sizes()}, {"around", 0}, {"within", 1}};
    const Symbol seed = b.constant(golden::draw(key_ + "/seed", spec, b.float_type()));
    const Named sources = differentiable(inputs);
    std::vector<Symbol> wrt;
    for (const auto& [name, symbol] : sources) wrt.push_back(symbol);
    const std::vector<Symbol> found = gradients(b, b.reduce_sum(b.mul(first, seed)), wrt);
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i]) b.fetch("gradient/" + sources[i].first, found[i]);
  }

  /// The float inputs and the variables that are trained.
  Named differentiable(const Named& inputs) const {
    Named all;
    for (const auto& input : inputs) {
      if (is_float(input.second.dtype())) all.push_back(input);
    }
    for (const auto& node : graph_.nodes()) {
      const auto* read = op_cast<Read>(*node);
      if (read == nullptr || !table_.find(read->params().variable)->trainable) continue;
      all.emplace_back(read->params().variable, node->out());
    }
    return all;
  }

  void fill_variables() {
    const Json& specs = case_.at("variables");
    ASSERT_EQ(table_.all().size(), specs.size());
    for (const auto& [name, spec] : specs.items()) {
      ASSERT_TRUE(device_->variables().has(name)) << name;
      const Tensor ours = device_->variables().tensor(name);
      const Tensor drawn = golden::draw(key_ + "/" + name, spec, ours.dtype());
      ASSERT_EQ(ours.shape(), drawn.shape()) << name;
      std::copy_n(drawn.raw(), drawn.bytes(), ours.raw());
    }
  }

  const Json& case_;
  std::string key_;
  std::unique_ptr<Device> device_;
  Graph graph_;
  VariableTable table_;
  std::vector<Tensor> fed_;
  std::map<std::string, Tensor> results_;
};

class GoldenLayer : public testing::TestWithParam<std::string> {};

TEST_P(GoldenLayer, agrees_with_pytorch_in_double) {
  const CaseRun run(case_named(GetParam()), make_reference_device("cpu:0", {.float_type = DType::kFloat64}));
  run.expect_golden(1e-12);
}

TEST_P(GoldenLayer, agrees_with_pytorch_on_processors) {
  using Algorithm = DeviceOptions::Algorithm;
  for (const Algorithm algorithm : {Algorithm::kDirect, Algorithm::kHeuristic}) {
    const CaseRun run(case_named(GetParam()), open_device("cpu:0", DeviceOptions{.algorithm = algorithm}));
    run.expect_golden(2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenLayer, testing::ValuesIn(case_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tpack
