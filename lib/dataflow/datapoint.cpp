#include "dataflow/datapoint.h"

#include <algorithm>
#include <cstring>

#include <opencv2/core/mat.hpp>

#include "core/error.h"

namespace tpack {
namespace {

TensorSpec spec_of(const cv::Mat& pixels) {
  return {pixels.depth() == CV_8U ? DType::kUInt8 : DType::kFloat32,
          Shape{pixels.rows, pixels.cols, pixels.channels()}};
}

void copy_pixels(const cv::Mat& pixels, std::byte* to) {
  if (pixels.depth() == CV_16U) {
    cv::Mat floats(pixels.rows, pixels.cols, CV_32FC(pixels.channels()), to);
    pixels.convertTo(floats, CV_32F);
    return;
  }
  const size_t row_bytes = static_cast<size_t>(pixels.cols) * pixels.elemSize();
  if (pixels.isContinuous()) {
    std::memcpy(to, pixels.data, row_bytes * static_cast<size_t>(pixels.rows));
    return;
  }
  for (int y = 0; y < pixels.rows; ++y) {
    std::memcpy(to + static_cast<size_t>(y) * row_bytes, pixels.ptr(y), row_bytes);
  }
}

void check_fits(const TensorSpec& sample, const Tensor& batch) {
  const TensorSpec row{batch.dtype(), batch.shape().drop_front()};
  if (sample == row) return;
  throw DataError("a component is " + sample.str() + ", the rows of its batch are " + row.str() +
                  "; samples of one batch need equal shapes");
}

std::byte* row_of(const Tensor& batch, int64_t row) {
  return batch.raw() + static_cast<size_t>(row) * (batch.bytes() / static_cast<size_t>(batch.shape()[0]));
}

/// A map that reorders components can leave one in the row of another, where it would be overwritten.
void free_foreign_rows(Datapoint& sample, std::span<const Tensor> batch, int64_t row) {
  for (size_t i = 0; i < batch.size(); ++i) {
    for (size_t j = 0; j < batch.size() && !sample.is_image(i); ++j) {
      const Tensor& tensor = sample.tensor(i);
      if (j != i && tensor.raw() == row_of(batch[j], row)) sample.set_tensor(i, tensor.clone());
    }
  }
}

}  // namespace

const Tensor& Datapoint::tensor(size_t i) const {
  TPACK_ASSERT(!components_[i].is_image, "the component is an image");
  return components_[i].tensor;
}

Image& Datapoint::image(size_t i) {
  TPACK_ASSERT(components_[i].is_image, "the component is a tensor");
  return components_[i].image;
}

Tensor& Datapoint::renew(size_t i, const TensorSpec& spec) {
  if (i >= components_.size()) components_.resize(i + 1);
  Component& component = components_[i];
  component.is_image = false;
  if (i < offers_.size() && !offers_[i].empty() && offers_[i].spec() == spec && !in_use(offers_[i].raw())) {
    component.tensor = offers_[i];
    return component.tensor;
  }
  component.tensor = Tensor(spec, free_block(static_cast<size_t>(spec.bytes())));
  return component.tensor;
}

Image& Datapoint::renew_image(size_t i) {
  if (i >= components_.size()) components_.resize(i + 1);
  components_[i].is_image = true;
  return components_[i].image;
}

void Datapoint::set_tensor(size_t i, Tensor tensor) {
  components_[i].is_image = false;
  components_[i].tensor = std::move(tensor);
}

int64_t Datapoint::bytes() const {
  int64_t all = 0;
  for (const Component& component : components_)
    all += static_cast<int64_t>(component.is_image ? component.image.bytes() : component.tensor.bytes());
  return all;
}

const Tensor& Datapoint::to_tensor(size_t i) {
  Component& component = components_[i];
  if (!component.is_image) return component.tensor;
  const cv::Mat pixels = component.image.pixels();
  copy_pixels(pixels, renew(i, spec_of(pixels)).raw());
  return components_[i].tensor;
}

void Datapoint::select(std::span<const size_t> indices) {
  // The remaining components move to the end, hidden; their image memory is reused next time.
  selected_.resize(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    Component& from = components_[indices[i]];
    selected_[i].is_image = from.is_image;
    selected_[i].tensor = from.tensor;
    if (from.is_image) std::swap(selected_[i].image, from.image);
  }
  std::swap(components_, selected_);
  for (Component& left : selected_) left.tensor = Tensor();
}

void Datapoint::swap_component(size_t i, Datapoint& other, size_t from) {
  std::swap(components_[i], other.components_[from]);
}

void Datapoint::offer(size_t i, Tensor row) {
  for (Component& component : components_) {  // left over from a sample that was made in the same row
    if (!component.tensor.empty() && component.tensor.raw() == row.raw()) component.tensor = Tensor();
  }
  if (offers_.size() <= i) offers_.resize(i + 1);
  offers_[i] = std::move(row);
}

Datapoint& Datapoint::child(size_t i) {
  while (children_.size() <= i) children_.push_back(std::make_unique<Datapoint>());
  return *children_[i];
}

bool Datapoint::in_use(const std::byte* data) const {
  return std::any_of(components_.begin(), components_.end(),
                     [data](const Component& c) { return !c.tensor.empty() && c.tensor.raw() == data; });
}

std::shared_ptr<Storage> Datapoint::free_block(size_t bytes) {
  constexpr size_t kLooked = 64;  // otherwise the first of many components would look at those of all before
  const size_t most = 2 * components_.size() + 2;
  const bool is_full = blocks_.size() >= most;
  std::shared_ptr<Storage>* too_small = nullptr;
  for (size_t left = is_full ? blocks_.size() : std::min(blocks_.size(), kLooked); left > 0; --left) {
    // From the one after the last: components take them in the order of the sample before.
    if (++last_block_ >= blocks_.size()) last_block_ = 0;
    auto& block = blocks_[last_block_];
    if (block.use_count() > 1) continue;  // still held by a component or a map
    if (block->bytes() >= bytes) return block;
    too_small = &block;
  }
  auto fresh = Storage::allocate(bytes + (is_full ? bytes / 4 : 0));
  if (is_full && too_small != nullptr) {
    *too_small = fresh;
  } else {
    last_block_ = blocks_.size();
    blocks_.push_back(fresh);
  }
  return fresh;
}

void store_row(Datapoint& sample, std::span<const Tensor> batch, int64_t row) {
  free_foreign_rows(sample, batch, row);
  for (size_t i = 0; i < batch.size(); ++i) {
    std::byte* to = row_of(batch[i], row);
    if (sample.is_image(i)) {
      const cv::Mat& pixels = sample.image(i).pixels();
      check_fits(spec_of(pixels), batch[i]);
      copy_pixels(pixels, to);
    } else if (sample.tensor(i).raw() != to) {
      const Tensor& tensor = sample.tensor(i);
      check_fits(tensor.spec(), batch[i]);
      std::memcpy(to, tensor.raw(), tensor.bytes());
    }
  }
}

}  // namespace tpack
