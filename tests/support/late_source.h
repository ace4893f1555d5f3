#pragma once

#include <atomic>

#include "core/registry.h"
#include "dataflow/source.h"

namespace tpack::testing_late {

struct LateSourceParams {
  int64_t size = 8;
  int64_t side = 4;
  bool absent = false;
};

/// A source that knows its components only after it is opened, like a source of arrays in files: image [side,
/// side, 1] with the index in each pixel, label index % 3.
class LateSource final : public RandomAccessSource {
 public:
  using Params = LateSourceParams;
  static Schema<Params> schema() {
    return Schema<Params>("Test: knows its spec once it is open.")
        .field("size", &Params::size, "samples")
        .field("side", &Params::side, "height and width")
        .field("absent", &Params::absent, "whether it cannot be opened");
  }
  static inline std::atomic<int> opened = 0;

  explicit LateSource(Params p) : p_(p) {}
  bool knows_spec() const override { return false; }
  Spec spec() const override {
    TPACK_ASSERT(is_open_, "a source that was not opened");
    return {{"image", {DType::kUInt8, {p_.side, p_.side, 1}}}, {"label", {DType::kInt32, {}}}};
  }
  int64_t size() const override { return p_.size; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const Tensor image = Tensor::zeros({DType::kUInt8, {p_.side, p_.side, 1}});
    for (uint8_t& pixel : image.span<uint8_t>()) pixel = static_cast<uint8_t>(index);
    out.set_tensor(0, image);
    out.set_tensor(1, Tensor::scalar<int32_t>(static_cast<int32_t>(index % 3)));
  }

 protected:
  void prepare() override {
    if (p_.absent) throw DataError("no such file 'late.npz'");
    is_open_ = true;
    ++opened;
  }

 private:
  Params p_;
  bool is_open_ = false;
};
TPACK_REGISTER(Source, LateSource, "Late");

}  // namespace tpack::testing_late
