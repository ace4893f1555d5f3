#include "core/stop.h"
#include "input/input_source.h"

namespace tpack {
namespace {

class DummyReader final : public InputReader {
 public:
  explicit DummyReader(const InputSetup& setup) {
    for (const TensorSpec& spec : setup.nominal) tensors_.push_back(Tensor::zeros(spec));
  }
  bool next(const std::stop_token& stop) override {
    if (stop.stop_requested()) throw Stopped{};
    ++stats_.batches;
    return true;
  }
  std::span<const Tensor> tensors() const override { return tensors_; }
  int64_t samples() const override { return tensors_.empty() ? 1 : tensors_[0].shape()[0]; }
  DataPosition position() const override { return {0, stats_.batches}; }
  InputStats stats() const override { return stats_; }

 private:
  std::vector<Tensor> tensors_;
  InputStats stats_;
};

/// The same zeros each step: the speed of everything but the data.
class DummyInput final : public InputSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Zeros without end, to time the rest."); }
  explicit DummyInput(Params /*p*/) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<DummyReader>(setup);
  }
  bool needs_data() const override { return false; }
};

TPACK_REGISTER(InputSource, DummyInput, "Dummy", "DummyConstantInput");

}  // namespace
}  // namespace tpack
