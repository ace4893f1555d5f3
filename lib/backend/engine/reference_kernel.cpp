#include "backend/engine/reference_kernel.h"

#include <memory>
#include <mutex>
#include <set>

#include "backend/reference/kernel.h"
#include "graph/structural.h"
#include "system/log.h"

namespace tpack {
namespace {

void warn_once(const std::string& op, const std::string& device) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(op).second)
    log::warning("op " + op + " has no " + device +
                 " kernel; its reference kernel runs instead, on one thread");
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Node& node, reference::Kernel kernel, std::byte* (*host_address)(std::byte*))
      : kernel_(kernel), host_address_(host_address) {
    std::vector<Symbol> inputs;
    for (const Symbol& input : node.inputs) {
      const auto twin = std::make_shared<const Input>(InputParams{"x", input.dtype(), input.shape()});
      inputs.push_back(graph_.add(twin, {}, "x", {}).out());
    }
    node_ = &graph_.add(node.op, inputs, node.path, node.origin);
  }

  void run(const KernelArgs& args) override {
    std::vector<Tensor> in;
    std::vector<Tensor> out;
    for (size_t i = 0; i < args.in.size(); ++i) in.push_back(window(node_->inputs[i].spec(), args.in[i]));
    for (size_t i = 0; i < args.out.size(); ++i) out.push_back(window(node_->outputs[i], args.out[i]));
    kernel_(*node_, in, out, *args.info);
  }

 private:
  Tensor window(const TensorSpec& spec, std::byte* data) const {
    if (host_address_ != nullptr) data = host_address_(data);
    return {spec, Storage::view(data, static_cast<size_t>(spec.bytes()), nullptr)};
  }

  Graph graph_;  // the node alone: its graph may be destroyed
  const Node* node_ = nullptr;
  reference::Kernel kernel_;
  std::byte* (*host_address_)(std::byte*);
};

}  // namespace

PreparedKernel prepare_reference(const KernelRequest& request, const std::string& device,
                                 std::byte* (*host_address)(std::byte*)) {
  const std::string op = request.node.op->type();
  const reference::Kernel kernel = reference::find_kernel(op);
  TPACK_ASSERT(kernel != nullptr, "no kernel for op " + op);
  if (!device.empty()) warn_once(op, device);
  return plain_kernel(request, std::make_unique<ReferenceKernel>(request.node, kernel, host_address));
}

}  // namespace tpack
