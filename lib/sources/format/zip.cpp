#include "sources/format/zip.h"

#include <algorithm>

#include <libdeflate.h>

#include "core/error.h"
#include "tensor/memory.h"

// Source: PKWARE's APPNOTE.TXT 6.3. libzip could do this, but it loads four libraries for encryption and
// other compressions each time tpack starts.
namespace tpack {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kDirectorySignature = 0x02014b50;
constexpr uint32_t kFileSignature = 0x04034b50;
constexpr uint32_t kSaturated = 0xFFFFFFFF;  // the number is in a 64-bit extra field
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kEnd64Size = 56;
constexpr size_t kDirectoryEntrySize = 46;
constexpr size_t kFileHeaderSize = 30;

/// The bytes of an archive. Reading past their end is an error.
class ZipBytes {
 public:
  ZipBytes(std::span<const uint8_t> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  size_t size() const { return bytes_.size(); }
  std::span<const uint8_t> part(uint64_t at, uint64_t length) const {
    if (at > bytes_.size() || length > bytes_.size() - at) reject("ends early, or is damaged");
    return bytes_.subspan(static_cast<size_t>(at), static_cast<size_t>(length));
  }
  uint64_t number(uint64_t at, size_t length) const {
    const auto bytes = part(at, length);  // little-endian
    uint64_t value = 0;
    for (size_t i = length; i-- > 0;) value = value << 8U | bytes[i];
    return value;
  }
  uint16_t u16(uint64_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(uint64_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(uint64_t at) const { return number(at, 8); }
  std::string text(uint64_t at, uint64_t length) const {
    const auto bytes = part(at, length);
    return {bytes.begin(), bytes.end()};
  }
  [[noreturn]] void reject(const std::string& why) const { throw DataError(path_, why); }

 private:
  std::span<const uint8_t> bytes_;
  std::string path_;
};

/// Where the directory of an archive is.
struct ZipDirectory {
  uint64_t at = 0;
  uint64_t entries = 0;
};

/// The last record of an archive; a comment of up to 64 KB may follow it.
uint64_t find_end(const ZipBytes& zip) {
  if (zip.size() < kEndSize) zip.reject("is not a ZIP archive (" + std::to_string(zip.size()) + " bytes)");
  const uint64_t last = zip.size() - kEndSize;
  const uint64_t first = last - std::min<uint64_t>(last, 0xFFFF);
  for (uint64_t at = last + 1; at-- > first;) {
    if (zip.u32(at) == kEndSignature) return at;
  }
  zip.reject("is not a ZIP archive, or ends early");
}

ZipDirectory find_directory(const ZipBytes& zip) {
  const uint64_t end = find_end(zip);
  ZipDirectory directory{zip.u32(end + 16), zip.u16(end + 10)};
  const bool is_large = directory.at == kSaturated || directory.entries == 0xFFFF;
  if (!is_large || end < kLocator64Size || zip.u32(end - kLocator64Size) != kLocator64Signature)
    return directory;
  const uint64_t end64 = zip.u64(end - kLocator64Size + 8);
  zip.part(end64, kEnd64Size);
  if (zip.u32(end64) != kEnd64Signature) zip.reject("is damaged: its directory was not found");
  return {zip.u64(end64 + 48), zip.u64(end64 + 32)};
}

/// The 64-bit numbers in an entry's extra field of type 1, in order.
class Zip64Numbers {
 public:
  Zip64Numbers(const ZipBytes& zip, uint64_t at, uint64_t length) : zip_(zip) {
    const uint64_t end = at + length;
    while (at + 4 <= end) {
      const uint64_t size = zip.u16(at + 2);
      if (zip.u16(at) == 1) {
        at_ = at + 4;
        left_ = std::min(size, end - at_);
        return;
      }
      at += 4 + size;
    }
  }
  /// `small`, or the next number if it did not fit there.
  uint64_t full(uint32_t small) {
    if (small != kSaturated) return small;
    if (left_ < 8) zip_.reject("is damaged: a size is missing");
    left_ -= 8;
    at_ += 8;
    return zip_.u64(at_ - 8);
  }

 private:
  const ZipBytes& zip_;
  uint64_t at_ = 0;
  uint64_t left_ = 0;
};

/// Reads the entry of the directory at `at`; moves `at` to the next one.
ZipEntry read_entry(const ZipBytes& zip, uint64_t& at) {
  zip.part(at, kDirectoryEntrySize);
  if (zip.u32(at) != kDirectorySignature) zip.reject("is damaged: its directory is not a list of files");
  const uint16_t flags = zip.u16(at + 8);
  const uint16_t method = zip.u16(at + 10);
  const uint64_t name_length = zip.u16(at + 28);
  const uint64_t extra_length = zip.u16(at + 30);
  ZipEntry entry;
  entry.name = zip.text(at + kDirectoryEntrySize, name_length);
  entry.crc = zip.u32(at + 16);
  Zip64Numbers large(zip, at + kDirectoryEntrySize + name_length, extra_length);
  entry.size = large.full(zip.u32(at + 24));  // in the order of the extra field
  const uint64_t packed = large.full(zip.u32(at + 20));
  const uint64_t header = large.full(zip.u32(at + 42));
  at += kDirectoryEntrySize + name_length + extra_length + zip.u16(at + 32);
  constexpr uint16_t kDeflated = 8;
  entry.is_deflated = method == kDeflated;
  if ((flags & 1U) != 0) zip.reject("'" + entry.name + "' is encrypted");
  if (method != 0 && method != kDeflated) {
    zip.reject("'" + entry.name + "' is compressed by method " + std::to_string(method) +
               "; supported are stored and deflated files");
  }
  zip.part(header, kFileHeaderSize);
  if (zip.u32(header) != kFileSignature) zip.reject("is damaged: '" + entry.name + "' was not found");
  entry.packed = zip.part(header + kFileHeaderSize + zip.u16(header + 26) + zip.u16(header + 28), packed);
  if (!entry.is_deflated && entry.size != packed)
    zip.reject("is damaged: the sizes of '" + entry.name + "' differ");
  return entry;
}

struct FreeInflater {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

}  // namespace

std::vector<ZipEntry> read_zip(std::span<const uint8_t> archive, const std::string& path) {
  const ZipBytes zip(archive, path);
  const ZipDirectory directory = find_directory(zip);
  if (directory.entries > archive.size() / kDirectoryEntrySize) zip.reject("ends early, or is damaged");
  std::vector<ZipEntry> entries;
  uint64_t at = directory.at;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    ZipEntry entry = read_entry(zip, at);
    packed += entry.packed.size();
    if (packed > archive.size()) zip.reject("is damaged: its files overlap");
    if (!entry.name.ends_with('/')) entries.push_back(std::move(entry));
  }
  return entries;
}

OwnedBytes unpack_zip_entry(const ZipEntry& entry, const std::shared_ptr<const void>& archive,
                            const std::string& path) {
  const auto reject = [&] {
    throw DataError(path, "'" + entry.name + "' is damaged: its content does not match its checksum");
  };
  OwnedBytes content{entry.packed, archive};
  if (entry.is_deflated) {
    constexpr uint64_t kMaxPerByte = 1032;  // of deflate, so a false size costs no memory
    if (entry.size > (entry.packed.size() + 1) * kMaxPerByte) reject();
    const auto block = Storage::allocate(std::max<size_t>(entry.size, 1));
    const std::unique_ptr<libdeflate_decompressor, FreeInflater> tool(libdeflate_alloc_decompressor());
    size_t written = 0;
    const auto result = libdeflate_deflate_decompress(tool.get(), entry.packed.data(), entry.packed.size(),
                                                      block->data(), entry.size, &written);
    if (result != LIBDEFLATE_SUCCESS || written != entry.size) reject();
    content = {{reinterpret_cast<const uint8_t*>(block->data()), written}, block};
  }
  if (libdeflate_crc32(0, content.bytes.data(), content.bytes.size()) != entry.crc) reject();
  return content;
}

}  // namespace tpack
