#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "input/input_source.h"
#include "support/small_model.h"

namespace tpack {

inline std::unique_ptr<InputSource> input_of(const std::string& name, const ConfigNode& params = {}) {
  return Registry<InputSource>::make(name, params);
}

/// What is needed to open kSmallModel's inputs on a flow.
inline InputSetup setup_for(const DataFlow& flow, int64_t batch) {
  InputSetup setup;
  setup.flow = &flow;
  setup.components = {0, 1};
  setup.nominal = {{DType::kFloat32, {batch, 5}}, {DType::kInt32, {batch}}};
  setup.seed = 11;
  return setup;
}

/// The bytes of a batch.
inline std::string bytes_of(const InputReader& reader) {
  std::string bytes;
  for (const Tensor& tensor : reader.tensors())
    bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  return bytes;
}

/// A batch, and where the data continue after it.
struct ReadBatch {
  std::string bytes;
  DataPosition position;
};

/// The next `count` batches, or as many as there are.
inline std::vector<ReadBatch> read(InputReader& reader, size_t count) {
  std::vector<ReadBatch> batches;
  while (batches.size() < count && reader.next({})) batches.push_back({bytes_of(reader), reader.position()});
  return batches;
}

}  // namespace tpack
