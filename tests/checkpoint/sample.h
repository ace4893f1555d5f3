#pragma once

#include "checkpoint/checkpoint.h"

namespace tpack {

/// A small content with every type, a scalar, an empty tensor and texts.
inline CheckpointContent sample_content() {
  CheckpointContent content;
  content.step = 1234;
  content.epoch = 3;
  content.tensors["model/conv0/W"] = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6.5F});
  content.tensors["model/conv0/b"] = Tensor::of<double>({2}, {-0.0, 1e-310});
  content.tensors["optimizer/step"] = Tensor::scalar<int64_t>(-7);
  content.tensors["rng/counter"] = Tensor::of<int32_t>({2}, {1, -2});
  content.tensors["data/bytes"] = Tensor::of<uint8_t>({3}, {0, 128, 255});
  Tensor flags(DType::kBool, {3});
  flags.data<bool>()[0] = true;
  flags.data<bool>()[1] = false;
  flags.data<bool>()[2] = true;
  content.tensors["local/flags"] = flags;
  content.tensors["local/nothing"] = Tensor(DType::kFloat32, {0, 4});
  content.texts["config/yaml"] = "tpack: 1\nname: \xc3\xa4\n";
  content.texts["callbacks/ModelSaver"] = "";
  return content;
}

inline bool same_content(const CheckpointContent& a, const CheckpointContent& b) {
  if (a.step != b.step || a.epoch != b.epoch || a.texts != b.texts || a.tensors.size() != b.tensors.size())
    return false;
  for (const auto& [name, tensor] : a.tensors) {
    const auto there = b.tensors.find(name);
    if (there == b.tensors.end() || !bit_equal(tensor, there->second)) return false;
  }
  return true;
}

/// The error of loading the file; "" if it loads.
inline std::string load_complaint(const std::string& path) {
  try {
    load_checkpoint(path);
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tpack
