#include "ops/replica_mean.h"

#include <cstring>

#include "cpu/kernel.h"

namespace tpack::cpu {
namespace {

PreparedKernel prepare_replica_mean(const KernelRequest& r) {
  return plain_kernel(r, make_kernel([spec = r.node.outputs[0]](const KernelArgs& args) {
                        const auto bytes = static_cast<size_t>(spec.bytes());
                        std::memcpy(args.out[0], args.in[0], bytes);
                        if (args.info->replicas == nullptr) return;
                        args.info->replicas->mean(Tensor(spec, Storage::view(args.out[0], bytes, nullptr)));
                      }));
}

const KernelRegistration kReplicaMean("ReplicaMean", prepare_replica_mean, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
