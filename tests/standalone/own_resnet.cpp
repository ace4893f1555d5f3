// The ResNet-50 of bench/configs/resnet50.yaml written in C++ with the functions of nn, in a loop of one's
// own on two towers: its variables have the bits of those that the config's model has after the same
// training.
#include "config/yaml_reader.h"
#include "core/expression.h"
#include "model/model.h"
#include "standalone/expect.h"
#include "standalone/resnet50.h"
#include "support/paths.h"
#include "system/file_io.h"

namespace tpack {
namespace {

constexpr int64_t kSide = 32;  // of the images, which are 224 in the config
constexpr int64_t kSteps = 2;

DataFlow random_images() {
  return make_flow(ConfigNode::list({
      ConfigNode{{"FakeData",
                  {{"shapes", ConfigNode::list({ConfigNode::list({kSide, kSide, 3}), ConfigNode::list({})})},
                   {"dtype", ConfigNode::list({"uint8", "int32"})},
                   {"names", ConfigNode::list({"image", "label"})},
                   {"domain", ConfigNode::list({0, 256})},
                   {"size", 16}}}},
      ConfigNode{{"BatchData", {{"batch_size", 2}}}},
  }));
}

std::unique_ptr<TowerFunction> model_of_config() {
  const std::string path = source_folder() + "/bench/configs/resnet50.yaml";
  ConfigNode section = *parse_yaml(read_whole_file(path).value(), path).find("model");
  const ConfigNode& inputs = *section.find("inputs");
  const ConfigNode image = inputs.find("image")->with("shape", ConfigNode::list({kSide, kSide, 3}));
  section = section.with("inputs", inputs.with("image", image));
  Diagnostics errors;
  auto model = make_model(section, MapScope(ConfigNode::map({})), errors);
  errors.throw_if_any();
  return model;
}

/// The variables of a network after so many steps, by name.
std::map<std::string, Tensor> trained(const TowerFunction& tower, const DataFlow& flow, int64_t steps) {
  std::map<std::string, Tensor> found;
  resnet50::train(tower, flow, steps, [&](const VariableStore& variables) {
    for (const std::string& name : variables.names(VariableScope::kModel))
      found[name] = variables.tensor(name).clone();
  });
  return found;
}

int run() {
  Expectations check;
  const DataFlow flow = random_images();
  const nn::FunctionTower tower(resnet50::inputs(kSide), resnet50::network);
  const auto untrained = trained(tower, flow, 0);
  const auto in_cpp = trained(tower, flow, kSteps);
  const auto of_config = trained(*model_of_config(), flow, kSteps);
  int64_t parameters = 0;
  bool moved = true;
  bool equal = in_cpp.size() == of_config.size();
  for (const auto& [name, value] : in_cpp) {
    parameters += name.ends_with("/EMA") ? 0 : value.elements();
    moved = moved && !bit_equal(value, untrained.at(name));
    const auto other = of_config.find(name);
    equal = equal && other != of_config.end() && bit_equal(value, other->second);
  }
  check.expect(parameters == 25557032, "it has as many parameters as that of PyTorch");
  check.expect(moved, "training changed every variable");
  check.expect(equal, "the variables have the bits of those of the config's model");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() { return tpack::run(); }
