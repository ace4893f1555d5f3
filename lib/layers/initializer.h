#pragma once

#include "core/registry.h"
#include "nn/initializers.h"

namespace tpack {

/// Makes the function that fills a new variable.
/// Threads: const.
class Initializer {
 public:
  static constexpr const char* kKind = "initializer";
  virtual ~Initializer() = default;
  virtual Initialize make(nn::Fans fans) const = 0;
};

/// A layer's field in the form for functions of nn; empty if it is not set.
inline nn::InitializeFor initializer_of(const Part<Initializer>& given) {
  if (!given) return {};
  return [given](nn::Fans fans) { return given->make(fans); };
}

}  // namespace tpack
