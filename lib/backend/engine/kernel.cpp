#include "backend/engine/kernel.h"

namespace tpack {

PreparedKernel plain_kernel(const KernelRequest& request, std::unique_ptr<Kernel> kernel,
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

}  // namespace tpack
