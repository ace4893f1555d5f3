#include "dataflow/flow_settings.h"

#include "system/machine.h"

namespace tpack {

size_t WorkerCount::resolved() const {
  return count == 0 ? available_processors() : static_cast<size_t>(count);
}

std::optional<WorkerCount> Codec<WorkerCount>::parse(const ConfigNode& node, Reader& reader) {
  constexpr int64_t kMax = 1024;
  if (node.is_string() && node.text() == "auto") return WorkerCount{};
  if (node.kind() != ConfigNode::Kind::kInt || node.as_int() < 1 || node.as_int() > kMax) {
    reader.wrong_type(node, "'auto' or a number of threads from 1 to 1024");
    return std::nullopt;
  }
  return WorkerCount{static_cast<int>(node.as_int())};
}

ConfigNode Codec<WorkerCount>::dump(WorkerCount workers) {
  return workers.count == 0 ? ConfigNode("auto") : ConfigNode(workers.count);
}

}  // namespace tpack
