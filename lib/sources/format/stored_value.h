#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tpack {

struct StoredList;
struct StoredDict;
struct StoredArray;
struct StoredObject;
struct StoredReference;

using StoredBytes = std::span<const uint8_t>;

/// A value that another program stored, such as a pickle of Python: a number, a text, or a handle of a list,
/// dict or array in a StoredPool. It is a small value to copy; the pool and the bytes that were read must
/// outlive it.
///
/// Readers promise that a value is a tree of limited depth and size (see check_tree): functions may recurse.
/// The same list may be at several places of the tree.
class StoredValue {
 public:
  /// Text is UTF-8.
  using Data = std::variant<std::monostate, bool, int64_t, double, std::string_view, StoredBytes, StoredList*,
                            StoredDict*, StoredArray*, StoredObject*, StoredReference*>;

  /// None.
  StoredValue() = default;
  explicit StoredValue(Data data) : data_(data) {}

  const Data& data() const { return data_; }
  bool is_none() const { return std::holds_alternative<std::monostate>(data_); }
  std::optional<bool> boolean() const { return get<bool>(); }
  /// An integer, or a bool as 0 or 1.
  std::optional<int64_t> integer() const;
  /// An integer or a float.
  std::optional<double> number() const;
  /// A list of integers, such as a shape.
  std::optional<std::vector<int64_t>> integers() const;
  /// A text; or bytes, because Python 2 stores its texts as bytes. These may be invalid UTF-8.
  std::optional<std::string_view> text() const;
  std::optional<StoredBytes> bytes() const { return get<StoredBytes>(); }
  /// Null if it is something else. Only readers change what they point to.
  StoredList* list() const { return get<StoredList*>().value_or(nullptr); }
  StoredDict* dict() const { return get<StoredDict*>().value_or(nullptr); }
  StoredArray* array() const { return get<StoredArray*>().value_or(nullptr); }
  StoredObject* object() const { return get<StoredObject*>().value_or(nullptr); }
  StoredReference* reference() const { return get<StoredReference*>().value_or(nullptr); }

  /// What it is, for errors: "an integer", "a list of 3", "a dict of data, labels", "an array |u1 [2, 3072]",
  /// "an object of os.system".
  std::string str() const;

 private:
  template <class T>
  std::optional<T> get() const {
    const T* const value = std::get_if<T>(&data_);
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }

  Data data_;
};

/// A list, tuple or set.
struct StoredList {
  std::vector<StoredValue> items;
};

struct StoredDict {
  std::vector<std::pair<StoredValue, StoredValue>> entries;

  /// The last value with this text as its key; null if there is none.
  const StoredValue* find(std::string_view key) const;
};

struct StoredArray {
  std::string dtype;  // as in .npy files: "<f4", "|u1", ">i8"; "|O" for objects
  std::vector<int64_t> shape;
  bool is_fortran = false;           // the first axis is the fastest
  StoredBytes data;                  // not necessarily aligned; exactly the bytes of its elements
  std::vector<StoredValue> objects;  // the elements, if its type is "|O"
};

/// A value of a class that is not known here. Nothing of it was run.
struct StoredObject {
  std::string name;  // of the class or function: "torch._utils._rebuild_tensor_v2"
  std::vector<StoredValue> arguments;
  StoredValue state;
};

/// A name of something outside of the file's values (a persistent id of Python).
struct StoredReference {
  StoredValue id;
};

/// Owns the lists and other parts of values.
class StoredPool {
 public:
  StoredList& new_list() { return lists_.emplace_front(); }
  StoredDict& new_dict() { return dicts_.emplace_front(); }
  StoredArray& new_array() { return arrays_.emplace_front(); }
  StoredObject& new_object(std::string name) {
    return objects_.emplace_front(StoredObject{std::move(name), {}, {}});
  }
  StoredReference& new_reference(StoredValue id) { return references_.emplace_front(StoredReference{id}); }
  /// Keeps the bytes of a text that differ from those of the file.
  std::string_view keep(std::string text) { return texts_.emplace_front(std::move(text)); }

 private:
  std::forward_list<StoredList> lists_;
  std::forward_list<StoredDict> dicts_;
  std::forward_list<StoredArray> arrays_;
  std::forward_list<StoredObject> objects_;
  std::forward_list<StoredReference> references_;
  std::forward_list<std::string> texts_;
};

/// The values in a value, each time that they are at some place in it, itself included. Errors: DataError if
/// there are more than `most`, or if it is nested deeper than 100 levels, such as a list that contains
/// itself.
int64_t check_tree(const StoredValue& value, int64_t most);

/// The bytes of an element of a type such as "<f4" or "<U5"; nothing for "|O" and for invalid types.
std::optional<int64_t> bytes_per_element(std::string_view dtype);
/// Errors: DataError if the data of the array are not exactly those of its type and shape.
void check_size(const StoredArray& array);

}  // namespace tpack
