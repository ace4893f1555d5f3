#include "cpu/kernel.h"

#include <algorithm>
#include <map>

namespace tpack::cpu {
namespace {

std::map<std::string, KernelEntry>& kernels() {
  static auto& all = *new std::map<std::string, KernelEntry>();
  return all;
}

}  // namespace

const KernelEntry* find_kernel(const Node& node) {
  const auto found = kernels().find(node.op->type());
  if (found == kernels().end()) return nullptr;
  const auto is_int64 = [](const TensorSpec& spec) { return spec.dtype == DType::kInt64; };
  const bool has_int64 = std::any_of(node.outputs.begin(), node.outputs.end(), is_int64) ||
                         std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](const Symbol& input) { return is_int64(input.spec()); });
  return has_int64 && !found->second.types.int64 ? nullptr : &found->second;
}

bool has_kernel(const char* op_type) { return kernels().contains(op_type); }

KernelRegistration::KernelRegistration(const char* op_type, Prepare prepare, LayoutRule rule, Accepts accepts,
                                       KernelTypes types) {
  kernels().emplace(op_type, KernelEntry{prepare, rule, accepts, types});
}

}  // namespace tpack::cpu
