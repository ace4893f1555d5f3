#include <cstring>
#include <map>
#include <memory>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/pickle.h"
#include "weights/format/torch_values.h"
#include "weights/format/weight_formats.h"

// Source: _legacy_load in torch/serialization.py of PyTorch 2.5.
namespace tpack {
namespace {

/// The pickle of the number that marks such a stream.
constexpr std::string_view kMagic("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
constexpr size_t kCountBytes = 8;

/// The size of an element of each storage, by its key.
using ElementSizes = std::map<std::string, size_t, std::less<>>;

void collect(const StoredValue& value, ElementSizes& sizes);

void collect_reference(const StoredReference& reference, ElementSizes& sizes) {
  const StoredList* const id = reference.id.list();
  if (id == nullptr || id->items.size() < 3 || id->items[1].object() == nullptr) return;
  const auto key = id->items[2].text();
  const auto element = torch_element_name(id->items[1].object()->name);
  const auto type = element_type(element.value_or(""));
  if (key && type) sizes.emplace(*key, type->bytes);
}

void collect(const StoredValue& value, ElementSizes& sizes) {
  if (const StoredReference* const reference = value.reference()) return collect_reference(*reference, sizes);
  if (const StoredList* const list = value.list())
    for (const StoredValue& item : list->items) collect(item, sizes);
  if (const StoredDict* const dict = value.dict())
    for (const auto& [key, item] : dict->entries) collect(item, sizes);
  if (const StoredObject* const object = value.object()) {
    for (const StoredValue& argument : object->arguments) collect(argument, sizes);
    collect(object->state, sizes);
  }
}

/// The pickles of a stream, one after the other, and the storages after them.
class TorchStream {
 public:
  TorchStream(MappedFilePtr file, const std::string& path)
      : file_(std::move(file)), path_(path), rest_(file_->bytes()) {}

  WeightFile read() {
    next();  // kMagic
    const auto version = next()->value.integer();
    if (version != 1001) throw DataError(path_, "has an unknown version of PyTorch's format");
    const auto system = next();
    const StoredDict* const facts = system->value.dict();
    const StoredValue* const order = facts == nullptr ? nullptr : facts->find("little_endian");
    if (order != nullptr && order->boolean() == false)
      throw DataError(path_, "is big-endian; load and save it on a little-endian machine");
    const auto content = next();
    const auto keys = next();
    if (keys->value.list() == nullptr) throw DataError(path_, "is damaged: it has no list of storages");
    find_storages(*keys->value.list(), content->value);
    WeightFile result{.path = path_, .format = "PyTorch (before 1.6)", .is_in_order = true};
    const auto find = [this](const std::string& key) {
      const auto known = storages_.find(key);
      if (known == storages_.end()) throw DataError(path_, "has no storage '" + printable(key) + "'");
      return TorchStorage{known->second, file_, {}};
    };
    add_torch_values(content->value, content, find, result);
    return result;
  }

 private:
  std::shared_ptr<const Pickle> next() {
    auto pickle = std::make_shared<Pickle>(read_pickle(rest_));
    rest_ = rest_.subspan(pickle->size);
    return pickle;
  }

  void find_storages(const StoredList& keys, const StoredValue& content) {
    ElementSizes sizes;
    collect(content, sizes);
    for (const StoredValue& item : keys.items) {
      const auto key = item.text();
      const auto size = key ? sizes.find(*key) : sizes.end();
      if (size == sizes.end()) throw DataError(path_, "has a storage of an unknown type");
      uint64_t count = 0;
      if (rest_.size() >= kCountBytes) std::memcpy(&count, rest_.data(), kCountBytes);
      if (rest_.size() < kCountBytes || count > (rest_.size() - kCountBytes) / size->second)
        throw DataError(path_, "ends early, in the storage '" + printable(*key) + "'");
      const size_t bytes = static_cast<size_t>(count) * size->second;
      storages_.emplace(*key, rest_.subspan(kCountBytes, bytes));
      rest_ = rest_.subspan(kCountBytes + bytes);
    }
    if (!rest_.empty())
      throw DataError(path_, "has " + std::to_string(rest_.size()) + " bytes after its storages");
  }

  MappedFilePtr file_;
  const std::string& path_;
  std::span<const uint8_t> rest_;
  std::map<std::string, std::span<const uint8_t>, std::less<>> storages_;
};

}  // namespace

bool is_torch_stream(std::string_view first_bytes) { return first_bytes.starts_with(kMagic); }

WeightFile read_torch_stream(const MappedFilePtr& file, const std::string& path) {
  return TorchStream(file, path).read();
}

}  // namespace tpack
