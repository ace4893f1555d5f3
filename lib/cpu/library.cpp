#include "cpu/library.h"

#include <fstream>
#include <map>
#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/engine/reference_kernel.h"
#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "cpu/convolution/convolution_ways.h"
#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "cpu/onednn/onednn.h"
#include "cpu/onednn/primitive.h"
#include "cpu/sweep/simd.h"

namespace tpack::cpu {
namespace {

/// "GenuineIntel 6/143/8 AVX3_SPR".
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> fields;
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    fields[name] = colon + 2 < line.size() ? line.substr(colon + 2) : "";
  }
  return fields["vendor_id"] + " " + fields["cpu family"] + "/" + fields["model"] + "/" + fields["stepping"] +
         " " + simd::target();
}

class CpuLibrary final : public KernelLibrary {
 public:
  explicit CpuLibrary(Precision precision) : factors_(factor_type(precision)) {}
  const std::string& hardware() const override { return hardware_; }
  std::string version() const override {
    const dnnl_version_t* onednn = dnnl_version();
    return std::string("tpack " TPACK_VERSION " oneDNN ") + std::to_string(onednn->major) + "." +
           std::to_string(onednn->minor) + "." + std::to_string(onednn->patch);
  }
  Graph rewritten(const Graph& graph) const override {
    const bool rounds = factors_ != DType::kFloat32 && stored_type() == DType::kFloat32;
    return rounds ? fused(round_factors(graph, factors_), *this) : fused(graph, *this);
  }
  DType stored_type() const override { return has_products_of(factors_) ? factors_ : DType::kFloat32; }
  bool takes_stored(const Node& node) const override {
    const KernelEntry* entry = find_kernel(node);
    return entry != nullptr && entry->types.half;
  }
  bool fuses(const Fused& op, std::span<const Symbol> inputs) const override {
    return has_kernel(op.type()) && epilogue_of(op, inputs);
  }
  LayoutRule rule(const Node& node) const override {
    const KernelEntry* entry = find_kernel(node);
    return entry == nullptr ? LayoutRule::kPlain : entry->rule;
  }
  bool accepts(const Node& node, Layout layout) const override {
    const KernelEntry* entry = find_kernel(node);
    return entry->accepts == nullptr || entry->accepts(node, layout);
  }
  std::vector<Way> ways(const Node& node, bool only_direct) const override {
    return convolution_ways(node, only_direct);
  }
  std::string kind(const Node& node) const override {
    return std::string(node.op->type()) + (find_kernel(node) == nullptr ? " (reference)" : "");
  }
  PreparedKernel prepare(const KernelRequest& request) const override {
    use_one_onednn_thread();
    const KernelEntry* entry = find_kernel(request.node);
    return entry != nullptr ? entry->prepare(request) : prepare_reference(request, "cpu");
  }
  std::unique_ptr<Kernel> reorder(const Format& from, const Format& to, int pieces,
                                  uint64_t& scratch_bytes) const override {
    use_one_onednn_thread();
    return make_reorder(from, to, pieces, scratch_bytes);
  }
  void forget_ways() const override { forget_primitives(); }

 private:
  DType factors_;
  std::string hardware_ = processor_name();
};

}  // namespace

std::unique_ptr<KernelLibrary> make_library(Precision precision) {
  return std::make_unique<CpuLibrary>(precision);
}

}  // namespace tpack::cpu
