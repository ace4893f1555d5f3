#include "sources/format/pickle_objects.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/text_encoding.h"
#include "tensor/half.h"

namespace tpack {
namespace {

using Arguments = std::vector<StoredValue>;
/// Nothing: the call is not understood.
using Called = std::optional<StoredValue>;

/// "<f4" for an object of numpy.dtype; its state is (version, byte order, ...).
std::string dtype_of(const StoredValue& value) {
  const StoredObject* const type = value.object();
  if (type == nullptr || type->name != "numpy.dtype" || type->arguments.empty())
    throw DataError("an array of the type " + value.str());
  const auto code = type->arguments[0].text();
  if (!code || code->size() < 2 || code->size() > 12) throw DataError("an array of an unknown type");
  const bool is_object = code->starts_with('O');
  std::string order = is_object || code == "u1" || code == "i1" || code == "b1" ? "|" : "<";
  const StoredList* const state = type->state.list();
  if (state != nullptr && state->items.size() > 1) {
    const auto stored = state->items[1].text();
    if (!stored || stored->size() != 1) throw DataError("an array of an unknown byte order");
    order = *stored == "=" ? order : std::string(*stored);
  }
  return order + (is_object ? "O" : std::string(*code));
}

StoredArray& new_array(PickleMemory& memory, const std::vector<int64_t>& shape) {
  memory.charge(sizeof(StoredArray) + shape.size() * sizeof(int64_t));
  StoredArray& array = memory.pool.new_array();
  array.shape = shape;
  return array;
}

/// _reconstruct(numpy.ndarray, (0,), b'b'): an empty array, before its state is set.
Called empty_array(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.empty()) return std::nullopt;
  const StoredObject* const kind = arguments[0].object();
  if (kind == nullptr || kind->name != "numpy.ndarray") return std::nullopt;
  StoredArray& array = new_array(memory, {0});
  array.dtype = "|i1";
  return StoredValue(&array);
}

/// _frombuffer(bytes, dtype, shape, 'C' or 'F').
Called array_of_buffer(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.size() != 4) return std::nullopt;
  const auto data = arguments[0].bytes();
  const auto shape = arguments[2].integers();
  const auto order = arguments[3].text();
  if (!data || !shape || (order != "C" && order != "F")) return std::nullopt;
  StoredArray& array = new_array(memory, *shape);
  array.dtype = dtype_of(arguments[1]);
  array.is_fortran = order == "F";
  array.data = *data;
  check_size(array);
  return StoredValue(&array);
}

template <class T>
StoredValue number_of(StoredBytes bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  if constexpr (std::is_floating_point_v<T>)
    return StoredValue(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, Float16>)
    return StoredValue(static_cast<double>(value.value()));
  else
    return StoredValue(static_cast<int64_t>(value));
}

struct ScalarType {
  std::string_view code;
  StoredValue (*read)(StoredBytes bytes);
};

StoredValue bool_of(StoredBytes bytes) { return StoredValue(bytes[0] != 0); }

constexpr std::array kScalarTypes = {ScalarType{"b1", bool_of},
                                     ScalarType{"i1", number_of<int8_t>},
                                     ScalarType{"i2", number_of<int16_t>},
                                     ScalarType{"i4", number_of<int32_t>},
                                     ScalarType{"i8", number_of<int64_t>},
                                     ScalarType{"u1", number_of<uint8_t>},
                                     ScalarType{"u2", number_of<uint16_t>},
                                     ScalarType{"u4", number_of<uint32_t>},
                                     ScalarType{"f2", number_of<Float16>},
                                     ScalarType{"f4", number_of<float>},
                                     ScalarType{"f8", number_of<double>}};

/// scalar(dtype, bytes): a number, or an array without axes for other types.
Called scalar_of(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.size() != 2 || !arguments[1].bytes()) return std::nullopt;
  const StoredBytes data = *arguments[1].bytes();
  StoredArray array{dtype_of(arguments[0]), {}, false, data, {}};
  check_size(array);
  const auto type =
      std::ranges::find(kScalarTypes, std::string_view(array.dtype).substr(1), &ScalarType::code);
  if (type != kScalarTypes.end() && !array.dtype.starts_with('>')) return type->read(data);
  StoredArray& kept = new_array(memory, {});
  kept = std::move(array);
  return StoredValue(&kept);
}

/// encode(text, 'latin1'): how Python 3 stores bytes in protocols 0 to 2. bytearray(text, 'latin-1') is
/// alike.
Called encoded(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.size() != 2) return std::nullopt;
  const auto* const text = std::get_if<std::string_view>(&arguments[0].data());
  const auto encoding = arguments[1].text();
  if (text == nullptr || (encoding != "latin1" && encoding != "latin-1")) return std::nullopt;
  memory.charge(text->size());
  const std::string_view kept = memory.pool.keep(latin1_bytes(*text));
  return StoredValue(StoredBytes(reinterpret_cast<const uint8_t*>(kept.data()), kept.size()));
}

/// bytes(), bytearray(), bytearray(bytes).
Called bytes_of_call(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.empty()) return StoredValue(StoredBytes());
  if (arguments.size() == 1 && arguments[0].bytes()) return arguments[0];
  return encoded(arguments, memory);
}

/// set([...]).
Called set_of(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.size() == 1 && arguments[0].list() != nullptr) return arguments[0];
  if (!arguments.empty()) return std::nullopt;
  memory.charge(sizeof(StoredList));
  return StoredValue(&memory.pool.new_list());
}

Called empty_dict(PickleMemory& memory) {
  memory.charge(sizeof(StoredDict));
  return StoredValue(&memory.pool.new_dict());
}

/// OrderedDict(), or in Python 2 OrderedDict([[key, value], ...]).
Called ordered_dict(const Arguments& arguments, PickleMemory& memory) {
  if (arguments.empty()) return empty_dict(memory);
  const StoredList* const pairs = arguments[0].list();
  if (arguments.size() != 1 || pairs == nullptr) return std::nullopt;
  std::vector<std::pair<StoredValue, StoredValue>> entries;
  for (const StoredValue& item : pairs->items) {
    const StoredList* const pair = item.list();
    if (pair == nullptr || pair->items.size() != 2) return std::nullopt;
    memory.charge(2 * sizeof(StoredValue));
    entries.emplace_back(pair->items[0], pair->items[1]);
  }
  const Called dict = empty_dict(memory);
  dict->dict()->entries = std::move(entries);
  return dict;
}

/// defaultdict(factory).
Called default_dict(const Arguments& arguments, PickleMemory& memory) {
  return arguments.size() < 2 ? empty_dict(memory) : std::nullopt;
}

struct KnownFunction {
  std::string_view name;
  Called (*call)(const Arguments& arguments, PickleMemory& memory);
};

constexpr std::array kKnownFunctions = {KnownFunction{"__builtin__.bytearray", bytes_of_call},
                                        KnownFunction{"__builtin__.bytes", bytes_of_call},
                                        KnownFunction{"__builtin__.frozenset", set_of},
                                        KnownFunction{"__builtin__.set", set_of},
                                        KnownFunction{"_codecs.encode", encoded},
                                        KnownFunction{"builtins.bytearray", bytes_of_call},
                                        KnownFunction{"builtins.bytes", bytes_of_call},
                                        KnownFunction{"builtins.frozenset", set_of},
                                        KnownFunction{"builtins.set", set_of},
                                        KnownFunction{"collections.OrderedDict", ordered_dict},
                                        KnownFunction{"collections.defaultdict", default_dict},
                                        KnownFunction{"numpy._core.multiarray._reconstruct", empty_array},
                                        KnownFunction{"numpy._core.multiarray.scalar", scalar_of},
                                        KnownFunction{"numpy._core.numeric._frombuffer", array_of_buffer},
                                        KnownFunction{"numpy.core.multiarray._reconstruct", empty_array},
                                        KnownFunction{"numpy.core.multiarray.scalar", scalar_of},
                                        KnownFunction{"numpy.core.numeric._frombuffer", array_of_buffer}};

/// _reconstructor(class, object, None): an object of that class.
std::string_view name_of_call(const StoredObject& function, const Arguments& arguments) {
  const bool makes_object =
      function.name == "copyreg._reconstructor" || function.name == "copy_reg._reconstructor";
  const StoredObject* const kind = makes_object && !arguments.empty() ? arguments[0].object() : nullptr;
  return kind == nullptr ? function.name : kind->name;
}

/// State of an array: (version, shape, dtype, is_fortran, bytes or objects); the oldest have no version.
void set_array_state(StoredArray& array, const StoredValue& state, PickleMemory& memory) {
  const StoredList* const list = state.list();
  const size_t count = list == nullptr ? 0 : list->items.size();
  if (count != 4 && count != 5) throw DataError("an array with an invalid state");
  const StoredValue* const parts = list->items.data() + (count - 4);
  const auto shape = parts[0].integers();
  const auto is_fortran = parts[2].integer();
  if (!shape || !is_fortran) throw DataError("an array with an invalid state");
  StoredArray read{dtype_of(parts[1]), *shape, *is_fortran != 0, {}, {}};
  memory.charge(shape->size() * sizeof(int64_t));
  if (const auto data = parts[3].bytes()) {
    read.data = *data;
  } else if (const StoredList* objects = parts[3].list()) {
    memory.charge(objects->items.size() * sizeof(StoredValue));
    read.objects = objects->items;
  } else {
    throw DataError("an array with " + parts[3].str() + " in place of its elements");
  }
  check_size(read);
  array = std::move(read);
}

}  // namespace

StoredValue called(const StoredValue& function, const StoredValue& arguments, PickleMemory& memory) {
  const StoredObject* const callee = function.object();
  if (callee == nullptr) throw DataError("a call of " + function.str());
  const StoredList* const list = arguments.list();
  if (list == nullptr) throw DataError("a call with " + arguments.str() + " in place of arguments");
  const auto known = std::ranges::find(kKnownFunctions, callee->name, &KnownFunction::name);
  if (known != kKnownFunctions.end()) {
    if (const Called result = known->call(list->items, memory)) return *result;
  }
  const std::string_view name = name_of_call(*callee, list->items);
  memory.charge(sizeof(StoredObject) + name.size() + list->items.size() * sizeof(StoredValue));
  StoredObject& object = memory.pool.new_object(std::string(name));
  object.arguments = list->items;
  return StoredValue(&object);
}

void set_state(const StoredValue& value, const StoredValue& state, PickleMemory& memory) {
  if (StoredArray* const array = value.array()) {
    set_array_state(*array, state, memory);
  } else if (StoredObject* const object = value.object()) {
    object->state = state;
  } else if (value.dict() == nullptr && value.list() == nullptr) {
    throw DataError("a state of " + value.str());
  }
}

std::string latin1_bytes(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<uint8_t>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
    } else if ((first & 0xFCU) == 0xC0 && i + 1 < text.size()) {
      const auto second = static_cast<uint8_t>(text[++i]);
      bytes += static_cast<char>((first & 3U) << 6U | (second & 0x3FU));
    } else {
      throw DataError("bytes with a character above 255");
    }
  }
  return bytes;
}

}  // namespace tpack
