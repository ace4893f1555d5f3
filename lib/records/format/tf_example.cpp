#include "records/format/tf_example.h"

#include <cstring>
#include <limits>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t kBytesList = 1;
constexpr uint32_t kFloatList = 2;
constexpr uint32_t kIntegerList = 3;

[[noreturn]] void damaged_example() { throw DataError("a record that is damaged, or not a tf.Example"); }

/// A message of protobuf, field by field; the contents of fields are windows of it.
class Message {
 public:
  explicit Message(std::span<const uint8_t> bytes)
      : bytes_(bytes), stream_(bytes.data(), static_cast<int>(bytes.size())) {}

  /// False at the end.
  bool next() {
    tag_ = stream_.ReadTag();
    if (tag_ == 0 && !stream_.ConsumedEntireMessage()) damaged_example();
    return tag_ != 0;
  }
  uint32_t field() const { return tag_ >> 3U; }
  bool is_bytes() const { return type() == WireFormatLite::WIRETYPE_LENGTH_DELIMITED; }
  bool is_float() const { return type() == WireFormatLite::WIRETYPE_FIXED32; }
  bool is_integer() const { return type() == WireFormatLite::WIRETYPE_VARINT; }

  std::span<const uint8_t> bytes() {
    int size = 0;
    if (!stream_.ReadVarintSizeAsInt(&size)) damaged_example();
    const auto begin = static_cast<size_t>(stream_.CurrentPosition());
    if (!stream_.Skip(size) || begin + static_cast<size_t>(size) > bytes_.size()) damaged_example();
    return bytes_.subspan(begin, static_cast<size_t>(size));
  }
  uint32_t fixed32() {
    uint32_t value = 0;
    if (!stream_.ReadLittleEndian32(&value)) damaged_example();
    return value;
  }
  int64_t integer() {
    uint64_t value = 0;
    if (!stream_.ReadVarint64(&value)) damaged_example();
    return static_cast<int64_t>(value);
  }
  void skip() {
    if (!WireFormatLite::SkipField(&stream_, tag_)) damaged_example();
  }

 private:
  uint32_t type() const { return tag_ & 7U; }

  std::span<const uint8_t> bytes_;
  CodedInputStream stream_;
  uint32_t tag_ = 0;
};

template <class T>
void append(std::vector<uint8_t>& to, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

void append_integers(std::span<const uint8_t> packed, std::vector<uint8_t>& to) {
  CodedInputStream stream(packed.data(), static_cast<int>(packed.size()));
  while (static_cast<size_t>(stream.CurrentPosition()) < packed.size()) {
    uint64_t value = 0;
    if (!stream.ReadVarint64(&value)) damaged_example();
    append(to, value);
  }
}

/// The numbers of a list: packed floats as they lie in the message, others in memory of the fields.
std::span<const uint8_t> numbers_of(std::span<const uint8_t> list, uint32_t kind, RecordFields& fields) {
  std::span<const uint8_t> in_place;
  std::vector<uint8_t>* copied = nullptr;
  const auto copy = [&]() -> std::vector<uint8_t>& {
    if (copied == nullptr) {
      copied = &fields.bytes(0);
      copied->assign(in_place.begin(), in_place.end());
    }
    return *copied;
  };
  Message message(list);
  while (message.next()) {
    if (message.field() != 1) {
      message.skip();
    } else if (kind == kIntegerList && message.is_integer()) {
      append(copy(), message.integer());
    } else if (kind == kIntegerList && message.is_bytes()) {
      append_integers(message.bytes(), copy());
    } else if (kind == kFloatList && message.is_float()) {
      append(copy(), message.fixed32());
    } else if (kind == kFloatList && message.is_bytes()) {
      const auto packed = message.bytes();
      if (packed.size() % sizeof(float) != 0) damaged_example();
      if (in_place.empty() && copied == nullptr) {
        in_place = packed;
      } else {
        std::vector<uint8_t>& all = copy();
        all.insert(all.end(), packed.begin(), packed.end());
      }
    } else {
      damaged_example();
    }
  }
  return copied != nullptr ? std::span<const uint8_t>(*copied) : in_place;
}

RecordValue value_of_feature(std::span<const uint8_t> feature, RecordFields& fields) {
  RecordValue value{.what = "nothing"};
  Message message(feature);
  while (message.next()) {
    const uint32_t kind = message.field();
    if (kind > kIntegerList || !message.is_bytes()) {
      message.skip();
      continue;
    }
    const auto list = message.bytes();
    value = {};
    if (kind != kBytesList) {
      value.kind = RecordValue::Kind::kArray;
      value.type = npy_type(kind == kFloatList ? "<f4" : "<i8");
      value.bytes = numbers_of(list, kind, fields);
      const auto count = static_cast<int64_t>(value.bytes.size() / value.type->bytes);
      value.shape = count == 1 ? Shape() : Shape({count});
      continue;
    }
    int64_t texts = 0;
    Message texts_of_list(list);
    while (texts_of_list.next()) {
      if (texts_of_list.field() != 1 || !texts_of_list.is_bytes()) damaged_example();
      value.bytes = texts_of_list.bytes();
      ++texts;
    }
    value.kind = texts == 1 ? RecordValue::Kind::kBytes : RecordValue::Kind::kOther;
    if (texts != 1) value.what = "a list of " + with_thousands(texts) + " texts";
  }
  return value;
}

/// The numbers of all steps of a feature list, if each has as many of the same type.
RecordValue value_of_steps(std::span<const uint8_t> list, RecordFields& fields) {
  RecordValue all{.what = "steps without numbers"};
  std::vector<uint8_t>& numbers = fields.bytes(0);
  int64_t steps = 0;
  Message message(list);
  while (message.next()) {
    if (message.field() != 1 || !message.is_bytes()) damaged_example();
    const RecordValue step = value_of_feature(message.bytes(), fields);
    const bool is_like_others = steps == 0 || (step.type == all.type && step.shape == all.shape);
    if (step.kind != RecordValue::Kind::kArray || !is_like_others)
      return {.what = "steps of different sizes, or without numbers"};
    all = step;
    numbers.insert(numbers.end(), step.bytes.begin(), step.bytes.end());
    ++steps;
  }
  if (steps == 0) return all;
  all.bytes = numbers;
  all.shape = all.shape.prepend(steps);
  return all;
}

/// Calls `add` for the name and the value of each entry of a map.
template <class Add>
void for_each_entry(std::span<const uint8_t> map, Add add) {
  Message message(map);
  while (message.next()) {
    if (message.field() != 1 || !message.is_bytes()) {
      message.skip();
      continue;
    }
    std::span<const uint8_t> name;
    std::span<const uint8_t> value;
    Message entry(message.bytes());
    while (entry.next()) {
      if (entry.field() > 2 || !entry.is_bytes()) {
        entry.skip();
        continue;
      }
      (entry.field() == 1 ? name : value) = entry.bytes();
    }
    add(std::string_view(reinterpret_cast<const char*>(name.data()), name.size()), value);
  }
}

void append_varint(std::string& to, uint64_t value) {
  while (value >= 0x80) {
    to += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  to += static_cast<char>(value);
}

/// A field whose content has a length.
void append_bytes(std::string& to, uint32_t field, std::string_view content) {
  append_varint(to, field << 3U | WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  append_varint(to, content.size());
  to += content;
}

}  // namespace

void read_tf_example(std::span<const uint8_t> example, RecordFields& fields) {
  if (example.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    throw DataError("a record of " + human_bytes(example.size()) + "; a tf.Example has at most 2 GB");
  Message message(example);
  while (message.next()) {
    if (message.field() == 1 && message.is_bytes()) {
      for_each_entry(message.bytes(), [&](std::string_view name, std::span<const uint8_t> feature) {
        fields.add(name, value_of_feature(feature, fields));
      });
    } else if (message.field() == 2 && message.is_bytes()) {
      for_each_entry(message.bytes(), [&](std::string_view name, std::span<const uint8_t> list) {
        fields.add(name, value_of_steps(list, fields));
      });
    } else {
      message.skip();
    }
  }
}

void TfExampleWriter::add_feature(std::string_view name, uint32_t kind, std::string_view list) {
  std::string feature;
  append_bytes(feature, kind, list);
  std::string entry;
  append_bytes(entry, 1, name);
  append_bytes(entry, 2, feature);
  append_bytes(features_, 1, entry);
}

void TfExampleWriter::add_bytes(std::string_view name, std::string_view bytes) {
  std::string list;
  append_bytes(list, 1, bytes);
  add_feature(name, kBytesList, list);
}

void TfExampleWriter::add_floats(std::string_view name, std::span<const float> numbers) {
  std::string list;
  append_bytes(list, 1, {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  add_feature(name, kFloatList, list);
}

void TfExampleWriter::add_integers(std::string_view name, std::span<const int64_t> numbers) {
  std::string packed;
  for (const int64_t number : numbers) append_varint(packed, static_cast<uint64_t>(number));
  std::string list;
  append_bytes(list, 1, packed);
  add_feature(name, kIntegerList, list);
}

std::string TfExampleWriter::finish() {
  if (features_.size() > static_cast<size_t>(std::numeric_limits<int>::max()) / 2)
    throw DataError("a sample of " + human_bytes(features_.size()) + "; a tf.Example has at most 2 GB");
  std::string message;
  append_bytes(message, 1, features_);
  features_.clear();
  return message;
}

}  // namespace tpack
