#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tpack {

/// A file in a tar archive.
struct TarMember {
  std::string name;
  uint64_t header = 0;  // where its first header begins in the archive
  uint64_t data = 0;    // where its content begins
  uint64_t size = 0;    // of the content, in bytes
  uint64_t end = 0;     // where the next member begins
};

/// Reads bytes of an archive: up to `size` bytes at `offset` into `to`; returns their number, which is less
/// only at its end.
using ReadAt = std::function<size_t(uint64_t offset, void* to, size_t size)>;

constexpr uint64_t kTarBlock = 512;
using TarBlock = std::array<char, kTarBlock>;

/// Walks through the files of an uncompressed tar archive (ustar, with the extensions of GNU and pax for long
/// names and large files). Folders and links are skipped. Nothing but headers is read. Threads: one at a
/// time. Source: POSIX.1-2017, pax; GNU tar manual, "Basic Tar Format".
class TarWalk {
 public:
  /// From `begin`, the header of a member, to the end of the archive, or to `end`. `where`: its path in
  /// messages.
  TarWalk(ReadAt read, std::string where, uint64_t begin = 0, std::optional<uint64_t> end = std::nullopt);

  /// The next file; nothing at the end. Errors: DataError with the position of what is damaged, ends early,
  /// or is not supported (sparse files, members of several archives).
  std::optional<TarMember> next();

 private:
  /// False at the end.
  bool read_header(TarBlock& block, bool may_end) const;
  [[noreturn]] void reject(uint64_t at, const std::string& why) const;
  std::string content(uint64_t at, uint64_t size) const;

  ReadAt read_;
  std::string where_;
  uint64_t at_;
  std::optional<uint64_t> end_;
};

/// The header of a file, 512 bytes; a longer name or size has a pax header before it. `content` of `size`
/// bytes follows, filled with zeros to a multiple of 512. The end of an archive is two blocks of zeros.
std::string tar_header(const std::string& name, uint64_t size);
/// Zeros after a content of `size` bytes.
constexpr uint64_t tar_padding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace tpack
