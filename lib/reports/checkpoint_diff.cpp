#include "reports/checkpoint_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "checkpoint/layout.h"
#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "monitor/monitors.h"

namespace tpack {
namespace {

using Differences = std::vector<CheckpointDifference>;

std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string difference(const Tensor& a, const Tensor& b) {
  if (!(a.spec() == b.spec())) return a.spec().str() + " and " + b.spec().str();
  if (bit_equal(a, b)) return "";
  if (!is_float(a.dtype())) return "values differ";
  double most = 0;
  for (const Tensor* tensor : {&a, &b})
    for (int64_t i = 0; i < tensor->elements(); ++i) most = std::max(most, std::abs(tensor->at(i)));
  return "largest difference " + rounded(max_difference(a, b)) + " for values up to " + rounded(most);
}

/// The difference of two histories [[step, value], ...].
std::string difference_of_histories(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto first = nlohmann::json::parse(a);
  const auto second = nlohmann::json::parse(b);
  if (first.size() != second.size())
    return std::to_string(first.size()) + " and " + std::to_string(second.size()) + " values";
  double most = 0;
  std::string step;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!first[i][1].is_number() || !second[i][1].is_number()) continue;
    const double apart = std::abs(first[i][1].get<double>() - second[i][1].get<double>());
    if (!(apart > most)) continue;
    most = apart;
    step = first[i][0].dump();
  }
  return step.empty() ? "values differ"
                      : "largest difference " + rounded(most) + ", after global_step " + step;
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

/// Removes the history of scalars from the texts and returns it by name, without scalars that depend on the
/// clock.
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
  for (CheckpointContent* content : {&a, &b})  // may differ for the same config
    for (const std::string& entry : {layout::kWritten, layout::kWrittenIn}) content->texts.erase(entry);
  Differences all;
  if (a.step != b.step) all.push_back({"step", std::to_string(a.step) + " and " + std::to_string(b.step)});
  const auto equal_or = [](const char* text) {
    return [text](const std::string& x, const std::string& y) { return x == y ? "" : text; };
  };
  compare(a.tensors, b.tensors, all, difference);
  compare(take_history(a, path_a), take_history(b, path_b), all, difference_of_histories);
  compare(a.texts, b.texts, all, equal_or("texts differ"));
  return all;
}

Differences compare_weights(const WeightFile& a, const WeightFile& b) {
  const auto by_name = [](const WeightFile& file) {
    std::map<std::string, const FileWeight*> weights;
    for (const FileWeight& one : file.weights) weights.emplace(one.name, &one);
    return weights;
  };
  const auto first = by_name(a);
  const auto second = by_name(b);
  const bool have_common =
      std::ranges::any_of(first, [&](const auto& one) { return second.contains(one.first); });
  if (!have_common && !first.empty() && !second.empty()) {
    throw ConfigError("no name is in both files: " + a.path + " has '" + printable(first.begin()->first) +
                      "', " + b.path + " '" + printable(second.begin()->first) +
                      "'; `tpack ckpt import` writes a checkpoint with the names of a model");
  }
  Differences all;
  compare(first, second, all, [](const FileWeight* x, const FileWeight* y) {
    return x->spec == y->spec ? difference(x->read(), y->read()) : x->spec.str() + " and " + y->spec.str();
  });
  for (CheckpointDifference& one : all) one.entry = printable(one.entry);
  return all;
}

}  // namespace tpack
