// The dataflow without anything else: a flow described in C++, read by worker threads. Links libtpack only.
#include <cstdio>

#include "dataflow/data_flow.h"

int main() {
  using tpack::ConfigNode;
  const ConfigNode config = ConfigNode::list({
      ConfigNode{{"RenderedDigits", {{"split", "train"}, {"size", 1000}}}},
      ConfigNode{{"BatchData", {{"batch_size", 100}}}},
  });
  const tpack::DataFlow flow = tpack::make_flow(config);
  const auto stream = flow.stream({.seed = 1, .passes = 1});
  double sum = 0;
  int64_t samples = 0;
  while (auto batch = stream->next()) {
    for (const uint8_t pixel : batch->tensor(0).span<uint8_t>()) sum += pixel;
    samples += batch->samples();
  }
  std::printf("%s: %lld samples, mean pixel %.3f\n", flow.spec().str().c_str(),
              static_cast<long long>(samples), sum / static_cast<double>(samples * 28 * 28));
  return samples == 1000 && sum > 0 ? 0 : 1;
}
