#pragma once

/// Networks as functions of a Builder: each one emits ops and returns its output. A function with variables
/// declares them in the current scope, or in a scope with the given name. The layers of configs are these
/// functions with a schema.
///
///   Symbol x = nn::conv2d(b, image, "conv0", {.filters = 64, .kernel = 7, .stride = 2});
///   x = nn::relu(b, nn::batch_norm(b, x, "conv0_bn"));
///   const Symbol logits = nn::dense(b, nn::global_avg_pooling(b, x), "logits", {.units = 10});
#include "nn/activation.h"
#include "nn/batch_norm.h"
#include "nn/classification.h"
#include "nn/conv2d.h"
#include "nn/conv2d_transpose.h"
#include "nn/dense.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/enlarge.h"
#include "nn/function_tower.h"
#include "nn/initializers.h"
#include "nn/norms.h"
#include "nn/pooling.h"
#include "nn/quantize.h"
#include "nn/squeeze_excite.h"
#include "nn/table_input.h"
#include "ops/matmul.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack::nn {

using tpack::matmul;   // of the last two axes, with the axes before as a batch, as in attention
using tpack::softmax;  // over one axis

}  // namespace tpack::nn
