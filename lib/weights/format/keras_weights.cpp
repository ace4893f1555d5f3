#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/zip.h"
#include "weights/format/hdf5_arrays.h"
#include "weights/format/keras_names.h"
#include "weights/format/weight_formats.h"

// Source: keras/src/legacy/saving/legacy_h5_format.py and keras/src/saving/saving_lib.py of Keras 3.15.
namespace tpack {
namespace {

using Arrays = std::shared_ptr<const Hdf5Arrays>;
using KerasLayers = std::map<std::string, KerasLayer>;

constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr std::string_view kWeightsName = "model.weights.h5";
constexpr std::string_view kConfigName = "config.json";
constexpr uint64_t kMostConfigBytes = 100'000'000;
constexpr uint64_t kMostRatioOfArchive = 100;  // of unpacked and packed bytes
/// Groups of layers; their members have the names of classes.
constexpr std::array<std::string_view, 3> kContainers = {"layers", "_layer_checkpoint_dependencies",
                                                         "_layers"};
/// Groups outside of the network.
constexpr std::array<std::string_view, 3> kNotWeights = {"optimizer", "optimizer_weights", "metrics"};

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string with_part(const std::string& path, const std::string& part) {
  return path.empty() ? part : path + "/" + part;
}

bool is_one_of(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

FileWeight weight_of(const Arrays& arrays, const Hdf5Array& array, const std::string& name) {
  return {valid_utf8(name), std::string(array.type.name), {array.type.dtype, array.shape}, [arrays, &array] {
            return arrays->read(array);
          }};
}

/// A list of texts; Keras cuts one of more than 64 kB into attributes with a number.
std::optional<std::vector<std::string>> list_of_texts(const Hdf5Arrays& arrays, const std::string& group,
                                                      const std::string& attribute) {
  if (auto whole = arrays.texts(group, attribute)) return whole;
  std::optional<std::vector<std::string>> all;
  for (int i = 0;; ++i) {
    const auto part = arrays.texts(group, attribute + std::to_string(i));
    if (!part) return all;
    if (!all) all.emplace();
    all->insert(all->end(), part->begin(), part->end());
  }
}

/// The arrays of a group outside of the network, as one entry of `others`.
void note_arrays_not_read(const Hdf5Arrays& arrays, WeightFile& file) {
  for (const std::string_view group : kNotWeights) {
    const auto count = std::ranges::count_if(arrays.arrays(), [&](const Hdf5Array& array) {
      return array.path.starts_with(std::string(group) + "/");
    });
    if (count > 0) file.others.emplace_back(std::string(group), std::to_string(count) + " arrays");
  }
}

/// Files of Keras 1 and 2, and model.save("m.h5") of Keras 3: attributes name layers and weights.
void add_named_weights(const Arrays& arrays, const std::string& group, WeightFile& file) {
  std::map<std::string, const Hdf5Array*> unused;
  for (const Hdf5Array& array : arrays->arrays()) unused.emplace(array.path, &array);
  std::vector<std::string> layers = *list_of_texts(*arrays, group, "layer_names");
  layers.emplace_back("top_level_model_weights");
  for (const std::string& layer : layers) {
    const std::string of_layer = with_part(group, layer);
    for (const std::string& weight :
         list_of_texts(*arrays, of_layer, "weight_names").value_or(std::vector<std::string>())) {
      const auto array = unused.find(of_layer + "/" + weight);
      if (array == unused.end()) {
        const bool is_there = std::ranges::any_of(
            arrays->arrays(), [&](const Hdf5Array& known) { return known.path == of_layer + "/" + weight; });
        if (is_there) continue;  // a layer that is used twice
        throw DataError(file.path, "names the weight '" + printable(weight) + "' of the layer '" +
                                       printable(layer) + "', and does not have it");
      }
      const std::string name = layer == layers.back() ? weight : keras_weight_name(layer, weight);
      file.weights.push_back(weight_of(arrays, *array->second, name));
      unused.erase(array);
    }
  }
  file.is_in_order = true;
}

/// A layer's variables, which have numbers, in a file of Keras 3.
struct NumberedVariables {
  std::string owner;  // the group: "layers/conv2d"
  std::vector<std::pair<int, const Hdf5Array*>> variables;
};

std::vector<NumberedVariables> numbered_variables(const Hdf5Arrays& arrays) {
  std::map<std::string, NumberedVariables> owners;
  for (const Hdf5Array& array : arrays.arrays()) {
    const std::vector<std::string> parts = split_path(array.path);
    if (parts.size() < 2 || parts[parts.size() - 2] != "vars") continue;
    int number = 0;
    const std::string& last = parts.back();
    const auto end = std::from_chars(last.data(), last.data() + last.size(), number);
    if (end.ec != std::errc() || end.ptr != last.data() + last.size()) continue;
    const size_t tail = last.size() + std::string_view("/vars/").size();
    const std::string owner = array.path.size() < tail ? "" : array.path.substr(0, array.path.size() - tail);
    NumberedVariables& found = owners[owner];
    found.owner = owner;
    found.variables.emplace_back(number, &array);
  }
  std::vector<NumberedVariables> all;
  for (auto& [name, owner] : owners) {
    std::ranges::sort(owner.variables, {}, [](const auto& v) { return v.first; });
    all.push_back(std::move(owner));
  }
  return all;
}

/// The weights of a file of Keras 3.
class NumberedWeights {
 public:
  NumberedWeights(const Arrays& arrays, const KerasLayers& layers) : arrays_(arrays), layers_(layers) {}

  void add_to(WeightFile& file) {
    for (const NumberedVariables& owner : numbered_variables(*arrays_)) add(owner, file);
    std::ranges::stable_sort(found_, {}, &Found::index);
    for (Found& one : found_)
      for (FileWeight& weight : one.weights) file.weights.push_back(std::move(weight));
    file.is_in_order = !found_.empty() && std::ranges::all_of(found_, &Found::is_known);
  }

 private:
  struct Found {
    size_t index = SIZE_MAX;
    bool is_known = false;  // in the config
    std::vector<FileWeight> weights;
  };

  void add(const NumberedVariables& owner, WeightFile& file) {
    const std::vector<std::string> parts = split_path(owner.owner);
    if (is_one_of(kNotWeights, parts[0])) return;
    if (parts.back().starts_with("seed_generator")) {
      file.others.emplace_back(owner.owner, "the state of random numbers");
      return;
    }
    Found found;
    KerasLayer layer;
    std::string groups;  // without containers, as in the config
    std::string path;    // as the model has it
    std::string at;
    bool is_in_container = false;
    for (const std::string& part : parts) {
      if (part.empty()) break;  // variables of the model itself
      at = with_part(at, part);
      if (is_one_of(kContainers, part)) {
        is_in_container = true;
        continue;
      }
      groups = with_part(groups, part);
      const auto known = layers_.find(groups);
      const std::string own_name = name_of(at);
      if (known != layers_.end()) {
        path = known->second.path;
        found.index = known->second.index;
        found.is_known = true;
        layer = known->second;
      } else {
        path = with_part(path, is_in_container && !own_name.empty() ? own_name : part);
        layer = {.path = path, .kind = kind_of(part, own_name)};
      }
      is_in_container = false;
    }
    const std::vector<std::string> names = names_of(layer, owner);
    for (size_t i = 0; i < names.size(); ++i)
      found.weights.push_back(weight_of(arrays_, *owner.variables[i].second, with_part(path, names[i])));
    found_.push_back(std::move(found));
  }

  /// The name of a layer, which Keras stores since version 3.3.
  std::string name_of(const std::string& group) const {
    const auto texts = arrays_->texts(group + "/vars", "name");
    return texts && texts->size() == 1 ? texts->front() : "";
  }
  /// The attributes of a model written as a class have the names of its programmer; Keras names layers after
  /// their classes.
  static std::string kind_of(const std::string& group, const std::string& name) {
    return is_keras_kind(group) || name.empty() ? group : name;
  }

  static std::vector<std::string> names_of(const KerasLayer& layer, const NumberedVariables& owner) {
    const bool is_norm = layer.kind.ends_with("normalization");
    const size_t count = owner.variables.size();
    if (is_norm && layer.kind.starts_with("batch") && count == 3 && layer.has_scale && !layer.has_center)
      return {"gamma", "moving_mean", "moving_variance"};
    if (is_norm && count == 1 && !layer.has_scale) return {"beta"};
    std::vector<Shape> shapes;
    for (const auto& [number, array] : owner.variables) shapes.push_back(array->shape);
    return keras_variable_names(layer.kind, shapes);
  }

  const Arrays& arrays_;
  const KerasLayers& layers_;
  std::vector<Found> found_;
};

WeightFile keras_weights(const Arrays& arrays, const std::string& path, const KerasLayers& layers) {
  WeightFile result{.path = path, .format = "HDF5", .style = WeightStyle::kKeras};
  result.others = arrays->others();
  for (const std::string group : {"model_weights", ""}) {
    if (!list_of_texts(*arrays, group, "layer_names")) continue;
    result.format = "Keras (.h5)";
    add_named_weights(arrays, group, result);
    note_arrays_not_read(*arrays, result);
    return result;
  }
  NumberedWeights(arrays, layers).add_to(result);
  if (!result.weights.empty()) {
    result.format = "Keras 3 (.weights.h5)";
    note_arrays_not_read(*arrays, result);
    return result;
  }
  for (const Hdf5Array& array : arrays->arrays())
    result.weights.push_back(weight_of(arrays, array, array.path));
  return result;
}

const ZipEntry* entry_called(const std::vector<ZipEntry>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &ZipEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

/// Keras compresses nothing.
OwnedBytes unpacked_part(const ZipEntry& entry, const MappedFilePtr& file, const std::string& path) {
  constexpr uint64_t kAlways = uint64_t{1} << 20U;
  if (entry.size > kAlways && entry.size / kMostRatioOfArchive > entry.packed.size())
    throw DataError(path + ": '" + printable(entry.name) + "'",
                    "unpacks to more than 100 times its size, which weights do not");
  return unpack_zip_entry(entry, file, path);
}

}  // namespace

bool is_hdf5(std::string_view first_bytes) { return first_bytes.starts_with(kHdf5Signature); }

WeightFile read_hdf5_weights(const MappedFilePtr& file, const std::string& path) {
  return keras_weights(std::make_shared<const Hdf5Arrays>(OwnedBytes{file->bytes(), file}, path), path, {});
}

bool is_keras_archive(const MappedFilePtr& file, const std::string& path) {
  return entry_called(read_zip(file->bytes(), path), kWeightsName) != nullptr;
}

WeightFile read_keras_archive(const MappedFilePtr& file, const std::string& path) {
  const std::vector<ZipEntry> entries = read_zip(file->bytes(), path);
  KerasLayers layers;
  if (const ZipEntry* const config = entry_called(entries, kConfigName)) {
    if (config->size > kMostConfigBytes) throw DataError(path, "has a config.json of more than 100 MB");
    const OwnedBytes text = unpacked_part(*config, file, path);
    layers = parse_keras_config({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()}, path);
  }
  const OwnedBytes weights = unpacked_part(*entry_called(entries, kWeightsName), file, path);
  if (!is_hdf5({reinterpret_cast<const char*>(weights.bytes.data()), weights.bytes.size()}))
    throw DataError(path, "is damaged: its weights are not HDF5");
  WeightFile result = keras_weights(std::make_shared<const Hdf5Arrays>(weights, path), path, layers);
  result.format = "Keras (.keras)";
  return result;
}

}  // namespace tpack
