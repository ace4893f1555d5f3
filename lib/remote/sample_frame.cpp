#include "remote/sample_frame.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The numbers of nested lists of equal sizes.
struct NumbersOfLists {
  std::vector<int64_t> sizes;
  std::vector<const OrderedJson*> numbers;
  bool are_integers = true;
  bool are_bools = true;

  void add(const OrderedJson& value, size_t level) {
    if (!value.is_array()) {
      if (!value.is_number() && !value.is_boolean())
        throw DataError("a list has something else than numbers");
      if (level != sizes.size()) throw DataError("lists in it have different sizes");
      are_integers = are_integers && (value.is_number_integer() || value.is_boolean());
      are_bools = are_bools && value.is_boolean();
      return numbers.push_back(&value);
    }
    if (level == Shape::kMaxRank) throw DataError("its lists are nested too deeply");
    const auto size = static_cast<int64_t>(value.size());
    if (level == sizes.size() && numbers.empty()) sizes.push_back(size);
    if (level >= sizes.size() || sizes[level] != size) throw DataError("lists in it have different sizes");
    for (const OrderedJson& item : value) add(item, level + 1);
  }
};

/// An integer beyond 64 bits is a float for the parser.
int64_t integer_of(const OrderedJson& number) {
  if (number.is_boolean()) return number.get<bool>() ? 1 : 0;
  if (number.is_number_unsigned() && number.get<uint64_t>() > INT64_MAX)
    throw DataError("the number " + number.dump() + " does not fit into 64 bits");
  return number.get<int64_t>();
}

template <class T>
void append(std::vector<uint8_t>& to, T number) {
  const size_t at = to.size();
  to.resize(at + sizeof number);
  std::memcpy(to.data() + at, &number, sizeof number);
}

void take_numbers(const OrderedJson& json, RecordValue& value, std::vector<uint8_t>& own) {
  NumbersOfLists all;
  all.add(json, 0);
  for (const OrderedJson* number : all.numbers) {
    if (all.are_bools) {
      append(own, static_cast<uint8_t>(number->get<bool>()));
    } else if (all.are_integers) {
      append(own, integer_of(*number));
    } else {
      append(own, number->is_boolean() ? (number->get<bool>() ? 1.0 : 0.0) : number->get<double>());
    }
  }
  const bool are_bools = all.are_bools && !all.numbers.empty();
  value.kind = RecordValue::Kind::kArray;
  value.type = npy_type(are_bools ? "|b1" : all.are_integers ? "<i8" : "<f8");
  value.shape = Shape(all.sizes);
}

/// Product of sizes and bytes per element. Errors: DataError if it is too large.
uint64_t bytes_of(const OrderedJson& sizes, size_t element) {
  uint64_t bytes = element;
  for (const OrderedJson& size : sizes) {
    if (!size.is_number_unsigned()) throw DataError("its 'shape' has something else than sizes");
    const auto one = size.get<uint64_t>();
    if (one > SampleFrame::kMostBytes || (one > 0 && bytes > SampleFrame::kMostBytes / one))
      throw DataError("it has more than 4 GB");
    bytes *= one;
  }
  return bytes;
}

void take_array(const OrderedJson& json, RecordValue& value, uint64_t& bytes) {
  const OrderedJson& dtype = json["dtype"];
  const OrderedJson sizes = json.value("shape", OrderedJson::array());
  const auto is_named = [&](const NpyType& type) { return dtype.is_string() && dtype == type.name; };
  const auto type = std::ranges::find_if(npy_types(), is_named);
  if (type == npy_types().end()) {
    std::vector<std::string> names;
    for (const NpyType& one : npy_types()) names.emplace_back(one.name);
    throw DataError("unknown dtype " + printable(dtype.dump()) + "; one of " + join(names, ", "));
  }
  if (!sizes.is_array() || sizes.size() > Shape::kMaxRank)
    throw DataError("its 'shape' is not a list of up to " + std::to_string(Shape::kMaxRank) + " sizes");
  bytes = bytes_of(sizes, type->bytes);
  value.kind = RecordValue::Kind::kArray;
  value.type = &*type;
  value.shape = Shape(sizes.get<std::vector<int64_t>>());
}

}  // namespace

SampleFrame::SampleFrame(std::string_view line) {
  const OrderedJson root = OrderedJson::parse(line, nullptr, false);
  if (!root.is_object()) {
    constexpr size_t kMostShown = 60;
    throw DataError(
        "expected a line of JSON, such as {\"x\": {\"dtype\": \"float32\", \"shape\": [3]}, \"label\": 2}, "
        "but got '" +
        printable(line.substr(0, kMostShown)) + (line.size() > kMostShown ? "...'" : "'") +
        "; standard output is for samples alone: print everything else to standard error");
  }
  for (const auto& [name, json] : root.items()) {
    Value one{.name = name, .own = std::make_shared<std::vector<uint8_t>>()};
    try {
      if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        one.own->assign(text.begin(), text.end());
        one.value.kind = RecordValue::Kind::kText;
      } else if (json.is_object() && json.contains("bytes") && json["bytes"].is_number_unsigned()) {
        one.value.kind = RecordValue::Kind::kBytes;
        one.bytes = bytes_of(OrderedJson::array({json["bytes"]}), 1);
        one.own.reset();
      } else if (json.is_object() && json.contains("dtype")) {
        take_array(json, one.value, one.bytes);
        one.own.reset();
      } else if (json.is_array() || json.is_number() || json.is_boolean()) {
        take_numbers(json, one.value, *one.own);
      } else {
        throw DataError(
            "a value is a number, a bool, a list of numbers, a text, {\"bytes\": N} or {\"dtype\": "
            "NAME, \"shape\": [...]}");
      }
    } catch (const DataError& error) {
      throw DataError("'" + printable(name) + "': " + error.what());
    }
    following_ += one.bytes;
    if (following_ > kMostBytes) throw DataError("a sample has more than 4 GB");
    values_.push_back(std::move(one));
  }
}

std::vector<uint64_t> SampleFrame::parts() const {
  std::vector<uint64_t> sizes;
  for (const Value& one : values_)
    if (one.own == nullptr) sizes.push_back(one.bytes);
  return sizes;
}

void SampleFrame::add_to(RecordFields& fields, std::span<const uint8_t> following) const {
  std::vector<std::span<const uint8_t>> parts;
  for (const uint64_t size : this->parts()) {
    if (size > following.size()) throw DataError("bytes of a value are missing");
    parts.push_back(following.first(size));
    following = following.subspan(size);
  }
  add_to(fields, parts);
}

void SampleFrame::add_to(RecordFields& fields, std::span<const std::span<const uint8_t>> parts) const {
  size_t part = 0;
  for (const Value& one : values_) {
    RecordValue value = one.value;
    if (one.own != nullptr) {
      value.bytes = *one.own;
    } else {
      if (part == parts.size() || parts[part].size() != one.bytes)
        throw DataError("'" + printable(one.name) + "' has another number of bytes than its shape");
      value.bytes = parts[part++];
    }
    fields.add(one.name, std::move(value));
  }
  if (part != parts.size()) throw DataError("more bytes than its values have");
}

}  // namespace tpack
