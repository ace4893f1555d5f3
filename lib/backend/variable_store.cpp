#include "backend/variable_store.h"

#include <algorithm>
#include <cstring>

namespace tpack {
namespace {

bool is_flat(const std::string& name) { return name.starts_with('@') && name.find('/') == std::string::npos; }

}  // namespace

VariableStore::VariableStore(const VariableTable& table) : table_(table), layout_(flat_layout(table)) {
  const auto trainable = table.trainable();
  if (!trainable.empty()) {
    const DType type = trainable.front()->spec.dtype;
    add_flat(kFlatParameters, type);
    add_flat(kFlatGradient, type);
  }
  for (const VariableSpec* spec : table.all()) {
    if (has(spec->name)) continue;
    if (is_flat(spec->name)) {
      add_flat(spec->name, spec->spec.dtype);
    } else {
      add(spec->name, Tensor::zeros(spec->spec));
    }
  }
}

void VariableStore::add(const std::string& name, Tensor tensor) {
  const bool is_new = tensors_.emplace(name, std::move(tensor)).second;
  TPACK_ASSERT(is_new, "two variables named '" + name + "'");
}

void VariableStore::add_flat(const std::string& block, DType type) {
  const Tensor flat = Tensor::zeros({type, Shape{layout_.size}});
  const auto storage = Storage::view(flat.raw(), flat.bytes(), std::make_shared<Tensor>(flat));
  for (const FlatLayout::Entry& entry : layout_.entries) {
    const size_t offset = static_cast<size_t>(entry.offset) * size_of(type);
    add(block == kFlatParameters ? entry.name : part_name(block, entry.name),
        Tensor({type, entry.shape}, storage, offset));
  }
  add(block, flat);
}

Tensor VariableStore::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  TPACK_ASSERT(found != tensors_.end(), "no variable '" + name + "' in the store");
  return found->second;
}

void VariableStore::initialize(uint64_t seed) {
  for (const VariableSpec* spec : table_.all()) {
    const Tensor value = tensor(spec->name);
    std::memset(value.raw(), 0, value.bytes());
    if (!spec->initialize) continue;
    Rng rng(mix(seed, stable_hash(spec->name)));
    spec->initialize(value, rng);
  }
}

std::vector<std::string> VariableStore::names(VariableScope scope) const {
  std::vector<std::string> names;
  for (const VariableSpec* spec : table_.all()) {
    if (spec->scope != scope) continue;
    if (!is_flat(spec->name)) {
      names.push_back(spec->name);
      continue;
    }
    for (const FlatLayout::Entry& entry : layout_.entries) names.push_back(part_name(spec->name, entry.name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void VariableStore::copy_from(const VariableStore& other) {
  for (const auto& [name, tensor] : tensors_) {
    std::memcpy(tensor.raw(), other.tensor(name).raw(), tensor.bytes());
  }
}

uint64_t VariableStore::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors_) {
    const bool inside_a_block = table_.find(name) == nullptr ? !is_flat(name) : table_.find(name)->trainable;
    if (!inside_a_block) bytes += tensor.bytes();
  }
  return bytes;
}

}  // namespace tpack
