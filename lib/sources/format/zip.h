#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tpack {

/// A file in a ZIP archive.
struct ZipEntry {
  std::string name;
  std::span<const uint8_t> packed;  // its bytes in the archive
  uint64_t size = 0;                // unpacked
  uint32_t crc = 0;                 // of the unpacked bytes
  bool is_deflated = false;         // else stored uncompressed
};

/// The files in an archive, in the order of its directory; also for archives of more than 4 GB. Folders are
/// skipped. Errors: DataError with `path` if the archive is damaged, ends early, has several parts, or has a
/// file that is encrypted or neither stored nor deflated.
std::vector<ZipEntry> read_zip(std::span<const uint8_t> archive, const std::string& path);

/// Bytes in memory with their owner.
struct OwnedBytes {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

/// The content of a file in an archive: a window of the archive (which `archive` keeps alive) if it is
/// stored. Errors: DataError with `path` and the file's name if it is damaged.
OwnedBytes unpack_zip_entry(const ZipEntry& entry, const std::shared_ptr<const void>& archive,
                            const std::string& path);

}  // namespace tpack
