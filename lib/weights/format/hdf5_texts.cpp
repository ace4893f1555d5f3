#include "weights/format/hdf5_texts.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {
namespace {

constexpr size_t kMostWork = 20'000'000;  // a file could name the same parts again and again
constexpr size_t kMostTexts = 100'000;
constexpr size_t kMostTextBytes = 4096;
constexpr uint64_t kContinuation = 0x10;
constexpr uint64_t kAttribute = 0x0C;

uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

/// A part of the file. Reading past its end is an error.
struct Hdf5Texts::Bytes {
  std::string_view all;
  const std::string& path;
  uint64_t at = 0;

  std::string_view text(uint64_t length) {
    if (length > all.size() - at) throw DataError(path, "is damaged: an attribute ends early");
    const std::string_view part = all.substr(at, length);
    at += length;
    return part;
  }
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    const std::string_view part = text(bytes);
    for (size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<uint8_t>(part[i]);
    return value;
  }
  uint64_t left() const { return all.size() - at; }
};

Hdf5Texts::Bytes Hdf5Texts::part(uint64_t address, uint64_t length) const {
  if (address > bytes_.size() || length > bytes_.size() - address)
    throw DataError(path_, "is damaged: it names a part beyond its end");
  const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + address;
  return {{begin, static_cast<size_t>(length)}, path_};
}

void Hdf5Texts::count_work() {
  if (++work_ > kMostWork) throw DataError(path_, "is damaged: its attributes repeat each other");
}

std::optional<std::vector<std::string>> Hdf5Texts::find(uint64_t header, std::string_view name) {
  return part(header, 4).all == "OHDR" ? in_new_header(header, name) : in_old_header(header, name);
}

std::optional<std::vector<std::string>> Hdf5Texts::in_old_header(uint64_t header, std::string_view name) {
  constexpr uint64_t kPrefix = 16;
  Bytes prefix = part(header, kPrefix);
  if (prefix.number(1) != 1) return std::nullopt;
  prefix.text(7);
  std::vector<Bytes> blocks = {part(header + kPrefix, prefix.number(4))};
  for (size_t b = 0; b < blocks.size(); ++b) {
    while (blocks[b].left() >= 8) {
      count_work();
      const uint64_t type = blocks[b].number(2);
      const uint64_t size = blocks[b].number(2);
      const uint64_t flags = blocks[b].number(1);
      blocks[b].text(3);
      const std::string_view message = blocks[b].text(size);
      if (type == kContinuation) {
        Bytes place{message, path_};
        const uint64_t at = place.number(8);
        blocks.push_back(part(at, place.number(8)));
      }
      if (type != kAttribute || (flags & 2U) != 0) continue;
      if (auto found = in_attribute(message, name)) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> Hdf5Texts::in_new_header(uint64_t header, std::string_view name) {
  constexpr uint64_t kMostPrefix = 34;
  constexpr uint64_t kSumBytes = 4;
  const uint64_t there = bytes_.size() - std::min<uint64_t>(header, bytes_.size());
  Bytes prefix = part(header, std::min(kMostPrefix, there));
  prefix.text(4);
  if (prefix.number(1) != 2) return std::nullopt;
  const uint64_t flags = prefix.number(1);
  prefix.text(((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0));
  const uint64_t size = prefix.number(size_t{1} << (flags & 3U));
  const uint64_t prefix_of_message = (flags & 4U) != 0 ? 6 : 4;
  std::vector<Bytes> blocks = {part(header + prefix.at, size)};
  for (size_t b = 0; b < blocks.size(); ++b) {
    while (blocks[b].left() >= prefix_of_message) {
      count_work();
      const uint64_t type = blocks[b].number(1);
      const uint64_t length = blocks[b].number(2);
      const uint64_t shared = blocks[b].number(1);
      blocks[b].text(prefix_of_message - 4);
      const std::string_view message = blocks[b].text(length);
      if (type == kContinuation) {
        Bytes place{message, path_};
        const uint64_t at = place.number(8);
        Bytes block = part(at, place.number(8));
        if (block.left() < 2 * kSumBytes) throw DataError(path_, "is damaged: a header ends early");
        block.all =
            block.all.substr(kSumBytes, block.all.size() - 2 * kSumBytes);  // without OCHK and the sum
        blocks.push_back(block);
      }
      if (type != kAttribute || (shared & 2U) != 0) continue;
      if (auto found = in_attribute(message, name)) return found;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> Hdf5Texts::in_attribute(std::string_view message,
                                                                std::string_view name) {
  Bytes in{message, path_};
  const uint64_t version = in.number(1);
  const uint64_t flags = in.number(1);
  if (version < 1 || version > 3 || (version > 1 && (flags & 3U) != 0)) return std::nullopt;
  const uint64_t name_bytes = in.number(2);
  const uint64_t type_bytes = in.number(2);
  const uint64_t space_bytes = in.number(2);
  if (version == 3) in.text(1);  // the encoding
  const auto take = [&](uint64_t bytes) {
    const std::string_view taken = in.text(bytes);
    if (version == 1) in.text(padded(bytes) - bytes);
    return taken;
  };
  const std::string_view own = take(name_bytes);
  if (own.substr(0, own.find('\0')) != name) return std::nullopt;
  const std::string_view type = take(type_bytes);
  const std::string_view space = take(space_bytes);
  constexpr int kString = 3;
  constexpr int kVariable = 9;
  Bytes kind{type, path_};
  const uint64_t type_class = kind.number(1) & 0xFU;
  const bool is_string = type_class == kString || (type_class == kVariable && (kind.number(1) & 0xFU) == 1);
  if (!is_string) return std::nullopt;
  return values(type, space, in.text(in.left()));
}

std::vector<std::string> Hdf5Texts::values(std::string_view type, std::string_view space,
                                           std::string_view data) {
  Bytes kind{type, path_};
  const bool is_fixed = (kind.number(1) & 0xFU) == 3;
  kind.text(3);
  const uint64_t size = kind.number(4);
  Bytes extent{space, path_};
  const uint64_t version = extent.number(1);
  const uint64_t rank = extent.number(1);
  const uint64_t flags = extent.number(1);
  static_cast<void>(flags);
  const bool is_null = extent.number(1) == 2 && version == 2;
  if (version == 1) extent.text(4);
  uint64_t count = is_null ? 0 : 1;
  for (uint64_t axis = 0; axis < rank && count > 0; ++axis) {
    const uint64_t length = extent.number(8);
    if (length > kMostTexts || count * length > kMostTexts)
      throw DataError(path_, "is damaged: an attribute declares too many texts");
    count *= length;
  }
  std::vector<std::string> texts;
  Bytes in{data, path_};
  for (uint64_t i = 0; i < count; ++i) {
    if (is_fixed) {
      const std::string_view text = in.text(size);
      texts.emplace_back(text.substr(0, std::min(text.find('\0'), kMostTextBytes)));
    } else {
      const uint64_t length = in.number(4);
      const uint64_t address = in.number(8);
      texts.push_back(in_heap(address, in.number(4), length));
    }
  }
  return texts;
}

std::string Hdf5Texts::in_heap(uint64_t address, uint64_t index, uint64_t length) {
  if (length == 0) return "";
  const auto [known, is_new] = heaps_.try_emplace(address);
  Heap& heap = known->second;
  if (is_new) {
    constexpr uint64_t kHeapPrefix = 16;
    Bytes prefix = part(address, kHeapPrefix);
    if (prefix.text(4) != "GCOL") throw DataError(path_, "is damaged: it names a heap that is none");
    prefix.text(4);
    const uint64_t size = prefix.number(8);
    if (size < kHeapPrefix) throw DataError(path_, "is damaged: a heap without a size");
    Bytes objects = part(address, size);
    objects.text(kHeapPrefix);
    while (objects.left() >= kHeapPrefix) {
      count_work();
      const uint64_t number = objects.number(2);
      objects.text(6);
      const uint64_t bytes = objects.number(8);
      if (number == 0) break;  // the free space
      heap.emplace(number, objects.text(bytes));
      objects.text(std::min(padded(bytes) - bytes, objects.left()));
    }
  }
  count_work();
  const auto object = heap.find(index);
  if (object == heap.end() || object->second.size() < length || length > kMostTextBytes)
    throw DataError(path_, "is damaged: an attribute names a text that is not there");
  const std::string_view text = object->second.substr(0, length);
  return std::string(text.substr(0, text.find('\0')));
}

}  // namespace tpack
