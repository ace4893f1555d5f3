#include "weights/format/torch_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/npy.h"

// Source: torch/_utils.py and torch/serialization.py of PyTorch 2.5.
namespace tpack {
namespace {

using Arguments = std::vector<StoredValue>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kElementNames = {{
    {"torch.FloatStorage", "float32"},
    {"torch.float32", "float32"},
    {"torch.DoubleStorage", "float64"},
    {"torch.float64", "float64"},
    {"torch.HalfStorage", "float16"},
    {"torch.float16", "float16"},
    {"torch.BFloat16Storage", "bfloat16"},
    {"torch.bfloat16", "bfloat16"},
    {"torch.LongStorage", "int64"},
    {"torch.IntStorage", "int32"},
    {"torch.ShortStorage", "int16"},
    {"torch.CharStorage", "int8"},
    {"torch.ByteStorage", "uint8"},
    {"torch.BoolStorage", "bool"},
    {"torch.int64", "int64"},
    {"torch.int32", "int32"},
    {"torch.uint8", "uint8"},
    {"torch.uint16", "uint16"},
    {"torch.uint32", "uint32"},
    {"torch.uint64", "uint64"},
}};

/// Attributes of torch.nn.Module that hold its parts.
constexpr std::array<std::string_view, 3> kModuleParts = {"_modules", "_parameters", "_buffers"};

constexpr std::string_view kRebuild = "torch._utils._rebuild_";

std::string class_of(const StoredValue& value) {
  return value.object() == nullptr ? "" : value.object()->name;
}

/// Collects the tensors of a value.
class TorchValues {
 public:
  TorchValues(std::shared_ptr<const void> owner, const FindStorage& find, WeightFile& file)
      : owner_(std::move(owner)), find_(find), file_(file) {}

  /// `counts`: whether values without tensors are `others`.
  void add(const std::string& path, const StoredValue& value, bool counts) {
    if (const StoredDict* const dict = value.dict()) {
      for (const auto& [key, item] : dict->entries) add(joined(path, key), item, counts);
    } else if (const StoredList* const list = value.list(); list != nullptr && !is_plain(*list)) {
      for (size_t i = 0; i < list->items.size(); ++i)
        add(path + (path.empty() ? "" : ".") + std::to_string(i), list->items[i], counts);
    } else if (StoredArray* const array = value.array()) {
      add_array(path, *array);
    } else if (const StoredObject* const object = value.object()) {
      add_object(path, *object, counts);
    } else if (counts) {
      file_.others.emplace_back(path, value.str());
    }
  }

 private:
  static bool is_plain(const StoredList& list) {
    return std::ranges::all_of(list.items, [](const StoredValue& item) {
      return item.dict() == nullptr && item.list() == nullptr && item.array() == nullptr &&
             item.object() == nullptr;
    });
  }

  static std::string joined(const std::string& path, const StoredValue& key) {
    std::string name;
    if (const auto text = key.text())
      name = valid_utf8(*text);
    else if (const auto number = key.integer())
      name = std::to_string(*number);
    else
      name = key.str();
    return path.empty() ? name : path + "." + name;
  }

  std::string where(const std::string& path) const { return file_.path + ": '" + printable(path) + "'"; }

  void add_array(const std::string& path, const StoredArray& array) {
    const NpyType* const known = npy_type(array.dtype);
    if (known == nullptr) return;
    const ElementType type = *element_type(known->name);
    weight_shape(array.shape, where(path));  // bounds the strides
    add_weight(path, {array.data, 0, array.shape, strides_of(array.shape, array.is_fortran)}, type,
               {.bytes = {}, .owner = owner_, .verify = {}});
  }

  void add_object(const std::string& path, const StoredObject& object, bool counts) {
    const std::string_view name = object.name;
    const Arguments& a = object.arguments;
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor")
      return add_tensor(path, a, "");
    if (name == "torch._utils._rebuild_tensor_v3")
      return add_tensor(path, a, a.size() > 6 ? class_of(a[6]) : "");
    if ((name == "torch._utils._rebuild_parameter" || name == "torch._utils._rebuild_parameter_with_state") &&
        !a.empty())
      return add(path, a[0], counts);
    if (name == "torch._tensor._rebuild_from_type_v2" && a.size() > 2 && a[2].list() != nullptr) {
      const StoredObject inner{class_of(a[0]), a[2].list()->items, {}};
      return add_object(path, inner, counts);
    }
    if (counts) file_.others.emplace_back(path, "an object of " + valid_utf8(object.name));
    if (name.starts_with(kRebuild)) return;  // a tensor of another kind, such as a quantized one
    add_state(path, object.state);
  }

  /// The attributes of an object: a dict, or a tuple of one and of slots.
  void add_state(const std::string& path, const StoredValue& state) {
    const StoredDict* attributes = state.dict();
    if (const StoredList* const both = state.list();
        attributes == nullptr && both != nullptr && !both->items.empty())
      attributes = both->items[0].dict();
    if (attributes == nullptr) return;
    for (const auto& [key, value] : attributes->entries) {
      const auto name = key.text();
      const bool is_part = name && std::ranges::find(kModuleParts, *name) != kModuleParts.end();
      add(is_part ? path : joined(path, key), value, false);
    }
  }

  /// `dtype`: the name of its type, if its storage has bytes.
  void add_tensor(const std::string& path, const Arguments& a, const std::string& dtype) {
    const auto damaged = [&](const char* what) {
      return DataError(where(path), std::string("is damaged: ") + what);
    };
    if (a.size() < 4) throw damaged("it has no shape");
    const StoredReference* const reference = a[0].reference();
    const StoredList* const id = reference == nullptr ? nullptr : reference->id.list();
    if (id == nullptr || id->items.size() < 3) throw damaged("it has no storage");
    const auto key = id->items[2].text();
    const auto offset = a[1].integer();
    auto shape = a[2].integers();
    auto strides = a[3].integers();
    if (!key || !offset || !shape || !strides) throw damaged("its storage, shape or strides");
    const std::string type_name = dtype.empty() ? class_of(id->items[1]) : dtype;
    const auto element = torch_element_name(type_name);
    if (!element) {
      file_.others.emplace_back(path, "a tensor of " + valid_utf8(type_name));
      return;
    }
    const TorchStorage storage = find_(std::string(*key));
    int64_t first = *offset;
    if (const StoredList* const view = id->items.size() > 5 ? id->items[5].list() : nullptr;
        view != nullptr && view->items.size() > 1 && view->items[1].integer())
      first += *view->items[1].integer();  // a storage that begins within another one, before PyTorch 0.4
    add_weight(path, {storage.bytes, first, std::move(*shape), std::move(*strides)}, *element_type(*element),
               storage);
  }

  void add_weight(const std::string& path, StridedElements elements, const ElementType& type,
                  const TorchStorage& storage) {
    const std::string at = where(path);
    const Shape shape = weight_shape(elements.shape, at);
    check_elements(elements, type, at);
    file_.weights.push_back(
        {path,
         std::string(type.name),
         {type.dtype, shape},
         [owner = storage.owner, verify = storage.verify, elements = std::move(elements), type, at] {
           if (verify) verify();
           return read_elements(elements, type, at);
         }});
  }

  std::shared_ptr<const void> owner_;
  const FindStorage& find_;
  WeightFile& file_;
};

}  // namespace

std::optional<std::string_view> torch_element_name(std::string_view name) {
  const auto known = std::ranges::find(kElementNames, name, [](const auto& entry) { return entry.first; });
  return known == kElementNames.end() ? std::nullopt : std::optional(known->second);
}

void add_torch_values(const StoredValue& value, std::shared_ptr<const void> owner, const FindStorage& find,
                      WeightFile& file) {
  TorchValues(std::move(owner), find, file).add("", value, true);
}

}  // namespace tpack
