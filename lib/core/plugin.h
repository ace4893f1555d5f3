#pragma once

#include <cstddef>
#include <string>

namespace tpack {

/// Properties that must be equal in tpack and a plugin, because they exchange C++ objects.
struct PluginAbi {
  int version = 0;     // of tpack's headers
  int string_abi = 0;  // of libstdc++'s std::string
  size_t string_bytes = 0;
  const char* compiler = "";  // for messages; compilers may differ

  bool fits(const PluginAbi& other) const {
    return version == other.version && string_abi == other.string_abi && string_bytes == other.string_bytes;
  }
  /// "version 1, string ABI 1 of 32 bytes, compiled by 12.2.0".
  std::string str() const {
    return "version " + std::to_string(version) + ", string ABI " + std::to_string(string_abi) + " of " +
           std::to_string(string_bytes) + " bytes, compiled by " + compiler;
  }
};

/// Raised with every change of the headers that breaks older plugins.
inline constexpr int kPluginVersion = 14;

/// A symbol that only one version of tpack defines. Every registration refers to it, so that a plugin of
/// another version fails to load before any of its code runs.
template <int kVersion>
struct PluginInterface {
  static void needed();
};
template <>
void PluginInterface<kPluginVersion>::needed();

/// The ABI of this build.
inline constexpr PluginAbi kPluginAbi{kPluginVersion, _GLIBCXX_USE_CXX11_ABI, sizeof(std::string),
                                      __VERSION__};

}  // namespace tpack

/// The function that a plugin defines besides its components, in one file:
///   extern "C" const tpack::PluginAbi* tpack_plugin() { return &tpack::kPluginAbi; }
extern "C" __attribute__((visibility("default"))) const tpack::PluginAbi* tpack_plugin();
