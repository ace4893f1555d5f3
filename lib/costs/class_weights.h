#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cost.h"

namespace tpack {

/// The weights of classes: `balanced`, {effective_number: beta}, {name: weight} or [weight of class 0, ...].
/// Default: equal weights.
struct ClassWeights {
  bool balanced = false;
  std::optional<double> effective_number = {};  // beta
  std::vector<std::pair<std::string, double>> by_name = {};
  std::vector<double> list = {};
  Position position = {};

  bool given() const { return balanced || effective_number || !by_name.empty() || !list.empty(); }
};

template <>
struct Codec<ClassWeights> {
  static FieldType type();
  static std::optional<ClassWeights> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const ClassWeights& weights);
};

/// The weights [classes]. Those that depend on data.train are a variable, "class_weights/LABELS/...", which
/// is filled before training (VariableSpec::of_classes). `balanced`: N / (classes * samples of the class), so
/// that the mean over the training data is 1 and all classes contribute equally; source: scikit-learn, after
/// King & Zeng 2001. `effective_number`: in proportion to (1 - beta) / (1 - beta^samples of the class), with
/// the same mean; source: Cui et al. 2019, "Class-Balanced Loss Based on Effective Number of Samples".
/// Errors: ConfigError.
Symbol class_weights(const ModelView& model, const ClassWeights& weights, const Ref<LayerOutput>& labels,
                     int64_t classes);

}  // namespace tpack
