#include "ops/replica_mean.h"

namespace tpack {

Schema<ReplicaMeanParams> ReplicaMean::schema() {
  return Schema<ReplicaMeanParams>("The mean of a value over all replicas.");
}

std::vector<TensorSpec> ReplicaMean::infer(std::span<const TensorSpec> in) const {
  check_float(in[0], "what replicas average");
  return {in[0]};
}

std::vector<Symbol> ReplicaMean::gradient(Builder& b, const Node& /*n*/, std::span<const Symbol> dy) const {
  return {replica_mean(b, dy[0])};
}

Symbol replica_mean(Builder& b, Symbol x) { return b.emit<ReplicaMean>({}, {x}).out(); }

TPACK_REGISTER(Op, ReplicaMean, "ReplicaMean");

}  // namespace tpack
