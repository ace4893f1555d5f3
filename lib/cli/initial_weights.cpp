#include "cli/initial_weights.h"

#include <algorithm>

#include "checkpoint/checkpoint.h"
#include "cli/text_table.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr std::string_view kModel = "model/";

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return full_match(name, p); });
}

bool wanted(const InitSection& init, const std::string& name) {
  return (init.include.empty() || any_matches(init.include, name)) && !any_matches(init.exclude, name);
}

/// The longest beginning that is to be renamed counts.
std::string renamed(const InitSection& init, const std::string& name) {
  std::string best;
  for (const auto& [from, to] : init.rename) {
    if (name.starts_with(from) && from.size() > best.size()) best = from;
  }
  return best.empty() ? name : init.rename.at(best) + name.substr(best.size());
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  if (names.size() <= kMost) return join(names, ", ");
  return join(std::span(names).first(kMost), ", ") + ", ...";
}

/// Variables of the model in the file, by the name they have here.
std::map<std::string, Tensor> weights_of(const CheckpointContent& file, const InitSection& init) {
  std::map<std::string, Tensor> weights;
  for (const auto& [entry, value] : file.tensors) {
    if (!entry.starts_with(kModel)) continue;
    const std::string name = renamed(init, entry.substr(kModel.size()));
    if (wanted(init, name)) weights[name] = value;
  }
  return weights;
}

}  // namespace

std::string WeightReport::str() const {
  TextTable table({"weights", "variables", "names"});
  table.add({"loaded", std::to_string(loaded.size()), listed(loaded)});
  table.add({"missing", std::to_string(missing.size()), listed(missing)});
  table.add({"extra", std::to_string(extra.size()), listed(extra)});
  table.add({"mismatched", std::to_string(mismatched.size()), listed(mismatched)});
  return table.str();
}

WeightReport load_initial_weights(const InitSection& init, Trainer& trainer) {
  const std::string path = resolved_path(init.from);
  std::map<std::string, Tensor> weights = weights_of(load_checkpoint(path), init);
  CheckpointContent content;
  trainer.save(content);
  WeightReport report;
  for (auto& [entry, value] : content.tensors) {
    if (!entry.starts_with(kModel)) continue;
    const std::string name = entry.substr(kModel.size());
    const auto found = weights.find(name);
    if (found == weights.end()) {
      report.missing.push_back(name);
    } else if (!(found->second.spec() == value.spec())) {
      report.mismatched.push_back(name + " (" + found->second.spec().str() + " there, " + value.spec().str() +
                                  " here)");
    } else {
      value = found->second;
      report.loaded.push_back(name);
    }
    if (found != weights.end()) weights.erase(found);
  }
  for (const auto& [name, value] : weights) report.extra.push_back(name);
  if (report.loaded.empty()) {
    throw ConfigError(init.from.position,
                      "init: " + path + " has no variable that fits this model\n" + report.str());
  }
  trainer.load(content, path);
  return report;
}

}  // namespace tpack
