// What users write: configs, options, expressions, patterns, names.
#include "config/load_config.h"
#include "config/small_structure.h"
#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/expression.h"
#include "core/pattern.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/sample_functions.h"
#include "fuzz/parsers.h"

namespace tpack::fuzz {
namespace {

constexpr const char* kConfig = R"(tpack: 1
vars: {width: 3, lr: $(vars.width * 0.5), name: 'a: b', list: [1, 2.5, true, null, 0x1F]}
data:
  train: &flow
    - Mnist: {path: "a\tb", count: $(width ** 2)}
    - BatchData: 32   # comment
  val: {flow: *flow, workers: 2}
model:
  layers: [Conv2D: {filters: $(width)}, FullyConnected]
  cost: !append [SoftmaxCrossEntropy]
optimizer: {Momentum: {lr: $(lr if width > 2 else env.LR or 0.1)}}
piece: |
  text
   more
)";

const FieldType& structure_of(size_t choice) {
  static const std::vector<FieldType> all = {FieldType{}, testing_config::small_structure()};
  return all.at(choice);
}

void parse_yaml_text(Input input) {
  const ConfigNode node = parse_yaml(std::string(text_of(input)), "a.yaml");
  static_cast<void>(to_json(node));
  if (node.tag().empty() && !parse_yaml(to_yaml(node), "b.yaml").same_value(node))
    broken_promise("YAML is not what was written: " + to_yaml(node));
}

void parse_config(Input input) {
  const size_t choice = take_choice(input, 2);
  const LoadedConfig config =
      load_config_text(std::string(text_of(input)), "a.yaml", {.structure = structure_of(choice)});
  static_cast<void>(to_yaml(config.root));
  for (const ConfigNode::Entry& entry : config.root.entries()) config.explain(entry.key);
}

/// Each line is an option.
void parse_overrides(Input input) {
  const size_t choice = take_choice(input, 2);
  load_config_text(
      kConfig, "a.yaml",
      {.overrides = split(std::string(text_of(input)), '\n'), .structure = structure_of(choice)});
}

void parse_expressions(Input input) {
  const bool is_of_samples = take_choice(input, 2) == 1;
  static const MapScope scope({{"a", 3},
                               {"b", 2.5},
                               {"c", "text"},
                               {"d", true},
                               {"e", ConfigNode::list({1, 2})},
                               {"f", {{"g", -1}}}});
  const Expression expression = is_of_samples ? Expression::parse(text_of(input), {}, sample_grammar())
                                              : Expression::parse(text_of(input));
  static_cast<void>(expression.result_of_numbers());
  expression.check();
  if (!is_of_samples) static_cast<void>(expression.evaluate(scope).describe());
}

/// Lines: a name, a pattern, a replacement.
void match_pattern(Input input) {
  const std::vector<std::string> lines = split(std::string(text_of(input)), '\n');
  if (lines.size() < 3) return;
  const bool is_whole = full_match(lines[0], lines[1]);
  if (is_whole && !partial_match(lines[0], lines[1]))
    broken_promise("a name that matches as a whole, but no part of it");
  if (match_and_replace(lines[0], lines[1], lines[2]).has_value() != is_whole)
    broken_promise("a replacement without a match");
}

void convert_text(Input input) {
  const std::string text(text_of(input));
  if (first_invalid_utf8(printable(text)) || first_invalid_utf8(printable_lines(text)) ||
      first_invalid_utf8(utf8_of_latin1(text)))
    broken_promise("a result is not UTF-8");
  if (first_invalid_utf8(text)) {
    if (composed(text) != text || decomposed(text) != text)
      broken_promise("text that is not UTF-8 has changed");
  } else if (composed(decomposed(text)) != composed(text)) {
    broken_promise("the composed form of a text depends on its form");
  }
}

}  // namespace

std::vector<Parser> config_parsers() {
  return {
      {"yaml", parse_yaml_text,
       [] {
         return texts({kConfig, "- [a, {b: c}]\n- \"\\u00e9\"\n- >\n  x\n- -.5e3\n- 'it''s'\n"});
       }},
      {"config", parse_config, [] { return with_choices(2, texts({kConfig})); }},
      {"overrides", parse_overrides,
       [] {
         return with_choices(2, texts({"vars.width=4\ndata.train.0.Mnist.path=x\noptimizer.Momentum.lr=0.1",
                                       "model.layers=[A: {b: 1}]\ndata.val.workers=3\nvars={a: 1}"}));
       }},
      {"expression", parse_expressions,
       [] {
         return with_choices(
             2, texts({"-a ** 2 // 3 % 5 + max(b, 1e3) if not d or a < b <= 4 else f.g",
                       "env.TPACK_NONE or 'x' == c and (1 - .5) / 2 != 0x1F", "mean(a[1:-1, :, 2]) * 2"}));
       }},
      {"pattern", match_pattern,
       [] {
         return texts({"model/conv0/W\nmodel/(.*)/(W|b)\nx/$1/$2$$$&", "abc\n[a-z]+?\\w{1,3}\ny"});
       }},
      {"text", convert_text,
       [] {
         return texts({"a\n\xc3\xa4\x01 e\xcc\x81 \xe2\x80\xae\xff", "\xea\xb0\x81"});
       }},
  };
}

}  // namespace tpack::fuzz
