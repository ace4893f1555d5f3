#include <gtest/gtest.h>

#include "core/text.h"
#include "dataflow/sample_formula.h"
#include "dataflow/sample_functions.h"
#include "golden/golden.h"

namespace tpack {
namespace {

using golden::Json;

SampleExpression expression_of(const std::string& text) {
  Diagnostics errors;
  Reader reader("'y'", {}, errors);
  auto expression = Codec<SampleExpression>::parse(ConfigNode(text), reader);
  errors.throw_if_any();
  return *expression;
}

TEST(GoldenSampleFormulas, agree_with_numpy) {
  const Json file = golden::read("sample_formulas.json");
  std::vector<ComponentSpec> components;
  Datapoint sample;
  for (const auto& [name, spec] : file.at("components").items()) {
    sample.resize(components.size() + 1);
    sample.set_tensor(components.size(), golden::draw("formula/" + name, spec, DType::kFloat32));
    components.push_back({name, sample.tensor(components.size()).spec()});
  }
  const Spec spec(components);
  std::string all;
  for (const Json& one : file.at("cases")) {
    const std::string text = one.at("name");
    all += text + " ";
    const SampleFormula formula(expression_of(text), spec, "map Compute");
    formula.store(sample, components.size());
    const Tensor& y = sample.tensor(components.size());
    EXPECT_EQ(formula.result(), y.spec()) << text;
    EXPECT_EQ(name_of(y.dtype()), one.at("dtype").get<std::string>()) << text;
    ASSERT_EQ(y.shape(), Shape(one.at("shape").get<std::vector<int64_t>>())) << text;
    const auto values = one.at("values").get<std::vector<double>>();
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(y.at(static_cast<int64_t>(i)), values[i], 3e-6 * std::max(1.0, std::abs(values[i])))
          << text << ", element " << i;
  }
  for (const std::string& function : split(sample_grammar().function_names(), ',')) {
    const std::string call = std::string(trim(function)) + "(";
    EXPECT_TRUE(call == "erf(" || all.find(call) != std::string::npos)
        << call << ") has no case in tests/golden/sample_formulas.json: add one to "
        << "make_sample_formulas.py next to it and run that script";
  }
}

}  // namespace
}  // namespace tpack
