#include "tools/checkpoint_diff.h"

#include <map>

#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "core/text.h"
#include "monitor/monitors.h"

namespace tpack {
namespace {

using Differences = std::vector<CheckpointDifference>;

std::string difference(const Tensor& a, const Tensor& b) {
  if (!(a.spec() == b.spec())) return a.spec().str() + " and " + b.spec().str();
  if (bit_equal(a, b)) return "";
  return is_float(a.dtype()) ? "largest difference " + shortest(max_difference(a, b)) : "values differ";
}

template <class T, class Compare>
void compare(const std::map<std::string, T>& a, const std::map<std::string, T>& b, Differences& all,
             Compare&& difference_of) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    const std::string text = other == b.end() ? "only in the first" : difference_of(value, other->second);
    if (!text.empty()) all.push_back({name, text});
  }
  for (const auto& [name, value] : b) {
    if (!a.contains(name)) all.push_back({name, "only in the second"});
  }
}

/// Takes the history of scalars out of the texts: by name, without what depends on the clock.
std::map<std::string, std::string> take_history(CheckpointContent& content, const std::string& path) {
  std::map<std::string, std::string> histories;
  const auto found = content.texts.find(layout::kHistory);
  if (found == content.texts.end()) return histories;
  try {
    const nlohmann::json all = nlohmann::json::parse(found->second);
    for (const auto& [name, values] : all.items()) {
      if (!differs_between_runs(name)) histories["statistic " + name] = values.dump();
    }
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(path, std::string("'") + layout::kHistory + "' is not a history: " + error.what());
  }
  content.texts.erase(found);
  return histories;
}

}  // namespace

Differences compare_checkpoints(CheckpointContent a, const std::string& path_a, CheckpointContent b,
                                const std::string& path_b) {
  for (CheckpointContent* content : {&a, &b})  // other words for the same config
    for (const std::string& entry : {layout::kWritten, layout::kWrittenIn}) content->texts.erase(entry);
  Differences all;
  if (a.step != b.step) all.push_back({"step", std::to_string(a.step) + " and " + std::to_string(b.step)});
  const auto equal_or = [](const char* text) {
    return [text](const std::string& x, const std::string& y) { return x == y ? "" : text; };
  };
  compare(a.tensors, b.tensors, all, difference);
  compare(take_history(a, path_a), take_history(b, path_b), all, equal_or("values differ"));
  compare(a.texts, b.texts, all, equal_or("texts differ"));
  return all;
}

}  // namespace tpack
