#include "sources/format/tar_gz.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "table/unpacked_file.h"

namespace tpack {
namespace {

constexpr size_t kTarBlock = 512;

/// The bytes of an archive, unpacked piece by piece.
class TarBytes {
 public:
  explicit TarBytes(const std::string& path) : file_(path) {}

  /// Calls `take` with the next bytes until `count` are read. False if the file ends before.
  template <class Take>
  bool read(uint64_t count, const Take& take) {
    while (count > 0) {
      if (piece_.empty()) piece_ = file_.next(size_t{1} << 20U);
      if (piece_.empty()) return false;
      const auto part = piece_.substr(0, std::min<uint64_t>(count, piece_.size()));
      take(part);
      piece_.remove_prefix(part.size());
      count -= part.size();
    }
    return true;
  }

 private:
  UnpackedFile file_;
  std::string_view piece_;
};

std::string_view tar_field(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

uint64_t tar_number(std::string_view field, const std::string& path) {
  const std::string_view digits = trim(field);
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value, 8);
  if (failure != std::errc{} || stop != end) throw DataError(path, "is not a tar archive, or is damaged");
  return value;
}

/// Errors: DataError if the sum of the header's bytes, with spaces for the sum itself, is another one.
void check_tar_sum(std::string_view header, const std::string& path) {
  uint64_t sum = uint64_t{8} * ' ';
  for (size_t i = 0; i < header.size(); ++i)
    if (i < 148 || i >= 156) sum += static_cast<uint8_t>(header[i]);
  if (sum != tar_number(tar_field(header, 148, 8), path))
    throw DataError(path, "is not a tar archive, or is damaged");
}

}  // namespace

std::map<std::string, std::vector<uint8_t>> read_tar_gz(const std::string& path,
                                                        const std::function<bool(std::string_view)>& wanted,
                                                        size_t most_bytes) {
  TarBytes bytes(path);
  std::map<std::string, std::vector<uint8_t>> files;
  const auto read = [&](uint64_t count, const auto& take) {
    if (!bytes.read(count, take)) throw DataError(path, "ends early");
  };
  while (true) {
    std::string header;
    const bool is_there = bytes.read(kTarBlock, [&](std::string_view part) { header += part; });
    if (header.empty() && !files.empty()) break;  // some programs write no empty block at the end
    if (!is_there) throw DataError(path, "ends early");
    if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) break;
    check_tar_sum(header, path);
    const uint64_t size = tar_number(tar_field(header, 124, 12), path);
    const std::string_view full = tar_field(header, 0, 100);
    const std::string name = valid_utf8(full.substr(full.rfind('/') + 1));
    const bool is_file = header[156] == '0' || header[156] == '\0';
    const uint64_t padding = (kTarBlock - size % kTarBlock) % kTarBlock;
    if (is_file && wanted(name)) {
      if (size > most_bytes)
        throw DataError(path, "has '" + name + "' of " + std::to_string(size) + " bytes");
      most_bytes -= size;
      if (files.contains(name)) throw DataError(path, "has two files '" + name + "'");
      std::vector<uint8_t>& content = files[name];
      read(size, [&](std::string_view part) { content.insert(content.end(), part.begin(), part.end()); });
    } else {
      read(size, [](std::string_view) {});
    }
    read(padding, [](std::string_view) {});
  }
  return files;
}

}  // namespace tpack
