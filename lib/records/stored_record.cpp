#include "records/stored_record.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "image/format/image_formats.h"
#include "records/format/msgpack.h"
#include "sources/format/pickle.h"

namespace tpack {
namespace {

/// A number, with memory of the fields.
template <class T>
RecordValue scalar(T number, RecordFields& fields) {
  std::vector<uint8_t>& bytes = fields.bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return {.kind = RecordValue::Kind::kArray,
          .bytes = bytes,
          .type = npy_type(std::is_same_v<T, double> ? "<f8" : "<i8")};
}

/// A list of numbers as an array; nothing if it has anything else.
std::optional<RecordValue> array_of_list(const StoredList& list, RecordFields& fields) {
  const bool are_numbers =
      std::ranges::all_of(list.items, [](const StoredValue& v) { return v.number().has_value(); });
  if (!are_numbers || list.items.empty()) return std::nullopt;
  const bool are_integers =
      std::ranges::all_of(list.items, [](const StoredValue& v) { return v.integer().has_value(); });
  std::vector<uint8_t>& bytes = fields.bytes(list.items.size() * sizeof(double));
  for (size_t i = 0; i < list.items.size(); ++i) {
    const int64_t integer = are_integers ? *list.items[i].integer() : 0;
    const double number = *list.items[i].number();
    std::memcpy(bytes.data() + i * sizeof number, are_integers ? static_cast<const void*>(&integer) : &number,
                sizeof number);
  }
  return RecordValue{.kind = RecordValue::Kind::kArray,
                     .bytes = bytes,
                     .type = npy_type(are_integers ? "<i8" : "<f8"),
                     .shape = Shape({std::ssize(list.items)})};
}

RecordValue value_of_stored(const StoredValue& stored, RecordFields& fields) {
  if (const auto integer = stored.integer()) return scalar(*integer, fields);
  if (const auto number = stored.number()) return scalar(*number, fields);
  if (const auto bytes = stored.bytes()) return {.kind = RecordValue::Kind::kBytes, .bytes = *bytes};
  if (const auto text = stored.text())
    return {.kind = RecordValue::Kind::kText,
            .bytes = {reinterpret_cast<const uint8_t*>(text->data()), text->size()}};
  const StoredArray* array = stored.array();
  if (const NpyType* type = array == nullptr ? nullptr : npy_type(array->dtype);
      type != nullptr && array->shape.size() <= Shape::kMaxRank)
    return {.kind = RecordValue::Kind::kArray,
            .bytes = array->data,
            .type = type,
            .shape = Shape(array->shape),
            .is_fortran = array->is_fortran};
  if (stored.list() != nullptr)
    if (auto numbers = array_of_list(*stored.list(), fields)) return std::move(*numbers);
  return {.what = stored.str()};
}

/// The elements of a list by their number, of a dict by their key.
void add_stored(const StoredValue& stored, RecordFields& fields) {
  if (const StoredList* list = stored.list()) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      std::string& name = fields.text();
      name = std::to_string(i);
      fields.add(name, value_of_stored(list->items[i], fields));
    }
  } else if (const StoredDict* dict = stored.dict()) {
    for (const auto& [key, value] : dict->entries)
      if (const auto name = key.text()) fields.add(*name, value_of_stored(value, fields));
  } else {
    fields.add("value", value_of_stored(stored, fields));
  }
}

}  // namespace

RecordForm form_of_record(std::span<const uint8_t> value) {
  if (image_format_of(value) != nullptr) return RecordForm::kRaw;  // a PNG begins like a map of MessagePack
  constexpr uint8_t kProtocol = 0x80;
  constexpr uint8_t kLastProtocol = 5;
  if (value.size() >= 2 && value[0] == kProtocol && value[1] > 0 && value[1] <= kLastProtocol)
    return RecordForm::kPickle;
  const uint8_t first = value.empty() ? 0 : value[0];
  const bool is_list = (first >= 0x90 && first <= 0x9f) || first == 0xdc || first == 0xdd;
  const bool is_map = (first > 0x80 && first <= 0x8f) || first == 0xde || first == 0xdf;
  return is_list || is_map ? RecordForm::kMsgpack : RecordForm::kRaw;
}

void add_stored_record(std::span<const uint8_t> record, RecordForm form, RecordFields& fields) {
  if (form == RecordForm::kPickle) {
    const auto pickle = std::make_shared<Pickle>(read_pickle(record));
    fields.keep(pickle);
    add_stored(pickle->value, fields);
  } else if (form == RecordForm::kMsgpack) {
    const auto message = std::make_shared<PackedMessage>(read_msgpack(record));
    fields.keep(message);
    add_stored(message->value, fields);
  } else {
    fields.add("value", {.kind = RecordValue::Kind::kBytes, .bytes = record});
  }
}

std::vector<ComponentOfField> image_and_label(const RecordFields& record) {
  const RecordValue* image = record.find("0");
  const RecordValue* label = record.find("1");
  const bool is_label =
      label != nullptr && label->kind == RecordValue::Kind::kArray && label->shape.rank() == 0;
  const bool is_pair = record.find("2") == nullptr;
  if (image == nullptr || !is_label || !is_pair) return {};
  return {{.component = "image", .field = "0"}, {.component = "label", .field = "1"}};
}

}  // namespace tpack
