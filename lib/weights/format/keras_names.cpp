#include "weights/format/keras_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text_encoding.h"

// Source: keras/src/utils/naming.py and keras/src/saving/saving_lib.py of Keras 3.15, and
// keras/engine/saving.py of Keras 2.2.
namespace tpack {
namespace {

struct KindOfLayer {
  std::string_view kind;
  std::array<std::string_view, 4> variables;
};
constexpr std::array kKindsOfLayers = {
    KindOfLayer{"conv1d", {"kernel", "bias"}},
    KindOfLayer{"conv2d", {"kernel", "bias"}},
    KindOfLayer{"conv3d", {"kernel", "bias"}},
    KindOfLayer{"conv1d_transpose", {"kernel", "bias"}},
    KindOfLayer{"conv2d_transpose", {"kernel", "bias"}},
    KindOfLayer{"conv3d_transpose", {"kernel", "bias"}},
    KindOfLayer{"depthwise_conv1d", {"kernel", "bias"}},
    KindOfLayer{"depthwise_conv2d", {"kernel", "bias"}},
    KindOfLayer{"separable_conv1d", {"depthwise_kernel", "pointwise_kernel", "bias"}},
    KindOfLayer{"separable_conv2d", {"depthwise_kernel", "pointwise_kernel", "bias"}},
    KindOfLayer{"dense", {"kernel", "bias"}},
    KindOfLayer{"einsum_dense", {"kernel", "bias"}},
    KindOfLayer{"embedding", {"embeddings"}},
    KindOfLayer{"p_re_lu", {"alpha"}},
    KindOfLayer{"lstm_cell", {"kernel", "recurrent_kernel", "bias"}},
    KindOfLayer{"gru_cell", {"kernel", "recurrent_kernel", "bias"}},
    KindOfLayer{"simple_rnn_cell", {"kernel", "recurrent_kernel", "bias"}},
    KindOfLayer{"normalization", {"mean", "variance", "count"}},
    KindOfLayer{"layer_normalization", {"gamma", "beta"}},
    KindOfLayer{"group_normalization", {"gamma", "beta"}},
};

constexpr std::array<std::string_view, 4> kOfBatchNorm = {"gamma", "beta", "moving_mean", "moving_variance"};
constexpr int kMostNestedModels = 32;

/// Without a number that makes a name unique.
std::string_view without_count(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool has_count =
      end != std::string_view::npos && end + 1 < name.size() && end > 0 && name[end] == '_';
  return has_count ? name.substr(0, end) : name;
}

std::vector<std::string> first_names(std::span<const std::string_view> names, size_t count) {
  std::vector<std::string> first;
  for (size_t i = 0; i < count; ++i) {
    const bool is_known = i < names.size() && !names[i].empty();
    first.push_back(is_known ? std::string(names[i]) : std::to_string(i));
  }
  return first;
}

/// For a layer of unknown kind.
std::vector<std::string> names_by_shapes(const std::vector<Shape>& shapes) {
  constexpr std::array<std::string_view, 2> kKernel = {"kernel", "bias"};
  const bool are_equal = std::ranges::all_of(shapes, [&](const Shape& s) { return s == shapes[0]; });
  const bool have_one_axis = are_equal && !shapes.empty() && shapes[0].rank() == 1;
  if (have_one_axis && (shapes.size() == 2 || shapes.size() == 4))
    return first_names(kOfBatchNorm, shapes.size());
  const bool is_kernel = !shapes.empty() && shapes[0].rank() >= 2 &&
                         (shapes.size() == 1 || (shapes.size() == 2 && shapes[1].rank() == 1));
  return is_kernel ? first_names(kKernel, shapes.size()) : first_names({}, shapes.size());
}

class KerasConfig {
 public:
  explicit KerasConfig(std::map<std::string, KerasLayer>& layers) : layers_(layers) {}

  /// `config`: of a model. `groups`, `path`: of the model, with a slash at the end.
  void add(const nlohmann::json& config, const std::string& groups, const std::string& path, int level) {
    if (!config.is_object() || level > kMostNestedModels) return;
    const auto list = config.find("layers");
    if (list == config.end() || !list->is_array()) return;
    std::map<std::string, int> counts;
    for (const nlohmann::json& layer : *list) {
      if (!layer.is_object()) continue;
      const std::string kind = keras_snake_case(text(layer, "class_name"));
      const int before = counts[kind]++;
      const std::string group = groups + kind + (before == 0 ? "" : "_" + std::to_string(before));
      const auto own = layer.find("config");
      if (own == layer.end() || !own->is_object()) continue;
      const std::string name = text(*own, "name");
      const KerasLayer found{path + (name.empty() ? kind : name), kind, flag(*own, "scale"),
                             flag(*own, "center"), layers_.size()};
      by_path_.emplace_back(found);
      layers_.emplace(group, found);
      add(*own, group + "/", found.path + "/", level + 1);
    }
  }
  void add_paths() {
    for (const KerasLayer& layer : by_path_) layers_.emplace(layer.path, layer);
  }

 private:
  static std::string text(const nlohmann::json& owner, const char* key) {
    const auto found = owner.find(key);
    return found != owner.end() && found->is_string() ? found->get<std::string>() : "";
  }
  static bool flag(const nlohmann::json& owner, const char* key) {
    const auto found = owner.find(key);
    return found == owner.end() || !found->is_boolean() || found->get<bool>();
  }

  std::map<std::string, KerasLayer>& layers_;
  std::vector<KerasLayer> by_path_;
};

/// Names of weights in files of Keras 1: "conv1_W".
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOldLeaves = {{
    {"W", "kernel"},
    {"b", "bias"},
    {"gamma", "gamma"},
    {"beta", "beta"},
    {"running_mean", "moving_mean"},
    {"running_std", "moving_variance"},  // it has variances in spite of its name
    {"kernel", "kernel"},
    {"bias", "bias"},
}};

}  // namespace

std::string keras_snake_case(std::string_view class_name) {
  const auto is = [&](size_t i, auto test) {
    return i < class_name.size() && test(static_cast<unsigned char>(class_name[i])) != 0;
  };
  const auto upper = [](unsigned char c) { return std::isupper(c); };
  const auto lower = [](unsigned char c) { return std::islower(c); };
  std::string name;
  for (size_t i = 0; i < class_name.size(); ++i) {
    if (i > 0 && is(i, upper) && (is(i + 1, lower) || is(i - 1, lower))) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(class_name[i])));
  }
  return name;
}

bool is_keras_kind(std::string_view kind) {
  kind = without_count(kind);
  return kind.ends_with("batch_normalization") ||
         std::ranges::find(kKindsOfLayers, kind, &KindOfLayer::kind) != kKindsOfLayers.end();
}

std::vector<std::string> keras_variable_names(std::string_view kind, const std::vector<Shape>& shapes) {
  kind = without_count(kind);
  if (kind.ends_with("batch_normalization")) {
    if (shapes.size() == 4) return first_names(kOfBatchNorm, 4);
    if (shapes.size() == 3) return {"beta", "moving_mean", "moving_variance"};  // scale=False
    if (shapes.size() == 2) return {"moving_mean", "moving_variance"};
  }
  const auto known = std::ranges::find(kKindsOfLayers, kind, &KindOfLayer::kind);
  return known == kKindsOfLayers.end() ? names_by_shapes(shapes)
                                       : first_names(known->variables, shapes.size());
}

std::map<std::string, KerasLayer> parse_keras_config(std::string_view json, const std::string& path) {
  std::map<std::string, KerasLayer> layers;
  const nlohmann::json whole = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) throw DataError(path, "has a damaged config.json");
  const auto config = whole.find("config");
  if (config == whole.end()) return layers;
  KerasConfig reader(layers);
  reader.add(*config, "", "", 0);
  reader.add_paths();
  return layers;
}

std::string keras_weight_name(const std::string& layer, std::string weight) {
  if (weight.ends_with(":0")) weight.resize(weight.size() - 2);
  const std::string prefix = layer + "/";
  // The names of layers and models around it, too: "sequential/conv1/kernel".
  if (const size_t at = ("/" + weight).rfind("/" + prefix); at != std::string::npos)
    weight.erase(0, at + prefix.size());
  const size_t slash = weight.find('/');
  if (slash != std::string::npos && without_count(weight.substr(0, slash)) == layer)
    return prefix + weight.substr(slash + 1);  // Keras made the name of an equal layer unique
  if (slash == std::string::npos && weight.starts_with(layer + "_")) {
    const std::string leaf(without_count(weight.substr(layer.size() + 1)));
    const auto old = std::ranges::find(kOldLeaves, leaf, [](const auto& entry) { return entry.first; });
    if (old != kOldLeaves.end()) return prefix + std::string(old->second);
  }
  return prefix + weight;
}

}  // namespace tpack
