#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace tpack {

/// "batch_normalization" of "BatchNormalization", as Keras names groups of its files.
std::string keras_snake_case(std::string_view class_name);

/// Whether the variables of this kind of layer are known: "conv2d_1".
bool is_keras_kind(std::string_view kind);
/// What Keras calls the variables of a layer, which its files only number: ("kernel", "bias").
/// `kind`: the name of its class in snake case, as far as it is known; else the shapes tell.
std::vector<std::string> keras_variable_names(std::string_view kind, const std::vector<Shape>& shapes);

/// A layer in the config.json of a .keras file.
struct KerasLayer {
  std::string path;       // with the models around it: "encoder/conv1"
  std::string kind;       // "batch_normalization"
  bool has_scale = true;  // of a norm
  bool has_center = true;
  size_t index = 0;  // in the order of the network
};

/// The layers of a config.json, by the groups of their variables without "layers" ("sequential/conv2d"), and
/// by their paths, where these differ. Errors: DataError with `path` if it is damaged.
std::map<std::string, KerasLayer> parse_keras_config(std::string_view json, const std::string& path);

/// The name of a weight in a file of Keras 1 or 2 (`weight_names`), which is in the group of a layer:
/// "conv1/kernel" of "conv1_1/kernel:0", "conv1/conv1/kernel:0" and "conv1_W_1:0".
std::string keras_weight_name(const std::string& layer, std::string weight);

}  // namespace tpack
