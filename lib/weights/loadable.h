#pragma once

#include <string>
#include <vector>

#include "graph/variables.h"
#include "predict/load_weights.h"
#include "weights/weight_file.h"
#include "weights/weight_map.h"

namespace tpack {

/// The weights of a file under the names of a model's variables, in tpack's layout: by the rules of `map`, or
/// by the usual names of the file's style (`layer1.0.bn1.running_mean` is `layer1/0/bn1/mean/EMA`). Weights
/// that no model has, such as counters, are left out. `file` and `map` may be destroyed.
std::vector<LoadableWeight> loadable_weights(const WeightFile& file, const WeightMap& map);

/// The same in order: among values of one kind and shape, the k-th of the file is the k-th of the model.
/// `part` as in WeightMap. Errors: DataError if the file does not keep the order of its layers.
std::vector<LoadableWeight> loadable_in_order(const WeightFile& file, const std::string& part,
                                              const VariableTable& model);

/// How the weights of a file get the names of variables.
struct Naming {
  /// "names": the usual ones; "order"; the name of a known map; a file of one (.yaml). Empty: whichever of
  /// names and known maps fits most variables, names first.
  std::string map;
  std::string part;
};

/// The map of a Naming: a known one, or that of a file; "names" and "order" have no rules. Errors:
/// ConfigError.
WeightMap weight_map_called(const std::string& name);

/// What was chosen, and its weights.
struct NamedWeights {
  std::string map;
  std::vector<LoadableWeight> weights;
};

/// Errors: ConfigError for an unknown map; those of `loadable_in_order`.
NamedWeights named_weights(const WeightFile& file, const Naming& naming, const LoadRules& rules,
                           const VariableTable& model);

/// Advice for a file of which no variable fits: the order of its layers, if that fits some.
std::string advice_on_names(const WeightFile& file, const std::string& part, const LoadRules& rules,
                            const VariableTable& model);

/// What was loaded, and the map that named it.
struct WeightsReport {
  std::string map;
  LoadReport weights;
};

/// Copies the weights of a file into a model's variables. `skip_fix`: what the user can write if variables
/// have another shape. Errors: ConfigError if no variable fits, if one has another
/// shape (unless `rules` skip these), or for a part that is not there; those of open_weight_file,
/// `named_weights` and `load_weights`.
WeightsReport load_weight_file(const std::string& path, const Naming& naming, const LoadRules& rules,
                               const std::string& skip_fix, VariableStore& store);

}  // namespace tpack
