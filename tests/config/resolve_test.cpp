#include "config/resolve.h"

#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "core/substitute.h"
#include "small_structure.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing_config::small_structure;

std::string resolved(const std::string& text) {
  Diagnostics errors;
  const ConfigNode result = resolve_expressions(parse_yaml(text, "a.yaml"), small_structure(), errors);
  const std::string error = error_from([&] { errors.throw_if_any(); });
  return error == "no error" ? to_json(result) : error;
}

TEST(Resolve, looks_in_vars_then_in_the_root) {
  EXPECT_EQ(resolved("vars: {seed: 5}\nseed: 1\nx: $(seed)\ny: $(max)\nmax: 3\nz: $(vars.seed + seed)\n"),
            R"({"vars": {"seed": 5}, "seed": 1, "x": 5, "y": 3, "max": 3, "z": 10})");
}

TEST(Resolve, follows_paths_through_lists_and_maps) {
  EXPECT_EQ(
      resolved("data: {train: [M, BatchData: {batch_size: 8}]}\nx: $(data.train.BatchData.batch_size * 2)\n"
               "vars: {net: {depth: 4}}\ny: $(net.depth)\nz: $(data.train.1)\n"),
      R"({"data": {"train": ["M", {"BatchData": {"batch_size": 8}}]}, "x": 16, "vars": {"net": {"depth": 4}}, )"
      R"("y": 4, "z": {"BatchData": {"batch_size": 8}}})");
}

TEST(Resolve, takes_values_that_are_expressions_themselves_in_any_order) {
  EXPECT_EQ(resolved("a: $(b * 2)\nb: $(c + 1)\nc: 3\nd: '$(e)'\ne: [$(c), $(a)]\n"),
            R"({"a": 8, "b": 4, "c": 3, "d": [3, 8], "e": [3, 8]})");
}

TEST(Resolve, leaves_bare_names_in_the_layers_of_a_model_only) {
  EXPECT_EQ(
      resolved(
          "vars: {width: 4}\nmodel: {layers: {f: $(width * 2), g: $(vars.width * 2), h: $(n + vars.width)}}\n"
          "x: $(width)\n"),
      "{\"vars\": {\"width\": 4}, \"model\": {\"layers\": {\"f\": \"$(width * 2)\", \"g\": 8, \"h\": \"$(n + "
      "4)\"}}, "
      "\"x\": 4}");
}

TEST(Resolve, takes_names_for_all_of_model_but_its_layers) {
  EXPECT_EQ(
      resolved("vars: {k: 3}\nmodel: {inputs: {x: {shape: [$(k)]}}, cost: [R: $(k)], layers: [L: $(k)], "
               "blocks: {B: $(k)}, networks: {N: $(k)}, defaults: {D: $(k)}}\n"),
      R"x({"vars": {"k": 3}, "model": {"inputs": {"x": {"shape": [3]}}, "cost": [{"R": 3}], )x"
      R"x("layers": [{"L": "$(k)"}], "blocks": {"B": "$(k)"}, "networks": {"N": "$(k)"}, "defaults": {"D": "$(k)"}}})x");
}

TEST(Resolve, reports_a_cycle_once_from_its_first_place) {
  EXPECT_EQ(resolved("b: $(a)\na: $(c)\nc: $(b)\nd: $(a)\n"),
            "a.yaml:1:4: circular reference: b -> a -> c -> b");
}

TEST(Resolve, finds_a_cycle_through_a_list) {
  EXPECT_EQ(resolved("a: [1, $(a)]\n"), "a.yaml:1:8: circular reference: a.1 -> a.1");
}

TEST(Resolve, suggests_paths_that_lead_somewhere) {
  const auto complaint = [](const std::string& name) {
    return resolved(
        "data: {train: [Digits: {size: 100, name: [a]}, BatchData: {batch_size: 8}], test: {flow: [Mnist: "
        "{n: "
        "1}], workers: 2}}\nvars: {net: {depth: 4}}\nx: $(" +
        name + ")\n");
  };
  const auto suggested = [&](const std::string& name, const std::string& path) {
    EXPECT_EQ(complaint(name), "a.yaml:3:6: unknown name '" + name + "'" +
                                   (path.empty() ? "" : "; did you mean '" + path + "'?"));
  };
  suggested("data.train.flow.0.Digits.size", "data.train.0.Digits.size");
  suggested("data.train.flow.BatchData.batch_size", "data.train.BatchData.batch_size");
  suggested("data.train.Digit.size", "data.train.Digits.size");
  suggested("data.BatchData.batch_size", "data.train.BatchData.batch_size");
  suggested("data.trian.BatchDta.batch_szie", "data.train.BatchData.batch_size");
  suggested("data.test.Mnits.n", "data.test.Mnist.n");
  suggested("net.dpth", "net.depth");
  suggested("data.train.Digits.count", "");
  suggested("data.train.Other.kind", "");
}

TEST(Resolve, suggests_no_name_that_would_be_a_cycle) {
  EXPECT_EQ(resolved("vars: {width: $(widht)}\n"), "a.yaml:1:17: unknown name 'widht'");
  EXPECT_EQ(resolved("vars: {width: [$(widht)]}\n"), "a.yaml:1:18: unknown name 'widht'");
}

TEST(Resolve, reports_every_mistake_once) {
  EXPECT_EQ(resolved("a: $(x1)\nb: $(a)\nc: $(1 / 0)\n"),
            "a.yaml:1:6: unknown name 'x1'\na.yaml:3:8: division by zero");
}

std::string chain(int length) {
  std::string text = "vars:\n";
  for (int i = 0; i < length; ++i)
    text += "  v" + std::to_string(i) + ": $(v" + std::to_string(i + 1) + ")\n";
  return text + "  v" + std::to_string(length) + ": 1\nx: $(v0)\n";
}

TEST(Resolve, limits_chains_of_values) {
  EXPECT_NE(resolved(chain(150)).find(R"("x": 1})"), std::string::npos);
  EXPECT_EQ(resolved(chain(20'000)),
            "a.yaml:202:9: a chain of more than 200 values, each of which refers to the next one, ends here");
}

TEST(Resolve, limits_texts_that_double_with_each_value) {
  std::string text = "vars:\n";
  for (int i = 0; i < 34; ++i) {
    const std::string next = "$(v" + std::to_string(i + 1) + ")";
    text += "  v" + std::to_string(i) + ": \"" + next + next + "\"\n";
  }
  EXPECT_NE(resolved(text + "  v34: abcdefgh\n")
                .find("the expressions insert more than 65,536 bytes into this string"),
            std::string::npos);
}

TEST(Resolve, limits_the_text_that_expressions_insert) {
  std::string text = "vars: {v: " + std::string(60'000, 'x') + "}\nx:\n";
  for (int i = 0; i < 300; ++i) text += "- $(v)\n";
  EXPECT_EQ(resolved(text).substr(0, 80),
            "a.yaml:269:3: the expressions expand the config by more than 16 MB of text");
}

TEST(WithEnvironment, replaces_the_names_of_variables_by_their_values) {
  ASSERT_EQ(setenv("TPACK_TEST_UNITS", "24", 1), 0);
  ASSERT_EQ(unsetenv("TPACK_TEST_NONE"), 0);
  const ConfigNode tree = parse_yaml(
      "a: $(env.TPACK_TEST_UNITS or 8)\nb: [x, \"$(n + env.TPACK_TEST_UNITS) and $(m)\"]\n"
      "c: $(env.TPACK_TEST_NONE or 'none')\n",
      "a.yaml");
  const std::string wanted =
      R"~({"a": "$(24 or 8)", "b": ["x", "$(n + 24) and $(m)"], "c": "$('' or 'none')"})~";
  EXPECT_EQ(to_json(with_environment(tree)), wanted);
}

}  // namespace
}  // namespace tpack
