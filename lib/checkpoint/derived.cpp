#include "checkpoint/derived.h"

#include <algorithm>
#include <array>

#include "checkpoint/layout.h"
#include "core/error.h"

namespace tpack {
namespace {

bool is_float(const Tensor& value) {
  return value.dtype() == DType::kFloat32 || value.dtype() == DType::kFloat64;
}

/// Adds the floats of a model to sums in float64.
void add_to(std::map<std::string, Tensor>& sums, const CheckpointContent& content, const std::string& path,
            const std::string& first) {
  const bool is_first = sums.empty();
  size_t added = 0;
  for (const auto& [name, value] : content.tensors) {
    if (!is_float(value)) continue;
    Tensor more = value.cast(DType::kFloat64);
    ++added;
    if (is_first) {
      sums.emplace(name, std::move(more));
      continue;
    }
    const auto sum = sums.find(name);
    if (sum == sums.end()) throw CheckpointError(path, "'" + name + "' is not in " + first);
    if (sum->second.shape() != more.shape())
      throw CheckpointError(path, "'" + name + "' has the shape " + more.shape().str() + ", in " + first +
                                      " " + sum->second.shape().str());
    for (int64_t i = 0; i < more.elements(); ++i) sum->second.data<double>()[i] += more.data<double>()[i];
  }
  if (added != sums.size())
    throw CheckpointError(path, "has " + std::to_string(added) + " variables of floats, " + first + " " +
                                    std::to_string(sums.size()));
}

}  // namespace

CheckpointContent for_predictions(CheckpointContent content) {
  std::erase_if(content.tensors, [](const auto& one) { return !one.first.starts_with(layout::kModel); });
  const std::array kept = {layout::kConfig, layout::kWritten, layout::kWrittenIn, layout::kPlan,
                           layout::kLabels, layout::kFitted,  layout::kInput};
  std::erase_if(content.texts,
                [&](const auto& one) { return std::ranges::find(kept, one.first) == kept.end(); });
  content.lists.clear();
  return content;
}

CheckpointContent average_of(const std::vector<std::string>& paths) {
  std::map<std::string, Tensor> sums;
  CheckpointContent content;
  for (const std::string& path : paths) {
    content = for_predictions(load_checkpoint(path));
    add_to(sums, content, path, paths.front());
  }
  for (auto& [name, sum] : sums) {
    for (int64_t i = 0; i < sum.elements(); ++i) sum.data<double>()[i] /= static_cast<double>(paths.size());
    content.tensors.at(name) = sum.cast(content.tensors.at(name).dtype());
  }
  return content;
}

}  // namespace tpack
