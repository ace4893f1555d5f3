#include "cpu/kernel.h"

#include <map>

namespace tpack::cpu {
namespace {

std::map<std::string, KernelEntry>& kernels() {
  static auto& all = *new std::map<std::string, KernelEntry>();
  return all;
}

}  // namespace

const KernelEntry* find_kernel(const std::string& op_type) {
  const auto found = kernels().find(op_type);
  return found == kernels().end() ? nullptr : &found->second;
}

KernelRegistration::KernelRegistration(const char* op_type, Prepare prepare, LayoutRule rule,
                                       Accepts accepts) {
  kernels().emplace(op_type, KernelEntry{prepare, rule, accepts});
}

PreparedKernel plain_kernel(const KernelRequest& request, std::unique_ptr<CpuKernel> kernel,
                            uint64_t scratch_bytes) {
  return {std::move(kernel),
          input_formats(request.node, Layout::kPlain),
          output_formats(request.node, Layout::kPlain),
          scratch_bytes,
          {}};
}

std::vector<Format> input_formats(const Node& node, Layout layout) {
  std::vector<Format> formats;
  for (const Symbol& input : node.inputs) formats.push_back(make_format(input.spec(), layout));
  return formats;
}

std::vector<Format> output_formats(const Node& node, Layout layout) {
  std::vector<Format> formats;
  for (const TensorSpec& spec : node.outputs) formats.push_back(make_format(spec, layout));
  return formats;
}

}  // namespace tpack::cpu
