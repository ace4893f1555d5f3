#include "dataflow/moments.h"

#include <algorithm>

#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/source.h"

namespace tpack {

bool may_look_at(const DataFlow& flow) {
  const std::vector<const Source*> sources = flow.sources();
  return std::all_of(sources.begin(), sources.end(),
                     [](const Source* one) { return one->indexed() != nullptr; });
}

namespace {

/// The numbers of at most `most` samples of a flow of samples.
void see_samples(const Flow& flow, int64_t most, const std::function<void(Datapoint&)>& see) {
  const PassKey pass;
  Datapoint sample;
  if (flow.access() == Access::kSequential || flow.places() <= most) {
    const auto cursor = flow.open(pass);
    for (int64_t seen = 0; seen < most && cursor->next(sample); ++seen) see(sample);
    return;
  }
  for (int64_t i = 0; i < most; ++i) {
    const auto place = static_cast<int64_t>(static_cast<double>(flow.places()) * static_cast<double>(i) /
                                            static_cast<double>(most));
    sample.resize(flow.spec().size());
    if (flow.get(pass, place, sample)) see(sample);
  }
}

}  // namespace

std::vector<Moments> moments_of(const DataFlow& flow, const ComponentRef& component, size_t columns,
                                int64_t most, const std::function<double(double)>& value) {
  flow.prepare();
  const size_t index = flow.spec().index(component, "data.train");
  const BatchedFlow* batched = batched_of(*flow.flow());
  std::vector<Moments> moments(columns);
  see_samples(batched != nullptr ? batched->up() : *flow.flow(), most, [&](Datapoint& sample) {
    const Tensor x = sample.to_tensor(index).cast(DType::kFloat64);
    const auto values = x.span<double>();
    for (size_t i = 0; i < values.size(); ++i) moments[i % columns].add(value ? value(values[i]) : values[i]);
  });
  return moments;
}

}  // namespace tpack
