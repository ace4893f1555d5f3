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
    ++batches_;
    return true;
  }
  std::span<const Tensor> tensors() const override { return tensors_; }
  DataPosition position() const override { return {0, batches_}; }
  double waited_s() const override { return 0; }

 private:
  std::vector<Tensor> tensors_;
  int64_t batches_ = 0;
};

/// The same zeros each step, to measure the speed of everything except the data.
class DummyInput final : public InputSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>("Endless batches of zeros, to time everything except the data.");
  }
  explicit DummyInput(Params /*p*/) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<DummyReader>(setup);
  }
};

TPACK_REGISTER(InputSource, DummyInput, "Dummy", "DummyConstantInput");

}  // namespace
}  // namespace tpack
