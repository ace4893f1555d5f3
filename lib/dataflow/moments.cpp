#include "dataflow/moments.h"

#include <algorithm>

#include "dataflow/datapoint.h"
#include "dataflow/source.h"

namespace tpack {

bool may_look_at(const DataFlow& flow) {
  const std::vector<const Source*> sources = flow.sources();
  return std::all_of(sources.begin(), sources.end(),
                     [](const Source* one) { return one->indexed() != nullptr; });
}

std::vector<Moments> moments_of(const DataFlow& flow, const ComponentRef& component, size_t columns,
                                int64_t samples) {
  const size_t index = flow.spec().index(component, "data.train");
  std::vector<Moments> moments(columns);
  const auto cursor = flow.open({});
  for (Datapoint d; moments[0].count < samples && cursor->next(d);) {
    const Tensor x = d.to_tensor(index).cast(DType::kFloat64);
    const auto values = x.span<double>();
    for (size_t i = 0; i < values.size(); ++i) moments[i % columns].add(values[i]);
  }
  return moments;
}

}  // namespace tpack
