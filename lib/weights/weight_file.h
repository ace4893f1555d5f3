#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// How a library lays out the values of a kernel, and how it names variables.
enum class WeightStyle : uint8_t {
  kTpack,  // W of a convolution [out, in / groups, h, w], of a dense layer [in, out]
  kTorch,  // convolution [out, in / groups, h, w], dense [out, in], transposed [in, out / groups, h, w]
  kKeras   // convolution [h, w, in / groups, out], depthwise [h, w, in, factor], dense [in, out],
           // transposed [h, w, out, in]; also tensorpack
};

/// A tensor in a file of weights.
struct FileWeight {
  std::string name;                // as in the file: "layer1.0.conv1.weight"
  std::string stored;              // the type of its elements there: "float16"
  TensorSpec spec;                 // of the result of `read`: floats become float32, integers int32 or int64
  std::function<Tensor()> read{};  // Errors: CheckpointError with path and name
  /// If the file tells where the network uses it: what PyTorch could call it, "Conv_3.weight". Only their
  /// order counts such names.
  std::string used_as{};
};

/// The tensors of a file that some program wrote, in the order of the file.
struct WeightFile {
  std::string path;
  std::string format;  // "PyTorch (zip)"
  WeightStyle style = WeightStyle::kTorch;
  /// The order is that in which the network's layers were made.
  bool is_in_order = false;
  std::vector<FileWeight> weights;
  /// What else is in it, by name: {"epoch", "an integer"}, {"model", "an object of detector.Net"}.
  std::vector<std::pair<std::string, std::string>> others;

  /// Null if there is none.
  const FileWeight* find(const std::string& name) const;
};

/// Style and order of a file, as a word that `tpack ckpt convert` writes into the new file, so that its
/// tensors mean the same there: "torch-in-order".
std::string mark_of(const WeightFile& file);
/// Sets style and order by the mark of a file; other texts change nothing.
void follow_mark(WeightFile& file, std::string_view mark);

/// Opens a file of weights; its format is known by its content: checkpoints of tpack, safetensors, NumPy
/// (.npz), PyTorch, Keras (.h5, .keras), other HDF5; ONNX and Caffe by the endings .onnx and .caffemodel.
/// Nothing in it is run. Tensors are read on demand; the file stays mapped as long as one of them is held.
/// Errors: CheckpointError with the path if there is no such file, or if it is none of these, or damaged.
WeightFile open_weight_file(const std::string& path);

}  // namespace tpack
