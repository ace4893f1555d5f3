#include "backend/machine_limits.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "graph/builder.h"
#include "ops/matmul.h"

namespace tpack {
namespace {

/// The best run of a kernel.
struct Trial {
  double seconds = std::numeric_limits<double>::infinity();
  double flops = 0;
  double bytes = 0;
};

using Function = Symbol (*)(Builder& b, std::span<const Symbol> inputs);

/// Runs a function of `count` inputs of one shape for a while. Its kernel is the one with the most FLOPs:
/// kernels before a product may round its factors.
Trial try_kernel(Device& device, Function function, size_t count, const Shape& shape) {
  const TensorSpec spec = {device.float_type(), shape};
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {.phase = Phase::kInference, .float_type = spec.dtype});
  std::vector<Symbol> symbols;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < count; ++i) {
    symbols.push_back(b.input("x" + std::to_string(i), spec));
    std::memset(inputs.emplace_back(spec).raw(), 0x3C,
                static_cast<size_t>(spec.bytes()));  // 0.0115, as float
  }
  b.fetch("y", function(b, symbols));
  PlanSection section;
  const auto executable = device.compile(graph, section, Choosing::kByRules);
  executable->run(inputs, {});  // the first access to memory is slow
  executable->profile(true);
  constexpr double kEnoughSeconds = 0.05;
  const Stopwatch watch;
  Trial best;
  do {
    executable->run(inputs, {});
    const std::vector<NodeTime> times = executable->times();
    const NodeTime& kernel = *std::ranges::max_element(times, {}, &NodeTime::flops);
    best = {std::min(best.seconds, kernel.last_s), kernel.flops, kernel.bytes};
  } while (watch.seconds() < kEnoughSeconds);
  return best;
}

Symbol product(Builder& b, std::span<const Symbol> x) { return matmul(b, x[0], x[1]); }
Symbol scale(Builder& b, std::span<const Symbol> x) { return b.mul(x[0], 2.0); }

}  // namespace

MachineLimits measure_limits(Device& device) {
  // Small products stay in the caches, large ones keep many threads busy.
  constexpr double kLongProductSeconds = 5e-3;
  constexpr int64_t kMaxSide = 8192;
  MachineLimits limits;
  Trial trial = {.seconds = 0};
  for (int64_t side = 256; side <= kMaxSide && trial.seconds < kLongProductSeconds; side *= 2) {
    trial = try_kernel(device, product, 2, {side, side});
    limits.flops_per_s = std::max(limits.flops_per_s, trial.flops / trial.seconds);
  }
  // A machine that copies 128 MB faster may have them in its caches.
  constexpr double kLongCopySeconds = 4e-3;
  constexpr int64_t kMaxElements = int64_t{1} << 27U;
  trial = {.seconds = 0};
  for (int64_t n = kMaxElements / 4; n <= kMaxElements && trial.seconds < kLongCopySeconds; n *= 2) {
    trial = try_kernel(device, scale, 1, {n});
    limits.bytes_per_s = trial.bytes / trial.seconds;
  }
  return limits;
}

}  // namespace tpack
