#include "model/layer_parser.h"

#include <gmock/gmock-matchers.h>

#include "layers/layer_cases.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;

/// Variables and outputs that a list of layers makes on an input [2, 3].
struct Built {
  std::vector<std::string> variables;
  std::map<std::string, Shape> outputs;
};

Built build(const std::string& yaml, const LayerParserSettings& settings = {ConfigNode::map({}), {}}) {
  const MapScope scope(parse_yaml("{width: 5}", "scope.yaml"));
  Diagnostics errors;
  LayerParser parser(settings, scope, errors);
  const ParsedList list = parser.parse(parse_yaml(yaml, "layers.yaml"));
  errors.throw_if_any();
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  NetworkBuilder network(b);
  network.build(list, b.input("x", {DType::kFloat32, {2, 3}}));
  Built built;
  for (const VariableSpec* spec : table.all()) built.variables.push_back(spec->name);
  for (const auto& [name, symbol] : network.outputs()) built.outputs[name] = symbol.shape();
  return built;
}

std::string network_error(const std::string& yaml,
                          const LayerParserSettings& settings = {ConfigNode::map({}), {}}) {
  return error_from([&] { build(yaml, settings); });
}

TEST(Layers, without_a_name_are_numbered_by_type) {
  const Built built = build("[{FullyConnected: {units: 4}}, ReLU, {FullyConnected: {units: 2}}, ReLU]");
  EXPECT_THAT(built.variables, ElementsAre("fully_connected_0/W", "fully_connected_0/b",
                                           "fully_connected_1/W", "fully_connected_1/b"));
  EXPECT_TRUE(built.outputs.contains("relu_1"));
}

TEST(Layers, take_the_output_of_the_one_before_or_the_one_they_name) {
  const Built built = build(
      "[{FullyConnected: {name: a, units: 4}}, {FullyConnected: {name: b, units: 7}}, "
      "{FullyConnected: {name: c, units: 1, input: a}}, {Add: {name: d, input: [a, a]}}]");
  EXPECT_EQ(built.outputs.at("d"), (Shape{2, 4}));
}

TEST(Layers, have_names_that_can_be_written_anywhere) {
  for (const char* name : {"a/b", "\"@m\"", "\"a\\nb\"", "\"a b\"", ".", "..", "\"-x\""}) {
    EXPECT_TRUE(
        says(network_error(std::string("- ReLU: {name: ") + name + "}"), {"a name must not start with '-'"}))
        << name;
  }
  for (const char* name : {"a", "conv-1.b", "_x", "größe", "1"})
    EXPECT_EQ(network_error(std::string("- ReLU: {name: \"") + name + "\"}"), "no error") << name;
}

TEST(Layers, report_all_that_is_wrong) {
  EXPECT_TRUE(says(network_error("- ReLU: {name: a}\n- Tanh: {name: a}"),
                   {"layers.yaml:2:3:", "duplicate layer name 'a'", "rename one of the two"}));
  EXPECT_TRUE(says(network_error("- ReLU: {name: first}\n- Tanh: {input: frist}"),
                   {"layers.yaml:2:17:", "'frist'", "did you mean 'first'?"}));
  EXPECT_TRUE(says(network_error("- RelU"), {"layers.yaml:1:3:", "'RelU'", "did you mean 'ReLU'?"}));
  EXPECT_TRUE(says(network_error("- FullyConnected: {unit: 4}\n- Dropout: {rate: 2}\n- Tanh: {x: 1}"),
                   {"layers.yaml:1:19:", "'units' is missing", "layers.yaml:1:20:", "did you mean 'units'?",
                    "layers.yaml:2:19:", "must be from 0 to 1", "layers.yaml:3:10:", "it has no keys"}));
}

TEST(Defaults, stand_under_what_a_layer_says) {
  const LayerParserSettings settings{parse_yaml("FullyConnected: {units: 4, use_bias: false}", "d.yaml"), {}};
  const Built built = build("[FullyConnected, {FullyConnected: {units: 6, use_bias: true}}]", settings);
  EXPECT_THAT(built.variables,
              ElementsAre("fully_connected_0/W", "fully_connected_1/W", "fully_connected_1/b"));
  EXPECT_EQ(built.outputs.at("fully_connected_1"), (Shape{2, 6}));
}

TEST(WithDefaults, holds_for_its_list_alone_and_wins_over_outer_ones) {
  const LayerParserSettings settings{parse_yaml("FullyConnected: {units: 4}", "d.yaml"), {}};
  const Built built = build(
      "[{WithDefaults: {name: w, defaults: {FullyConnected: {units: 7, use_bias: false}}, layers: "
      "[FullyConnected]}}, FullyConnected]",
      settings);
  EXPECT_EQ(built.outputs.at("w/fully_connected_0"), (Shape{2, 7}));
  EXPECT_EQ(built.outputs.at("fully_connected_0"), (Shape{2, 4}));
  EXPECT_THAT(built.variables,
              ElementsAre("w/fully_connected_0/W", "fully_connected_0/W", "fully_connected_0/b"));
}

TEST(Repeat, has_variables_of_its_own_in_each_round_and_an_index) {
  const Built built = build(
      "- Repeat: {name: r, count: 3, index: k, start: 2, layers: [{FullyConnected: {name: f, units: \"$(k * "
      "width)\", use_bias: false}}]}");
  EXPECT_THAT(built.variables, ElementsAre("r/2/f/W", "r/3/f/W", "r/4/f/W"));
  EXPECT_EQ(built.outputs.at("r/4/f"), (Shape{2, 20}));
}

TEST(Residual, keeps_the_variables_of_its_branches_apart) {
  const Built built = build(
      "- Residual: {name: r, layers: [{FullyConnected: {units: 4}}], shortcut: [{FullyConnected: {units: "
      "4}}]}");
  EXPECT_THAT(built.variables,
              ElementsAre("r/fully_connected_0/W", "r/fully_connected_0/b", "r/shortcut/fully_connected_0/W",
                          "r/shortcut/fully_connected_0/b"));
}

TEST(Repeat, of_no_rounds_is_its_input) {
  EXPECT_EQ(build("- Repeat: {name: r, count: 0, layers: [Tanh]}").outputs.at("r"), (Shape{2, 3}));
}

class Blocks : public testing::Test {
 protected:
  LayerParserSettings settings_{
      ConfigNode::map({}),
      {{"Dense", parse_yaml("parameters: {units: null, act: Tanh}\n"
                            "layers:\n"
                            "  - FullyConnected: {name: f, units: \"$(units)\", activation: \"$(act)\"}\n",
                            "b.yaml")},
       {"Loop", parse_yaml("layers: [Loop]", "b.yaml")}}};
};

TEST_F(Blocks, are_called_like_layers_with_parameters) {
  const Built built = build("[{Dense: {units: 4}}, {Dense: {name: out, units: 2, act: ReLU}}]", settings_);
  EXPECT_THAT(built.variables, ElementsAre("dense_0/f/W", "dense_0/f/b", "out/f/W", "out/f/b"));
  EXPECT_EQ(built.outputs.at("out"), (Shape{2, 2}));
}

TEST_F(Blocks, have_defaults_that_depend_on_what_is_before_and_around_them) {
  settings_.blocks["Wide"] = parse_yaml(
      "parameters: {units: 3, twice: $(2 * units), rows: $(outer)}\n"
      "layers: [{FullyConnected: {name: a, units: $(twice)}}, {FullyConnected: {name: b, units: $(rows)}}]",
      "b.yaml");
  const Built built = build(
      "[{Repeat: {name: r, index: outer, start: 7, count: 1, layers: [{Wide: {name: w}}, "
      "{Wide: {name: v, units: 4}}]}}]",
      settings_);
  EXPECT_EQ(built.outputs.at("r/7/w/a"), (Shape{2, 6}));
  EXPECT_EQ(built.outputs.at("r/7/w/b"), (Shape{2, 7}));
  EXPECT_EQ(built.outputs.at("r/7/v/a"), (Shape{2, 8}));
  EXPECT_THAT(network_error("- Wide: {rows: 1, twice: $(nothing)}", settings_),
              testing::HasSubstr("unknown name 'nothing'"));
}

TEST_F(Blocks, take_layers_as_parameters) {
  settings_.blocks["Wrap"] = parse_yaml(
      "parameters: {body: ~, rounds: 2}\n"
      "layers: [{Repeat: {name: r, count: $(rounds), layers: $(body)}}]",
      "w.yaml");
  const Built built =
      build("[{Wrap: {name: w, body: [{FullyConnected: {name: f, units: $(width)}}]}}]", settings_);
  EXPECT_THAT(built.variables, ElementsAre("w/r/0/f/W", "w/r/0/f/b", "w/r/1/f/W", "w/r/1/f/b"));
  EXPECT_EQ(built.outputs.at("w"), (Shape{2, 5}));
  EXPECT_THAT(network_error("[{Repeat: {count: 2, layers: $(width)}}]", settings_),
              testing::HasSubstr("expected a list of layers, found the number 5"));
}

TEST_F(Blocks, say_what_is_wrong_with_a_call) {
  EXPECT_TRUE(says(network_error("- Dense: {unts: 4}", settings_),
                   {"layers.yaml:1:3:", "'units' is missing", "layers.yaml:1:11:", "did you mean 'units'?"}));
  EXPECT_TRUE(
      says(network_error("- Dens: {units: 4}", settings_), {"layers.yaml:1:3:", "did you mean 'Dense'?"}));
  EXPECT_TRUE(says(network_error("- Loop", settings_), {"nested more than", "a block must not contain"}));
}

TEST_F(Blocks, say_in_errors_inside_where_they_are_used) {
  settings_.blocks["Outer"] = parse_yaml("layers: [{Dense: {units: 3, act: 5}}]", "o.yaml");
  settings_.blocks["Same"] = parse_yaml("layers: [{ReLU: {x: 1}}]", "s.yaml");
  settings_.blocks["Sum"] =
      parse_yaml("layers: [{Residual: {name: r, layers: [{Dense: {units: 4}}]}}]", "r.yaml");
  EXPECT_TRUE(says(network_error("- Outer", settings_), {"b.yaml:3:62:", "'Name' or 'Name: {...}'"}));
  EXPECT_TRUE(says(network_error("- Same\n- Same", settings_),
                   {"s.yaml:1:18:", "unknown key 'x' in layer ReLU", "it has no keys (in block Same,"}))
      << "once for all uses";
  EXPECT_TRUE(says(network_error("- ReLU\n- Sum: {name: s}", settings_),
                   {"r.yaml:1:11:", "s/r: the layers produce float32", "add shortcut layers that"}));
}

}  // namespace
}  // namespace tpack
