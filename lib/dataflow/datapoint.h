#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dataflow/sample_key.h"
#include "image/image.h"
#include "tensor/tensor.h"

namespace tpack {

/// One sample, or one batch, on its way through a flow: components in the order of the flow's Spec, each a
/// Tensor or an Image. A datapoint is refilled and keeps its memory: after the first few samples, sources and
/// maps that get tensors from it do not allocate.
///
/// A source fills components with `tensor` and `image`; it never passes out windows into its own memory. A
/// map that changes the type or shape of a component reads the old tensor (a copy of the handle) and writes
/// the tensor from `renew`. Threads: one at a time.
class Datapoint {
 public:
  Datapoint() = default;
  Datapoint(Datapoint&&) noexcept = default;
  Datapoint& operator=(Datapoint&&) noexcept = default;
  Datapoint(const Datapoint&) = delete;
  Datapoint& operator=(const Datapoint&) = delete;
  ~Datapoint() = default;

  size_t size() const { return components_.size(); }
  void resize(size_t components) { components_.resize(components); }
  const SampleId& id() const { return id_; }
  void set_id(const SampleId& id) { id_ = id; }

  /// Size of all components: of tensors and pixels, and of the file for images that are still encoded.
  int64_t bytes() const;

  bool is_image(size_t i) const { return components_[i].is_image; }
  /// The tensor that component `i` holds. Errors: InternalError if it is an Image (see `to_tensor`).
  const Tensor& tensor(size_t i) const;
  Image& image(size_t i);

  /// Makes component `i` (added if there are fewer) a tensor of `spec` with undefined elements. Memory that a
  /// Tensor elsewhere still holds is not reused, so the old elements can be read while the new ones are
  /// written.
  Tensor& renew(size_t i, const TensorSpec& spec);
  /// Makes component `i` an image to be filled.
  Image& renew_image(size_t i);
  /// Makes component `i` a tensor with another owner.
  void set_tensor(size_t i, Tensor tensor);
  /// Decodes component `i` if necessary and returns it as a tensor; images become uint8 [height, width,
  /// channels], or float32 for 16 bits.
  const Tensor& to_tensor(size_t i);
  /// Keeps these components, in this order.
  void select(std::span<const size_t> indices);
  /// Swaps component `i` with component `from` of `other`.
  void swap_component(size_t i, Datapoint& other, size_t from);

  /// Offers memory for component `i` of the next sample, a row of a batch: `renew` uses it if type and shape
  /// are the same. A component stored there becomes empty.
  void offer(size_t i, Tensor row);
  /// A datapoint inside this one, for stages that collect several.
  Datapoint& child(size_t i);

 private:
  struct Component {
    Tensor tensor;
    Image image;
    bool is_image = false;
  };
  bool in_use(const std::byte* data) const;
  std::shared_ptr<Storage> free_block(size_t bytes);

  SampleId id_;
  std::vector<Component> components_;
  std::vector<Component> selected_;               // scratch of `select`
  std::vector<Tensor> offers_;                    // empty if nothing is offered
  std::vector<std::shared_ptr<Storage>> blocks_;  // allocated by this datapoint
  size_t last_block_ = 0;                         // that was used
  std::vector<std::unique_ptr<Datapoint>> children_;
};

/// Copies the components of a sample to row `row` of the tensors of a batch, except components that are
/// already there. Encoded images are decoded. Errors: DataError if type or shape differ.
void store_row(Datapoint& sample, std::span<const Tensor> batch, int64_t row);

}  // namespace tpack
