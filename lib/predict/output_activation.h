#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tpack {

/// The function that makes an output, which says what its values mean.
enum class OutputActivation : uint8_t {
  kOther,
  kSoftmax,  // probabilities of classes
  kSigmoid,  // a probability for each value
  kTanh,     // values from -1 to 1
};

/// The same values in the shape in which they were computed.
Symbol before_reshapes(Symbol y);
/// Of an output in any shape.
OutputActivation output_activation(Symbol y);

}  // namespace tpack
