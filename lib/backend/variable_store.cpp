#include "backend/variable_store.h"

#include <algorithm>
#include <cstring>

namespace tpack {

VariableStore::VariableStore(const VariableTable& table, Memory& memory)
    : VariableStore(table, memory, nullptr, Sharing::kAll) {}

VariableStore::VariableStore(const VariableTable& table, const VariableStore& shared, Sharing sharing)
    : VariableStore(table, shared.memory_, &shared, sharing) {}

VariableStore::VariableStore(const VariableTable& table, Memory& memory, const VariableStore* shared,
                             Sharing sharing)
    : table_(table), memory_(memory), shared_(shared), sharing_(sharing) {
  if (shared != nullptr) version_ = shared->version_;
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
      add(spec->name, made(spec->name, spec->spec, spec->scope));
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

Tensor VariableStore::zeros(const TensorSpec& spec) const {
  return {spec, memory_.allocate_zeros(static_cast<size_t>(spec.bytes()))};
}

/// A variable or block: from the other store, or a new one if there is none or it is not shared.
Tensor VariableStore::made(const std::string& name, const TensorSpec& spec, VariableScope scope) const {
  const bool is_own = shared_ == nullptr || scope == VariableScope::kGradient ||
                      scope == VariableScope::kLocal ||
                      (scope == VariableScope::kModel && sharing_ == Sharing::kOptimizer);
  return is_own ? zeros(spec) : shared_->tensor(name);
}

bool VariableStore::is_shared(const std::string& name) const {
  return shared_ != nullptr && tensor(name).address() == shared_->tensor(name).address();
}

bool VariableStore::is_local(const std::string& name) const {
  const VariableSpec* const spec = table_.find(name);
  return spec != nullptr && spec->scope == VariableScope::kLocal;
}

void VariableStore::add_flat(const FlatBlock& block, DType type) {
  const FlatLayout& layout = this->layout(block.group);
  const TensorSpec spec{type, Shape{layout.size}};
  const auto scope = block.of == kGradient     ? VariableScope::kGradient
                     : block.of == kParameters ? VariableScope::kModel
                                               : VariableScope::kOptimizer;
  const Tensor flat = made(block.name(), spec, scope);
  for (const FlatLayout::Entry& entry : layout.entries) {
    const size_t offset = static_cast<size_t>(entry.offset) * size_of(type);
    add(block.of == kParameters ? entry.name : block.part(entry.name),
        flat.window({type, entry.shape}, offset));
  }
  add(block.name(), flat);
}

Tensor VariableStore::tensor(const std::string& name) const {
  note_change();
  const auto found = tensors_.find(name);
  TPACK_ASSERT(found != tensors_.end(), "no variable '" + name + "' in the store");
  return found->second;
}

void VariableStore::set(const std::string& name, const Tensor& value) {
  const Tensor here = tensor(name);
  TPACK_ASSERT(here.spec() == value.spec(),
               name + " is " + here.spec().str() + ", not " + value.spec().str());
  here.copy_from(value);
}

double VariableStore::number(const std::string& name) const {
  const Tensor here = tensor(name);
  TPACK_ASSERT(here.elements() == 1, name + " is not a number");
  return visit(here.dtype(), [&](auto number) {
    memory_.read(reinterpret_cast<std::byte*>(&number), here.address(), sizeof number);
    return static_cast<double>(number);
  });
}

void VariableStore::set_number(const std::string& name, double value) {
  const Tensor here = tensor(name);
  TPACK_ASSERT(here.elements() == 1, name + " is not a number");
  visit(here.dtype(), [&](auto zero) {
    const auto number = static_cast<decltype(zero)>(value);
    memory_.write(here.address(), reinterpret_cast<const std::byte*>(&number), sizeof number);
  });
}

void VariableStore::initialize(uint64_t seed) {
  for (const VariableSpec* spec : table_.all()) {
    if (is_shared(spec->name)) continue;
    const Tensor here = tensor(spec->name);
    const Tensor value = here.on_host() ? here : Tensor(here.spec());
    std::memset(value.raw(), 0, value.bytes());
    if (spec->initialize) {
      Rng rng(mix(seed, stable_hash(spec->name)));
      spec->initialize(value, rng);
    }
    here.copy_from(value);
  }
}

std::vector<std::string> VariableStore::names(VariableScope scope) const {
  return saved_names(table_, scope);
}

void VariableStore::copy_from(const VariableStore& other) {
  for (const auto& [name, tensor] : tensors_) {
    if (!is_local(name)) tensor.copy_from(other.tensor(name));
  }
  note_change();
}

/// Every tensor once: parts of a block have its bytes.
uint64_t VariableStore::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors_) {
    const bool is_plain = table_.find(name) != nullptr && !is_in_a_block(name);
    if (!is_shared(name) && (is_plain || FlatBlock::parse(name))) bytes += tensor.bytes();
  }
  return bytes;
}

bool VariableStore::is_in_a_block(const std::string& variable) const { return has(gradient_name(variable)); }

}  // namespace tpack
