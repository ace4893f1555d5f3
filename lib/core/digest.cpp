#include "core/digest.h"

#include <array>
#include <cstdio>

#include <xxhash.h>

namespace tpack {

struct Digest::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash{XXH3_createState(), XXH3_freeState};
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash.get()); }

Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  XXH3_128bits_update(state_->hash.get(), bytes.data(), bytes.size());
}

std::array<uint64_t, 2> Digest::words() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->hash.get());
  return {hash.high64, hash.low64};
}

std::string Digest::text() const {
  const auto [high, low] = words();
  std::array<char, kDigits + 1> out{};
  std::snprintf(out.data(), out.size(), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return out.data();
}

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

}  // namespace tpack
