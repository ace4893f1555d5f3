#include "backend/engine/kernel_timer.h"

#include <algorithm>
#include <cmath>
#include <sys/resource.h>

#include "backend/passes/depth_first.h"
#include "core/clock.h"
#include "graph/structural.h"
#include "tensor/tensor.h"

namespace tpack {
namespace {

// A run with this much work takes 3 to 10 ms on a thread: long enough to warm the caches.
constexpr double kFlopsOfPiece = 4e8;
// Work that a kernel does once for its weights must not count much more than in the whole batch.
constexpr double kImagesPerWeights = 1;

/// Whether an input has a part for each image.
bool is_per_image(const Node& node, size_t input) {
  if (const auto* joined = op_cast<DepthFirst>(node)) return joined->per_image(input);
  const std::vector<int> images = node.op->images().inputs;
  return std::find(images.begin(), images.end(), static_cast<int>(input)) != images.end();
}

/// The first axis of the first input with a part for each image; 0 if there is none.
int64_t batch_of(const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (is_per_image(node, i) && node.inputs[i].shape().rank() > 0) return node.inputs[i].shape()[0];
  }
  return 0;
}

/// The node for a part of its batch, in a separate graph.
struct PartOfBatch {
  PartOfBatch(const Node& whole, int64_t images) {
    std::vector<Symbol> inputs;
    for (size_t i = 0; i < whole.inputs.size(); ++i) {
      const TensorSpec& spec = whole.inputs[i].spec();
      const Shape shape = is_per_image(whole, i) ? spec.shape.with(0, images) : spec.shape;
      const auto input =
          std::make_shared<const Input>(InputParams{"input" + std::to_string(i), spec.dtype, shape});
      inputs.push_back(graph.add(input, {}, "input", {}).out());
    }
    node = &graph.add(whole.op, std::move(inputs), whole.path, whole.origin);
  }
  Graph graph;
  const Node* node = nullptr;
};

/// How often threads of this process have lost a processor to others so far.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// Bytes from the start of a block at which operands begin, one after the other, and where they end.
std::vector<uint64_t> places(const std::vector<Format>& formats) {
  std::vector<uint64_t> begins = {0};
  for (const Format& format : formats) begins.push_back(begins.back() + aligned(format.bytes()));
  return begins;
}

std::vector<std::byte*> pointers(std::byte* block, const std::vector<uint64_t>& begins) {
  std::vector<std::byte*> all;
  for (size_t i = 0; i + 1 < begins.size(); ++i) all.push_back(block + begins[i]);
  return all;
}

}  // namespace

int64_t images_to_time(const KernelRequest& request) {
  const Node& node = request.node;
  const int64_t batch = batch_of(node);
  const double flops = node.op->flops(node);
  if (batch == 0 || flops <= 0) return batch;
  double bytes_per_image = 0;
  double other_bytes = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto bytes = static_cast<double>(node.inputs[i].spec().bytes());
    if (is_per_image(node, i)) {
      bytes_per_image += bytes / static_cast<double>(batch);
    } else {
      other_bytes += bytes;
    }
  }
  for (const TensorSpec& output : node.outputs) {
    const bool has_images = output.shape.rank() > 0 && output.shape[0] == batch;
    const auto bytes = static_cast<double>(output.bytes());
    if (has_images) {
      bytes_per_image += bytes / static_cast<double>(batch);
    } else {
      other_bytes += bytes;
    }
  }
  const double enough = std::max(kFlopsOfPiece * request.pieces * static_cast<double>(batch) / flops,
                                 kImagesPerWeights * other_bytes / bytes_per_image);
  const double rounds = std::ceil(enough / request.pieces);  // each thread has the same to do
  if (rounds * request.pieces >= static_cast<double>(batch)) return batch;
  const int64_t images = static_cast<int64_t>(rounds) * request.pieces;
  return std::min(batch, images % 2 == 0 ? images : images + request.pieces);  // kernels may work on pairs
}

void KernelTimer::Block::reserve(uint64_t bytes) {
  constexpr uint64_t kLeast = uint64_t{1} << 24;  // fewer blocks that grow a little
  if (storage_ && storage_->bytes() >= bytes) return;
  storage_.reset();
  storage_ = memory_.allocate_zeros(std::max(bytes + bytes / 2, kLeast));
  const auto fill = [](std::span<float> values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 997) * 1e-3F - 0.5F;
  };
  const size_t count = storage_->bytes() / sizeof(float);
  if (storage_->on_host()) return fill({reinterpret_cast<float*>(storage_->data()), count});
  std::vector<float> values(count);
  fill(values);
  memory_.write(storage_->address(), reinterpret_cast<const std::byte*>(values.data()),
                count * sizeof(float));
}

std::optional<TimedKernel> KernelTimer::prepare(const KernelRequest& request, KernelQueue& queue) {
  TimedKernel timed;
  auto kernel = std::make_shared<PreparedKernel>();
  try {
    *kernel = library_.prepare(request);
    timed.scratch_bytes = kernel->scratch_bytes;
    const int64_t images = images_to_time(request);
    const int64_t batch = batch_of(request.node);
    if (images < batch) {
      const PartOfBatch part(request.node, images);
      *kernel = library_.prepare({*part.node, request.layout, request.algorithm, request.pieces});
      timed.share = static_cast<double>(images) / static_cast<double>(batch);
    }
  } catch (const ConfigError&) {
    return std::nullopt;
  }
  const std::vector<uint64_t> in = places(kernel->in);
  const std::vector<uint64_t> out = places(kernel->out);
  inputs_.reserve(in.back());
  outputs_.reserve(out.back() + kernel->scratch_bytes);
  timed.run = [this, kernel, in, out, &queue] {
    const std::vector<std::byte*> from = pointers(inputs_.data(), in);
    const std::vector<std::byte*> to = pointers(outputs_.data(), out);
    const RunInfo info;
    const KernelArgs args{from, to, outputs_.data() + out.back(), &info, &queue};
    TimedRun timed_run;
    queue.submit([&] {  // as in a run
      const long before = interruptions();
      const Stopwatch watch;
      kernel->kernel->run(args);
      queue.wait();
      timed_run = {watch.seconds(), interruptions() != before};
    });
    return timed_run;
  };
  return timed;
}

}  // namespace tpack
