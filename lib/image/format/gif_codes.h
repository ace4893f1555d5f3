#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>

#include "core/error.h"

namespace tpack {

/// Decodes the LZW codes of a frame. giflib returns an arbitrary color for an undefined code; here it is an
/// error. Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt, appendix F.
class GifCodes {
 public:
  /// `bits`: bits per color, 2 to 8. `next_block` returns the bytes of the block after `first_block`, none at
  /// the end.
  GifCodes(int bits, std::span<const uint8_t> first_block,
           std::function<std::span<const uint8_t>()> next_block)
      : clear_(1U << static_cast<unsigned>(bits)), block_(first_block), next_block_(std::move(next_block)) {
    if (bits < 2) throw DataError("damaged GIF: codes of less than 3 bits");  // readers disagree about them
    if (block_.empty()) too_few();
    start_again();
  }

  /// Errors: DataError for codes that are not valid or end early.
  void read(std::span<uint8_t> to) {
    for (uint8_t& index : to) {
      while (pending_ == 0) take_code();
      index = stack_[--pending_];
    }
  }
  /// Reads to the end after the pixels.
  void skip_rest() {
    while (!next_block_().empty()) {
    }
  }

 private:
  static constexpr unsigned kMostBits = 12;
  static constexpr uint32_t kNone = UINT32_MAX;

  [[noreturn]] static void too_few() { throw DataError("damaged GIF: too few pixels"); }

  void start_again() {
    code_bits_ = static_cast<unsigned>(std::bit_width(clear_));
    defined_ = clear_ + 2;
    previous_ = kNone;
  }

  uint32_t next_code() {
    for (; held_ < code_bits_; held_ += 8) {
      if (block_.empty()) block_ = next_block_();
      if (block_.empty()) too_few();
      word_ |= uint32_t{block_.front()} << held_;
      block_ = block_.subspan(1);
    }
    const uint32_t code = word_ & ((1U << code_bits_) - 1U);
    word_ >>= code_bits_;
    held_ -= code_bits_;
    return code;
  }

  /// Pushes the indices of a code onto the stack, the last one first.
  void take_code() {
    const uint32_t code = next_code();
    if (code == clear_) return start_again();
    if (code == clear_ + 1) too_few();
    const bool is_first = previous_ == kNone;
    if (code > defined_ || (is_first && code >= clear_)) throw DataError("damaged GIF: an undefined code");
    uint32_t rest = code;
    if (code == defined_) {  // the indices of the previous code, and the first of them again
      stack_[pending_++] = first_;
      rest = previous_;
    }
    for (; rest >= clear_; rest = before_[rest]) stack_[pending_++] = last_[rest];
    stack_[pending_++] = static_cast<uint8_t>(rest);
    first_ = static_cast<uint8_t>(rest);
    if (!is_first) define();
    previous_ = code;
  }

  void define() {
    if (defined_ == 1U << kMostBits) return;
    before_[defined_] = previous_;
    last_[defined_] = first_;
    ++defined_;
    if (defined_ == 1U << code_bits_ && code_bits_ < kMostBits) ++code_bits_;
  }

  uint32_t clear_;  // this code and the end code after it have no indices
  std::span<const uint8_t> block_;
  std::function<std::span<const uint8_t>()> next_block_;
  uint32_t word_ = 0;
  unsigned held_ = 0;  // bits in it
  unsigned code_bits_ = 0;
  uint32_t defined_ = 0;  // codes
  uint32_t previous_ = kNone;
  uint8_t first_ = 0;  // index of the previous code
  std::array<uint32_t, 1U << kMostBits>
      before_{};  // a code means: the indices of this code, then the index in last_
  std::array<uint8_t, 1U << kMostBits> last_{};
  /// Stack of indices. Each code has one more index than an earlier code, so there is room.
  std::array<uint8_t, (1U << kMostBits) + 1> stack_{};
  size_t pending_ = 0;
};

}  // namespace tpack
