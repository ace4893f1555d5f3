#include "sources/format/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

/// Where the fields of a header are.
struct TarField {
  size_t begin;
  size_t size;
};
constexpr TarField kName{0, 100};
constexpr TarField kMode{100, 8};
constexpr TarField kOwner{108, 8};
constexpr TarField kGroup{116, 8};
constexpr TarField kSize{124, 12};
constexpr TarField kTime{136, 12};
constexpr TarField kChecksum{148, 8};
constexpr TarField kType{156, 1};
constexpr TarField kUstar{257, 8};
constexpr TarField kPrefix{345, 155};

constexpr uint64_t kMostText = uint64_t{1} << 20U;  // of a long name or of a pax header

std::string_view text_of(const TarBlock& block, TarField field) {
  const std::string_view all(block.data() + field.begin, field.size);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

/// Digits in base 8, or, if the first bit is set, a binary number (GNU). Nothing if it is neither.
std::optional<uint64_t> tar_number(const TarBlock& block, TarField field) {
  const auto first = static_cast<uint8_t>(block[field.begin]);
  if (first == 0x80) {
    uint64_t value = 0;
    for (size_t i = 1; i < field.size; ++i) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | static_cast<uint8_t>(block[field.begin + i]);
    }
    return value;
  }
  const std::string_view digits = trim(text_of(block, field));
  if (digits.empty()) return 0;
  uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (failure != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// The sum of the bytes, with spaces in place of the checksum itself.
uint64_t tar_checksum(const TarBlock& block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool is_own = i >= kChecksum.begin && i < kChecksum.begin + kChecksum.size;
    sum += is_own ? ' ' : static_cast<uint8_t>(block[i]);
  }
  return sum;
}

/// What the headers before a file say about it.
struct PaxValues {
  std::string path;
  std::optional<uint64_t> size;
  bool is_sparse = false;

  /// Adds the content of a header of type x, or L, a long name. False if it is damaged.
  bool add(char type, std::string_view text) {
    if (type == 'L') path = text.substr(0, text.find('\0'));
    return type == 'L' || add_pax(text);
  }

 private:
  /// "LENGTH KEY=VALUE\n" each.
  bool add_pax(std::string_view text) {
    while (!text.empty()) {
      size_t length = 0;
      const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto digits = static_cast<size_t>(stop - text.data());
      if (failure != std::errc{} || length > text.size() || length < digits + 2 || text[digits] != ' ' ||
          text[length - 1] != '\n')
        return false;
      const std::string_view line = text.substr(digits + 1, length - digits - 2);
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos || !set(line.substr(0, equals), line.substr(equals + 1)))
        return false;
      text.remove_prefix(length);
    }
    return true;
  }
  bool set(std::string_view key, std::string_view value) {
    if (key == "path") path = value;
    if (key.starts_with("GNU.sparse.")) is_sparse = true;
    if (key != "size") return true;
    uint64_t number = 0;
    const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
    size = number;
    return wrong == std::errc{} && end == value.data() + value.size();
  }
};

std::string name_in(const TarBlock& block) {
  const std::string name(text_of(block, kName));
  const bool has_prefix = std::string_view(block.data() + kUstar.begin, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = has_prefix ? text_of(block, kPrefix) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

void put_field(TarBlock& block, TarField field, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), field.size), block.data() + field.begin);
}

/// `digits` digits in base 8.
std::string octal(uint64_t value, size_t digits) {
  std::string text(digits, '0');
  for (size_t i = digits; i-- > 0; value /= 8) text[i] = static_cast<char>('0' + value % 8);
  return text;
}

std::string plain_header(std::string_view name, uint64_t size, char type) {
  TarBlock block{};
  put_field(block, kName, name);
  put_field(block, kMode, "0000644");
  put_field(block, kOwner, "0000000");
  put_field(block, kGroup, "0000000");
  put_field(block, kSize, octal(size, kSize.size - 1));
  put_field(block, kTime, octal(0, kTime.size - 1));
  put_field(block, kType, std::string_view(&type, 1));
  put_field(block, kUstar, std::string_view("ustar\00000", 8));
  put_field(block, kChecksum, octal(tar_checksum(block), kChecksum.size - 2));
  block[kChecksum.begin + kChecksum.size - 1] = ' ';
  return {block.data(), block.size()};
}

std::string pax_line(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;  // ' ', '=' and '\n'
  size_t length = rest + std::to_string(rest).size();
  length = rest + std::to_string(length).size();
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

}  // namespace

TarWalk::TarWalk(ReadAt read, std::string where, uint64_t begin, std::optional<uint64_t> end)
    : read_(std::move(read)), where_(std::move(where)), at_(begin), end_(end) {}

void TarWalk::reject(uint64_t at, const std::string& why) const {
  throw DataError(where_, "at byte " + with_thousands(static_cast<int64_t>(at)) + ": " + why);
}

std::string TarWalk::content(uint64_t at, uint64_t size) const {
  if (size > kMostText) reject(at, "a name of " + human_bytes(size) + "; at most 1 MB are supported");
  std::string text(size, '\0');
  if (read_(at, text.data(), text.size()) < text.size()) reject(at, "the archive ends within a name");
  return text;
}

bool TarWalk::read_header(TarBlock& block, bool may_end) const {
  if (end_ && at_ >= *end_) return false;
  const size_t got = read_(at_, block.data(), block.size());
  if (got == 0 && at_ > 0 && may_end) return false;  // some programs write no blocks at the end
  if (got < block.size()) reject(at_, "the archive ends within a header; copy it again");
  if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) {
    if (!may_end) reject(at_, "the archive ends after a header for a name");
    return false;
  }
  const auto checksum = tar_number(block, kChecksum);
  if (!checksum || *checksum != tar_checksum(block))
    reject(at_, at_ == 0 ? "is not a tar archive" : "a damaged header");
  return true;
}

std::optional<TarMember> TarWalk::next() {
  constexpr uint64_t kMost = uint64_t{1} << 62U;
  std::optional<uint64_t> first;  // header of the next file
  PaxValues pax;
  TarBlock block{};
  while (read_header(block, !first)) {
    const auto own_size = tar_number(block, kSize);
    const uint64_t size = pax.size.value_or(own_size.value_or(kMost));
    if (!own_size || size >= kMost) reject(at_, "a damaged header");
    const char type = block[kType.begin];
    const uint64_t data = at_ + kTarBlock;
    if (type == 'x' || type == 'L') {
      if (!pax.add(type, content(data, *own_size))) reject(at_, "a damaged pax header");
      first = first.value_or(at_);
      at_ = data + *own_size + tar_padding(*own_size);
      continue;
    }
    if (type == 'S' || pax.is_sparse) reject(at_, "a sparse file, which is not supported");
    if (type == 'M') reject(at_, "the rest of a file of another archive, which is not supported");
    TarMember member{.name = pax.path.empty() ? name_in(block) : pax.path,
                     .header = first.value_or(at_),
                     .data = data,
                     .size = size,
                     .end = data + size + tar_padding(size)};
    const bool is_file = type == '0' || type == '\0' || type == '7';
    const bool is_comment = type == 'g' || type == 'K';  // or the long target of a link
    at_ = is_file || is_comment ? member.end : data;
    if (is_comment) continue;
    pax = {};
    first.reset();
    if (!is_file || member.name.ends_with('/')) continue;
    char last = 0;
    if (size > 0 && read_(data + size - 1, &last, 1) != 1)
      reject(member.header, "the archive ends within '" + printable(member.name) + "'; copy it again");
    return member;
  }
  return std::nullopt;
}

std::string tar_header(const std::string& name, uint64_t size) {
  constexpr uint64_t kMostSize = uint64_t{1} << 33U;  // 11 digits in base 8
  std::string pax;
  if (name.size() > kName.size) pax += pax_line("path", name);
  if (size >= kMostSize) pax += pax_line("size", std::to_string(size));
  std::string own = plain_header(name.substr(0, kName.size), size < kMostSize ? size : 0, '0');
  if (pax.empty()) return own;
  return plain_header("pax", pax.size(), 'x') + pax + std::string(tar_padding(pax.size()), '\0') + own;
}

}  // namespace tpack
