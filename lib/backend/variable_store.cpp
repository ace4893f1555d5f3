#include "backend/variable_store.h"

#include <algorithm>
#include <cstring>

namespace tpack {
VariableStore::VariableStore(const VariableTable& table) : table_(table) {
  for (const ParameterGroup& group : table.groups()) {
    layouts_[group.name] = flat_layout(table, group);
    const DType type = table.find(group.variables.front())->spec.dtype;
    add_flat({kParameters, group.name}, type);
    add_flat({kGradient, group.name}, type);
  }
  for (const VariableSpec* spec : table.all()) {
    if (has(spec->name)) continue;
    if (const auto block = FlatBlock::parse(spec->name)) {
      add_flat(*block, spec->spec.dtype);
    } else {
      add(spec->name, Tensor::zeros(spec->spec));
    }
  }
}

const FlatLayout& VariableStore::layout(const std::string& group) const {
  const auto found = layouts_.find(group);
  TPACK_ASSERT(found != layouts_.end(), "no group '" + group + "' in the store");
  return found->second;
}

void VariableStore::add(const std::string& name, Tensor tensor) {
  const bool is_new = tensors_.emplace(name, std::move(tensor)).second;
  TPACK_ASSERT(is_new, "two variables named '" + name + "'");
}

void VariableStore::add_flat(const FlatBlock& block, DType type) {
  const FlatLayout& layout = this->layout(block.group);
  const Tensor flat = Tensor::zeros({type, Shape{layout.size}});
  const auto storage = Storage::view(flat.raw(), flat.bytes(), std::make_shared<Tensor>(flat));
  for (const FlatLayout::Entry& entry : layout.entries) {
    const size_t offset = static_cast<size_t>(entry.offset) * size_of(type);
    add(block.of == kParameters ? entry.name : block.part(entry.name),
        Tensor({type, entry.shape}, storage, offset));
  }
  add(block.name(), flat);
}

Tensor VariableStore::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  TPACK_ASSERT(found != tensors_.end(), "no variable '" + name + "' in the store");
  return found->second;
}

void VariableStore::set(const std::string& name, const Tensor& value) {
  const Tensor here = tensor(name);
  TPACK_ASSERT(here.spec() == value.spec(),
               name + " is " + here.spec().str() + ", not " + value.spec().str());
  std::memcpy(here.raw(), value.raw(), value.bytes());
}

double VariableStore::number(const std::string& name) const { return tensor(name).at(0); }

void VariableStore::set_number(const std::string& name, double value) {
  const Tensor here = tensor(name);
  TPACK_ASSERT(here.elements() == 1, name + " is not a number");
  visit(here.dtype(), [&](auto zero) { *here.data<decltype(zero)>() = static_cast<decltype(zero)>(value); });
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
    const auto block = FlatBlock::parse(spec->name);
    if (!block) {
      names.push_back(spec->name);
      continue;
    }
    for (const FlatLayout::Entry& entry : layout(block->group).entries)
      names.push_back(block->part(entry.name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void VariableStore::copy_from(const VariableStore& other) {
  for (const auto& [name, tensor] : tensors_) {
    std::memcpy(tensor.raw(), other.tensor(name).raw(), tensor.bytes());
  }
}

/// Every tensor once: parts of a block have its bytes.
uint64_t VariableStore::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors_) {
    const bool is_plain = table_.find(name) != nullptr && !is_in_a_block(name);
    if (is_plain || FlatBlock::parse(name)) bytes += tensor.bytes();
  }
  return bytes;
}

bool VariableStore::is_in_a_block(const std::string& variable) const { return has(gradient_name(variable)); }

}  // namespace tpack
