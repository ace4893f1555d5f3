#pragma once

#include <cstdint>
#include <utility>

#include "tensor/tensor.h"

namespace tpack {

/// Elements `first`, `first + step`, ... below `end` of a tensor: all elements, or those of one channel.
struct ChannelGroup {
  int64_t first;
  int64_t step;
  int64_t end;

  int64_t size() const { return end / step; }
};

/// Calls `f(in, out, group)` with typed pointers, once for all elements, or once for each channel, which is
/// the last axis of `in`. Shapes: in [..., channels], out same, float32.
template <class F>
void for_each_channel_group(const Tensor& in, const Tensor& out, bool all_channels, F&& f) {
  const int64_t groups = all_channels || in.shape().rank() == 0 ? 1 : in.shape()[-1];
  for (int64_t first = 0; first < groups; ++first)
    visit(in.dtype(), [&](auto zero) {
      f(in.data<decltype(zero)>(), out.data<float>(), ChannelGroup{first, groups, in.elements()});
    });
}

}  // namespace tpack
