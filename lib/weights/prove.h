#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tpack {

/// The output of a layer, compared with that of another program.
struct LayerProof {
  std::string layer;      // of the model
  std::string reference;  // its name in the file
  double error = 0;  // largest difference, as a share of the largest value; infinite: another shape, or NaN
  std::string shapes = {};  // if they differ: "[2, 8, 4, 4] in the reference, [2, 6, 4, 4] here"
};

/// The layers in the order in which they run.
struct Proof {
  static constexpr double kMostError = 1e-4;

  std::vector<LayerProof> layers;
  std::vector<std::string> unknown;  // arrays that are neither an input nor the output of a layer

  /// The first layer that differs; null if none does.
  const LayerProof* first_difference() const;
  /// A table, and what it means.
  std::string str() const;
};

/// Runs the model of a checkpoint on inputs of an .npz, and compares its layers with the arrays there. An
/// array with the name of an input has a batch for it; the others are outputs of layers: under the names of
/// the model, or under those that `name_here` turns into them. Images may be [N, C, H, W] or [N, H, W, C]; a
/// layer with an activation is compared after it. Errors: ConfigError if no array is the output of a layer;
/// those of both files.
Proof prove(const std::string& checkpoint, const std::string& reference,
            const std::function<std::string(const std::string&)>& name_here);

}  // namespace tpack
