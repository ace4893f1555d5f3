#include "learner/merged_adapters.h"

#include <array>
#include <string_view>
#include <vector>

#include "checkpoint/derived.h"
#include "checkpoint/layout.h"
#include "config/yaml_reader.h"
#include "core/config_node.h"
#include "core/error.h"
#include "nn/dense.h"

namespace tpack {
namespace {

/// "model/fc/" for each adapter of the layer fc.
std::vector<std::string> adapted_layers(const CheckpointContent& content) {
  const std::string end = std::string(nn::kAdapterScope) + "/" + nn::kAdapterDown;
  std::vector<std::string> layers;
  for (const auto& [name, value] : content.tensors)
    if (name.ends_with("/" + end)) layers.push_back(name.substr(0, name.size() - end.size()));
  return layers;
}

/// A variable of an adapter or its layer, taken out of the checkpoint.
Tensor taken(CheckpointContent& content, const std::string& name, const std::string& path) {
  auto found = content.tensors.extract(name);
  if (found.empty())
    throw CheckpointError(path, "has an adapter without '" + name +
                                    "'; merge a checkpoint of the whole model, not a file of adapters alone");
  return std::move(found.mapped());
}

/// W + scale A B. Shapes: w [in, units], a [in, rank], b [rank, units], scale [].
Tensor merged_weights(const Tensor& w, const Tensor& a, const Tensor& b, double scale) {
  const int64_t rank = a.shape()[1];
  const int64_t units = w.shape()[1];
  const Tensor sums = w.cast(DType::kFloat64).clone();
  const Tensor down = a.cast(DType::kFloat64);
  const Tensor up = b.cast(DType::kFloat64);
  for (int64_t i = 0; i < w.shape()[0]; ++i) {
    for (int64_t r = 0; r < rank; ++r) {
      const double factor = scale * down.data<double>()[i * rank + r];
      for (int64_t j = 0; j < units; ++j)
        sums.data<double>()[i * units + j] += factor * up.data<double>()[r * units + j];
    }
  }
  return sums.cast(w.dtype());
}

/// `layer`: its path in the checkpoint, with a slash at the end.
void merge_adapter(CheckpointContent& content, const std::string& layer, const std::string& path) {
  const std::string scope = layer + nn::kAdapterScope + "/";
  const Tensor w = taken(content, layer + "W", path);
  const Tensor a = taken(content, scope + nn::kAdapterDown, path);
  const Tensor b = taken(content, scope + nn::kAdapterUp, path);
  const Tensor scale = taken(content, scope + nn::kAdapterScale, path);
  const bool are_matrices =
      w.shape().rank() == 2 && a.shape().rank() == 2 && b.shape().rank() == 2 && scale.shape().rank() == 0;
  if (!are_matrices || a.shape() != Shape{w.shape()[0], b.shape()[0]} ||
      b.shape() != Shape{a.shape()[1], w.shape()[1]})
    throw CheckpointError(path, "'" + layer + "W' " + w.shape().str() + " and the adapter of A " +
                                    a.shape().str() + ", B " + b.shape().str() + " and a scale " +
                                    scale.shape().str() + " do not fit together");
  content.tensors[layer + "W"] = merged_weights(w, a, b, scale.at(0));
}

/// The tree without the options of adapters.
ConfigNode without_adapters(const ConfigNode& node) {
  constexpr std::array<std::string_view, 2> kOptions = {"adapter_rank", "adapter_alpha"};
  if (node.is_list()) {
    std::vector<ConfigNode> items;
    for (const ConfigNode& item : node.items()) items.push_back(without_adapters(item));
    return ConfigNode::list(std::move(items), node.position());
  }
  if (!node.is_map()) return node;
  std::vector<ConfigNode::Entry> entries;
  for (const ConfigNode::Entry& entry : node.entries()) {
    ConfigNode value = without_adapters(entry.value);
    if (entry.key == "FullyConnected" && value.is_map())
      for (const std::string_view option : kOptions) value = value.without(option);
    entries.push_back({entry.key, std::move(value), entry.key_position});
  }
  return ConfigNode::map(std::move(entries), node.position());
}

}  // namespace

CheckpointContent merged_adapters(CheckpointContent content, const std::string& path) {
  content = for_predictions(std::move(content));
  const std::vector<std::string> layers = adapted_layers(content);
  if (layers.empty())
    throw CheckpointError(path, "has no adapters; layers get them by `adapter_rank` of FullyConnected");
  for (const std::string& layer : layers) merge_adapter(content, layer, path);
  for (const std::string& entry : {layout::kConfig, layout::kWritten}) {
    const auto text = content.texts.find(entry);
    if (text != content.texts.end()) text->second = to_yaml(without_adapters(parse_yaml(text->second, path)));
  }
  return content;
}

}  // namespace tpack
