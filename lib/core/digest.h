#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tpack {

/// XXH3-128 over bytes in pieces.
class Digest {
 public:
  /// Digits of `text`.
  static constexpr size_t kDigits = 32;

  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::string_view bytes);
  /// The digest of the bytes so far, in lower-case hexadecimal digits.
  std::string text() const;
  /// The same as two numbers, to compare many digests.
  std::array<uint64_t, 2> words() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// XXH3-128 of these bytes, in lower-case hexadecimal digits.
std::string digest_of(std::string_view bytes);

}  // namespace tpack
