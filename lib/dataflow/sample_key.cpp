#include "dataflow/sample_key.h"

namespace tpack {

uint64_t PassKey::key(uint64_t stage) const {
  return mix(mix(seed, stage), mix(static_cast<uint64_t>(pass), static_cast<uint64_t>(repeat)));
}

std::string SampleId::str() const {
  std::string text = "sample " + std::to_string(index) + " of pass " + std::to_string(pass);
  if (repeat > 0) text += ", repetition " + std::to_string(repeat);
  return text;
}

Rng SampleKey::rng(uint64_t part) const {
  const PassKey pass{seed, id.pass, id.repeat};
  const uint64_t key = pass.key(stage);
  return Rng(part == 0 ? key : mix(key, part), static_cast<uint64_t>(id.index));
}

}  // namespace tpack
