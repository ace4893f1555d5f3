#include "sources/format/stored_value.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

constexpr int kMostDepth = 100;

class TreeCheck {
 public:
  explicit TreeCheck(int64_t most) : left_(most) {}

  void visit(const StoredValue& value, int depth) {
    if (left_-- == 0) throw DataError("too many values: a list that is at many places counts each time");
    if (depth > kMostDepth) {
      throw DataError("values nested deeper than " + std::to_string(kMostDepth) +
                      " levels, or a list that contains itself");
    }
    if (const StoredList* list = value.list()) all(list->items, depth);
    if (const StoredDict* dict = value.dict()) {
      for (const auto& [key, entry] : dict->entries) {
        visit(key, depth + 1);
        visit(entry, depth + 1);
      }
    }
    if (const StoredArray* array = value.array()) all(array->objects, depth);
    if (const StoredReference* reference = value.reference()) visit(reference->id, depth + 1);
    if (const StoredObject* object = value.object()) {
      all(object->arguments, depth);
      visit(object->state, depth + 1);
    }
  }
  int64_t left() const { return left_; }

 private:
  void all(const std::vector<StoredValue>& values, int depth) {
    for (const StoredValue& value : values) visit(value, depth + 1);
  }

  int64_t left_;
};

std::string sides_of(const std::vector<int64_t>& shape) {
  std::vector<std::string> sides;
  for (const int64_t side : shape) sides.push_back(std::to_string(side));
  return "[" + join(sides, ", ") + "]";
}

std::string dict_str(const StoredDict& dict) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : dict.entries) {
    const auto name = key.text();
    if (name)
      keys.push_back(printable(*name));
    else  // a stream can have a dict as a key of itself
      keys.push_back(key.dict() != nullptr ? "a dict" : key.str());
    if (keys.size() > 20) break;
  }
  return keys.empty() ? "an empty dict" : "a dict of " + join_first(keys);
}

struct Describe {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return "the integer " + std::to_string(value); }
  std::string operator()(double value) const { return "the number " + shortest(value); }
  std::string operator()(std::string_view) const { return "a text"; }
  std::string operator()(StoredBytes bytes) const { return std::to_string(bytes.size()) + " bytes"; }
  std::string operator()(const StoredList* list) const {
    return "a list of " + std::to_string(list->items.size());
  }
  std::string operator()(const StoredDict* dict) const { return dict_str(*dict); }
  std::string operator()(const StoredArray* array) const {
    return "an array " + printable(array->dtype) + " " + sides_of(array->shape);
  }
  std::string operator()(const StoredObject* object) const {
    return "an object of " + printable(object->name);
  }
  std::string operator()(const StoredReference*) const { return "a persistent id"; }
};

}  // namespace

std::optional<int64_t> StoredValue::integer() const {
  if (const auto flag = boolean()) return *flag ? 1 : 0;
  return get<int64_t>();
}

std::optional<std::vector<int64_t>> StoredValue::integers() const {
  if (list() == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const StoredValue& item : list()->items) {
    const auto number = item.integer();
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<double> StoredValue::number() const {
  if (const auto whole = get<int64_t>()) return static_cast<double>(*whole);
  return get<double>();
}

std::optional<std::string_view> StoredValue::text() const {
  if (const auto raw = bytes())
    return std::string_view(reinterpret_cast<const char*>(raw->data()), raw->size());
  return get<std::string_view>();
}

std::string StoredValue::str() const { return std::visit(Describe{}, data_); }

const StoredValue* StoredDict::find(std::string_view key) const {
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [key](const auto& entry) { return entry.first.text() == key; });
  return found == entries.rend() ? nullptr : &found->second;
}

int64_t check_tree(const StoredValue& value, int64_t most) {
  TreeCheck check(most);
  check.visit(value, 0);
  return most - check.left();
}

std::optional<int64_t> bytes_per_element(std::string_view dtype) {
  constexpr std::string_view kDtypeKinds = "biufcmMSUV";
  constexpr int64_t kMost = 1 << 30;
  if (dtype.size() < 3 || kDtypeKinds.find(dtype[1]) == std::string_view::npos) return std::nullopt;
  int64_t size = 0;
  const char* const end = dtype.data() + dtype.size();
  const auto [stop, failure] = std::from_chars(dtype.data() + 2, end, size);
  if (failure != std::errc{} || stop != end || size < 0 || size > kMost) return std::nullopt;
  return dtype[1] == 'U' ? 4 * size : size;
}

void check_size(const StoredArray& array) {
  const bool has_objects = array.dtype.ends_with('O');
  const auto each = has_objects ? 1 : bytes_per_element(array.dtype);
  if (!each) throw DataError("an array of elements of type '" + printable(array.dtype) + "'");
  const auto held = static_cast<int64_t>(has_objects ? array.objects.size() : array.data.size());
  int64_t declared = *each;
  for (const int64_t side : array.shape) {
    if (side < 0) throw DataError("an array with a negative size");
    if (__builtin_mul_overflow(declared, side, &declared)) declared = -1;
    if (declared < 0) break;
  }
  if (declared == held) return;
  const std::string unit = has_objects ? " elements" : " bytes";
  throw DataError("an array of type '" + printable(array.dtype) + "' and shape " + sides_of(array.shape) +
                  " with " + std::to_string(held) + unit);
}

}  // namespace tpack
