#include "image/pixel_memory.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <vector>

#include <opencv2/core/utility.hpp>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Block = std::unique_ptr<void, Free>;

/// Blocks of one thread, by power of two from 1 KB to 1 GB. Blocks beyond the cap are returned to the heap.
class FreeList {
 public:
  static constexpr size_t kMin = 10;  // log2 of 1 KB
  static constexpr size_t kClasses = 21;
  static constexpr size_t kKeep = 4;  // blocks of one size; an image passes through two or three

  static size_t size_class(size_t bytes) {
    const auto log = static_cast<size_t>(std::bit_width(bytes == 0 ? 0 : bytes - 1));
    return log <= kMin ? 0 : log - kMin;
  }
  void* take(size_t bytes) {
    const size_t index = size_class(bytes);
    if (index >= kClasses) throw ResourceError("an image of " + human_bytes(bytes) + " does not fit");
    auto& blocks = classes_.at(index);
    if (!blocks.empty()) {
      void* block = blocks.back().release();
      blocks.pop_back();
      return block;
    }
    void* block = std::aligned_alloc(64, size_t{1} << (kMin + index));
    if (block == nullptr) throw ResourceError("not enough memory for an image of " + human_bytes(bytes));
    return block;
  }
  void give(void* data, size_t bytes) {
    Block block(data);
    auto& blocks = classes_.at(size_class(bytes));
    if (blocks.capacity() == 0) blocks.reserve(kKeep);
    if (blocks.size() < kKeep) blocks.push_back(std::move(block));
  }

 private:
  std::array<std::vector<Block>, kClasses> classes_;
};

/// Null when the thread has ended: matrices that are destroyed later go to the heap.
FreeList* free_list() {
  thread_local bool ended = false;
  struct Holder {
    FreeList list;
    ~Holder() { ended = true; }
  };
  thread_local Holder holder;
  return ended ? nullptr : &holder.list;
}

class PooledAllocator final : public cv::MatAllocator {
 public:
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step,
                         cv::AccessFlag /*flags*/, cv::UMatUsageFlags /*usage*/) const override {
    size_t total = CV_ELEM_SIZE(type);
    for (int i = dims - 1; i >= 0; --i) {
      if (step != nullptr) step[i] = total;
      total *= static_cast<size_t>(sizes[i]);
    }
    TPACK_ASSERT(data == nullptr, "a pooled matrix over memory of others");
    auto u = std::make_unique<cv::UMatData>(this);
    FreeList* list = free_list();
    TPACK_ASSERT(list != nullptr, "an image made while its thread ends");
    u->data = u->origdata = static_cast<uchar*>(list->take(total));
    u->size = total;
    return u.release();
  }
  bool allocate(cv::UMatData* u, cv::AccessFlag /*flags*/, cv::UMatUsageFlags /*usage*/) const override {
    return u != nullptr;
  }
  void deallocate(cv::UMatData* u) const override {
    const std::unique_ptr<cv::UMatData> owner(u);
    if (u == nullptr || u->origdata == nullptr) return;
    FreeList* list = free_list();
    if (list == nullptr) {
      std::free(u->origdata);
    } else {
      list->give(u->origdata, u->size);
    }
    u->data = u->origdata = nullptr;
  }
};

cv::MatAllocator* allocator() {
  // Leaked on purpose: matrices may outlive all static objects.
  static auto* const kAllocator = [] {
    cv::setNumThreads(0);
    return new PooledAllocator();
  }();
  return kAllocator;
}

}  // namespace

cv::Mat pooled_mat() {
  cv::Mat mat;
  mat.allocator = allocator();
  return mat;
}

cv::Mat pooled_mat(int rows, int cols, int type) {
  cv::Mat mat = pooled_mat();
  mat.create(rows, cols, type);
  return mat;
}

}  // namespace tpack
