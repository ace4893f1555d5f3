#include "weights/loadable.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "core/pattern.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "system/file_io.h"
#include "weights/kernel_layout.h"

namespace tpack {
namespace {

/// What a library calls a variable, and what it may be here.
struct Leaf {
  std::string_view there;
  std::array<std::string_view, 3> here;
};
constexpr std::array kTorchLeaves = {
    Leaf{"weight", {"W", "gamma", "alpha"}}, Leaf{"bias", {"b", "beta"}},
    Leaf{"running_mean", {"mean/EMA"}},      Leaf{"running_var", {"variance/EMA"}},
    Leaf{"num_batches_tracked", {}},
};
constexpr std::array kKerasLeaves = {
    Leaf{"kernel", {"W"}},
    Leaf{"depthwise_kernel", {"W", "depthwise/W"}},
    Leaf{"pointwise_kernel", {"W", "pointwise/W"}},  // of a separable convolution: two layers here
    Leaf{"embeddings", {"W"}},
    Leaf{"bias", {"b", "pointwise/b"}},
    Leaf{"moving_mean", {"mean/EMA"}},
    Leaf{"moving_variance", {"variance/EMA"}},
};

/// Keys under which programs store a model among other things, in the order in which they are tried.
constexpr std::array<std::string_view, 7> kParts = {"state_dict", "model_state_dict", "model",  "net",
                                                    "network",    "params",           "weights"};
/// What programs put before all names, and before the names of their users.
constexpr std::array<std::string_view, 4> kWrappers = {"module.", "_orig_mod.", "model.", "net."};

struct SplitName {
  std::string path;  // of the layer
  std::string leaf;
};

SplitName split_name(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  for (const std::string_view both : {"mean/EMA", "variance/EMA"}) {
    if (name == both) return {"", std::string(both)};
    if (name.ends_with(both) && name[name.size() - both.size() - 1] == '/')
      return {std::string(name.substr(0, name.size() - both.size() - 1)), std::string(both)};
  }
  const size_t at = name.find_last_of("./");
  if (at == std::string_view::npos) return {"", std::string(name)};
  return {std::string(name.substr(0, at)), std::string(name.substr(at + 1))};
}

/// Names of variables that a value of a layer may be, the likeliest first; nothing if no model has such
/// values.
std::vector<std::string> leaves_here(WeightStyle style, const std::string& leaf, size_t rank) {
  const std::span<const Leaf> table = style == WeightStyle::kTorch ? std::span<const Leaf>(kTorchLeaves)
                                                                   : std::span<const Leaf>(kKerasLeaves);
  const auto known = std::ranges::find(table, leaf, &Leaf::there);
  if (known == table.end()) return {leaf, leaf + "/value"};
  std::vector<std::string> names;
  for (const std::string_view name : known->here)
    if (!name.empty()) names.emplace_back(name);
  if (rank == 1 && names.size() == 3) std::swap(names[0], names[1]);  // a weight of a norm
  return names;
}

std::string with_slashes(std::string path) {
  std::ranges::replace(path, '.', '/');
  return path;
}

using NamedFileWeights = std::vector<std::pair<std::string, FileWeight>>;

/// The weights of a part, and their names in it.
NamedFileWeights part_of(const WeightFile& file, std::string part) {
  const auto has = [&](std::string_view prefix) {
    return std::ranges::any_of(file.weights, [&](const FileWeight& w) {
      return w.name.starts_with(prefix) && w.name[prefix.size()] == '.';
    });
  };
  for (const std::string_view known : kParts)
    if (part.empty() && file.style == WeightStyle::kTorch && has(known)) part = known;
  NamedFileWeights all;
  for (const FileWeight& weight : file.weights) {
    if (part.empty())
      all.emplace_back(weight.name, weight);
    else if (weight.name.starts_with(part + ".") || weight.name.starts_with(part + "/"))
      all.emplace_back(weight.name.substr(part.size() + 1), weight);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (const std::string_view wrapper : kWrappers) {
      const bool is_everywhere = !all.empty() && std::ranges::all_of(all, [&](const auto& one) {
        return one.first.starts_with(wrapper) && one.first.size() > wrapper.size();
      });
      if (!is_everywhere || file.style != WeightStyle::kTorch) continue;
      for (auto& one : all) one.first.erase(0, wrapper.size());
      changes = true;
    }
  }
  return all;
}

LoadableWeight loadable(std::vector<std::string> names, WeightStyle style, const FileWeight& weight) {
  LoadableWeight one{.names = std::move(names)};
  if (weight.name != one.names[0]) one.from = weight.name;
  one.spec = [style, spec = weight.spec](const VariableSpec& as) {
    return kernel_layout(style, spec, as).spec;
  };
  one.read = [style, weight](const VariableSpec& as) {
    return in_layout(weight.read(), kernel_layout(style, weight.spec, as));
  };
  return one;
}

std::string joined(const std::string& path, const std::string& leaf) {
  return path.empty() ? leaf : path + "/" + leaf;
}

}  // namespace

std::vector<LoadableWeight> loadable_weights(const WeightFile& file, const WeightMap& map) {
  std::vector<LoadableWeight> all;
  for (const auto& [name, weight] : part_of(file, map.part)) {
    if (file.style == WeightStyle::kTpack) {
      all.push_back(loadable({name}, file.style, weight));
      continue;
    }
    const auto [path, leaf] = split_name(name);
    const std::string here = map.path_here(path);
    std::vector<std::string> names;
    for (const std::string& variable : leaves_here(file.style, leaf, weight.spec.shape.rank()))
      names.push_back(joined(here, variable));
    if (!names.empty()) all.push_back(loadable(std::move(names), file.style, weight));
  }
  return all;
}

namespace {

/// The likeliest name of the variable of each weight; empty: none.
std::vector<std::string> likely_leaves(WeightStyle style, const NamedFileWeights& weights) {
  const auto split = [](const std::string& name, const FileWeight& weight) {
    return split_name(weight.used_as.empty() ? name : weight.used_as);
  };
  std::map<std::string, size_t> most_axes;  // of the values of a layer; a norm has only vectors
  std::map<std::string, int> values_of;
  for (const auto& [name, weight] : weights) {
    const std::string path = split(name, weight).path;
    most_axes[path] = std::max(most_axes[path], weight.spec.shape.rank());
    ++values_of[path];
  }
  std::vector<std::string> leaves;
  for (const auto& [name, weight] : weights) {
    const SplitName there = split(name, weight);
    const std::vector<std::string> names = leaves_here(style, there.leaf, weight.spec.shape.rank());
    const bool is_beta = names.size() == 2 && names[1] == "beta" && most_axes[there.path] == 1;
    // The only vector of a layer is not that of a norm, but the slope of a PReLU.
    const bool is_slope = names.size() == 3 && names[0] == "gamma" && values_of[there.path] == 1;
    leaves.push_back(names.empty() ? "" : is_slope ? "alpha" : names[is_beta ? 1 : 0]);
  }
  return leaves;
}

}  // namespace

std::vector<LoadableWeight> loadable_in_order(const WeightFile& file, const std::string& part,
                                              const VariableTable& model) {
  if (!file.is_in_order)
    throw DataError(file.path, "does not keep the order of its layers (" + file.format +
                                   "); name them with `rename` or a map");
  const NamedFileWeights weights = part_of(file, part);
  std::vector<std::string> leaves = likely_leaves(file.style, weights);  // empty: taken
  std::set<std::string> has_value;
  std::vector<LoadableWeight> all;
  const auto take_first = [&](const VariableSpec& variable, bool needs_shape) {
    const std::string leaf = split_name(variable.name).leaf;
    for (size_t i = 0; i < weights.size(); ++i) {
      const FileWeight& weight = weights[i].second;
      if (leaves[i] != leaf) continue;
      const Shape shape = kernel_layout(file.style, weight.spec, variable).spec.shape;
      if (needs_shape && shape != variable.spec.shape) continue;
      leaves[i].clear();
      has_value.insert(variable.name);
      all.push_back(loadable({variable.name}, file.style, weight));
      return;
    }
  };
  // The second pass pairs tensors of different shapes, such as those of a head for other classes; the rules
  // say whether that is an error.
  for (const bool needs_shape : {true, false})
    for (const VariableSpec* variable : model.all())
      if (variable->scope == VariableScope::kModel && !has_value.contains(variable->name))
        take_first(*variable, needs_shape);
  for (size_t i = 0; i < weights.size(); ++i)
    if (!leaves[i].empty()) all.push_back(loadable({weights[i].first}, file.style, weights[i].second));
  return all;
}

namespace {

constexpr const char* kByNames = "names";
constexpr const char* kByOrder = "order";

/// How many variables of the model would get values.
size_t fitting(const std::vector<LoadableWeight>& weights, const LoadRules& rules,
               const VariableTable& model) {
  return static_cast<size_t>(std::ranges::count_if(weights, [&](const LoadableWeight& weight) {
    return std::ranges::any_of(weight.names, [&](const std::string& name) {
      const VariableSpec* const variable = model.find(renamed_by(rules.rename, name));
      return variable != nullptr && weight.spec(*variable).shape == variable->spec.shape;
    });
  }));
}

size_t variables_of(const VariableTable& model) {
  return static_cast<size_t>(
      std::ranges::count(model.all(), VariableScope::kModel, [](const VariableSpec* v) { return v->scope; }));
}

/// Shapes of another network also fit in part.
bool is_most(size_t fits, const VariableTable& model) { return fits * 5 >= variables_of(model) * 4; }

WeightMap map_of_file(const std::string& path) {
  const std::optional<std::string> text = read_whole_file(path);
  if (!text) throw ConfigError("map '" + path + "': no such file");
  return parse_weight_map(parse_yaml(*text, path), path);
}

/// True if the names of all layers of the file only tell their order, by this map.
bool names_are_an_order(const WeightFile& file, const WeightMap& map) {
  return file.is_in_order && std::ranges::all_of(part_of(file, map.part), [&](const auto& one) {
           return full_match(with_slashes(split_name(one.first).path), map.order);
         });
}

}  // namespace

WeightMap weight_map_called(const std::string& name) {
  if (name == kByNames || name == kByOrder) return {.name = name};
  std::vector<std::string> known = {kByNames, kByOrder};
  for (const WeightMap& map : known_weight_maps()) {
    if (map.name == name) return map;
    known.push_back(map.name);
  }
  if (name.ends_with(".yaml")) return map_of_file(name);
  throw ConfigError("no map '" + name + "'" + did_you_mean(name, known));
}

NamedWeights named_weights(const WeightFile& file, const Naming& naming, const LoadRules& rules,
                           const VariableTable& model) {
  if (naming.map == kByOrder) return {kByOrder, loadable_in_order(file, naming.part, model)};
  const auto with = [&](WeightMap map) {
    if (!naming.part.empty()) map.part = naming.part;
    if (map.order.empty()) return loadable_weights(file, map);
    return names_are_an_order(file, map) ? loadable_in_order(file, map.part, model)
                                         : std::vector<LoadableWeight>{};
  };
  if (!naming.map.empty() && naming.map != kByNames) return {naming.map, with(weight_map_called(naming.map))};
  NamedWeights best{kByNames, with({})};
  if (naming.map == kByNames) return best;
  size_t most = fitting(best.weights, rules, model);
  if (most == variables_of(model)) return best;  // no map fits more
  for (const WeightMap& map : known_weight_maps()) {
    NamedWeights other{map.name, with(map)};
    const size_t fits = fitting(other.weights, rules, model);
    const bool is_sure = map.order.empty() || is_most(fits, model);
    if (fits <= most || !is_sure) continue;
    most = fits;
    best = std::move(other);
  }
  return best;
}

std::string advice_on_names(const WeightFile& file, const std::string& part, const LoadRules& rules,
                            const VariableTable& model) {
  std::string fix = "; name its layers with `rename`, or with a map";
  if (!file.is_in_order) return fix;
  const size_t fits = fitting(loadable_in_order(file, part, model), rules, model);
  if (!is_most(fits, model)) return fix;
  return fix + "; by their order and shape, " + std::to_string(fits) + " of " +
         std::to_string(variables_of(model)) + " variables would fit (`map: order`)";
}

namespace {

/// Errors: ConfigError if no tensor is in the part.
void require_part(const WeightFile& file, const std::string& part) {
  if (part.empty() || !part_of(file, part).empty()) return;
  std::vector<std::string> known;
  for (const FileWeight& weight : file.weights) {
    const size_t end = weight.name.find_first_of("./");
    std::string first = printable(weight.name.substr(0, end));
    if (end != std::string::npos && std::ranges::find(known, first) == known.end())
      known.push_back(std::move(first));
  }
  throw ConfigError("no part '" + part + "' with tensors in " + file.path + did_you_mean(part, known) +
                    (known.empty() ? "" : "; parts are " + join_first(known)));
}

/// What is said if most numbers of a model are not in the file; else empty.
std::string doubt_of(const LoadReport& report, const VariableStore& store) {
  const auto numbers = [&](const std::vector<std::string>& names) {
    int64_t sum = 0;
    for (const std::string& name : names) sum += store.table().find(name)->spec.shape.elements();
    return sum;
  };
  const int64_t loaded = numbers(report.loaded);
  const int64_t missing = numbers(report.missing);
  if (loaded >= missing) return "";
  return "has " + std::to_string(loaded) + " of the " + std::to_string(loaded + missing) +
         " numbers of the model; the others keep their initial values. Is it for another network? `include` "
         "says that only a part is wanted";
}

}  // namespace

WeightsReport load_weight_file(const std::string& path, const Naming& naming, const LoadRules& rules,
                               const std::string& skip_fix, VariableStore& store) {
  const WeightFile file = open_weight_file(path);
  require_part(file, naming.part);
  NamedWeights named = named_weights(file, naming, rules, store.table());
  WeightsReport report{std::move(named.map), load_weights(store, named.weights, rules)};
  LoadReport& done = report.weights;
  if (done.loaded.empty() && done.mismatched.empty())
    throw ConfigError("no variable fits" + advice_on_names(file, naming.part, rules, store.table()) + "\n" +
                      done.str(path));
  if (!done.mismatched.empty() && rules.on_mismatch == OnMismatch::kError)
    throw ConfigError(std::to_string(done.mismatched.size()) + " variables of another shape; " + skip_fix +
                      "\n" + done.str(path));
  const std::string doubt = doubt_of(done, store);
  if (!doubt.empty()) done.idle.push_back(path + ": " + doubt);
  return report;
}

}  // namespace tpack
