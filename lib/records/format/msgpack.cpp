#include "records/format/msgpack.h"

#include <msgpack.hpp>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr size_t kMostLevels = 100;

/// Makes a tree of values of what the parser reports; nothing is allocated for sizes that are only declared.
class MessageBuilder : public msgpack::null_visitor {
 public:
  explicit MessageBuilder(PackedMessage& out) : out_(out) {}

  bool visit_nil() { return add(StoredValue()); }
  bool visit_boolean(bool value) { return add(StoredValue(value)); }
  bool visit_positive_integer(uint64_t value) { return add(StoredValue(static_cast<int64_t>(value))); }
  bool visit_negative_integer(int64_t value) { return add(StoredValue(value)); }
  bool visit_float32(float value) { return add(StoredValue(static_cast<double>(value))); }
  bool visit_float64(double value) { return add(StoredValue(value)); }
  bool visit_str(const char* text, uint32_t size) { return add(StoredValue(std::string_view(text, size))); }
  bool visit_bin(const char* bytes, uint32_t size) {
    return add(StoredValue(StoredBytes(reinterpret_cast<const uint8_t*>(bytes), size)));
  }
  bool visit_ext(const char* /*bytes*/, uint32_t /*size*/) {
    throw DataError("a value of a type of its own (ext), which is not supported");
  }
  bool start_array(uint32_t /*size*/) { return open({.list = &out_.pool.new_list()}); }
  bool end_array() { return close(); }
  bool start_map(uint32_t /*size*/) { return open({.dict = &out_.pool.new_dict()}); }
  bool end_map() { return close(); }
  void parse_error(size_t /*begin*/, size_t at) { damaged(at); }
  void insufficient_bytes(size_t /*begin*/, size_t at) { damaged(at); }

 private:
  struct Level {
    StoredList* list = nullptr;
    StoredDict* dict = nullptr;
    std::optional<StoredValue> key = {};  // whose value comes next
  };

  [[noreturn]] static void damaged(size_t at) {
    throw DataError("is damaged, ends early, or is not MessagePack, at byte " +
                    with_thousands(static_cast<int64_t>(at)));
  }
  bool open(const Level& level) {
    if (open_.size() == kMostLevels) throw DataError("is nested deeper than 100 levels");
    open_.push_back(level);
    return true;
  }
  bool close() {
    const Level done = open_.back();
    open_.pop_back();
    return add(done.list != nullptr ? StoredValue(done.list) : value_of(*done.dict));
  }
  bool add(StoredValue value) {
    if (open_.empty()) {
      out_.value = value;
    } else if (Level& level = open_.back(); level.list != nullptr) {
      level.list->items.push_back(value);
    } else if (!level.key) {
      level.key = value;
    } else {
      level.dict->entries.emplace_back(*level.key, value);
      level.key.reset();
    }
    return true;
  }

  /// Keys are texts or bytes.
  static const StoredValue* find(const StoredDict& dict, std::string_view key) {
    for (const auto& [name, value] : dict.entries) {
      const auto bytes = name.bytes();
      const auto text = bytes ? std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                              : name.text().value_or("");
      if (text == key) return &value;
    }
    return nullptr;
  }
  /// An array or a scalar of NumPy, or the dict itself.
  StoredValue value_of(StoredDict& dict) {
    const StoredValue* is_array = find(dict, "nd");
    const StoredValue* type = find(dict, "type");
    const StoredValue* data = find(dict, "data");
    const StoredValue* shape = find(dict, "shape");
    const bool is_numpy =
        is_array != nullptr && is_array->boolean() && type != nullptr && data != nullptr && data->bytes();
    if (!is_numpy) return StoredValue(&dict);
    StoredArray& array = out_.pool.new_array();
    if (const auto bytes = type->bytes()) {
      array.dtype.assign(bytes->begin(), bytes->end());
    } else {
      array.dtype = type->text().value_or("");
    }
    if (shape != nullptr && shape->list() != nullptr)
      for (const StoredValue& size : shape->list()->items) array.shape.push_back(size.integer().value_or(-1));
    array.data = *data->bytes();
    check_size(array);
    return StoredValue(&array);
  }

  PackedMessage& out_;
  std::vector<Level> open_;
};

}  // namespace

PackedMessage read_msgpack(StoredBytes bytes) {
  PackedMessage message;
  MessageBuilder builder(message);
  size_t at = 0;
  const bool is_whole =
      msgpack::parse(reinterpret_cast<const char*>(bytes.data()), bytes.size(), at, builder);
  if (!is_whole || at != bytes.size())
    throw DataError("is damaged, ends early, or is not MessagePack, at byte " +
                    with_thousands(static_cast<int64_t>(at)));
  return message;
}

}  // namespace tpack
