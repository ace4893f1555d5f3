#include "run/data_report.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "dataflow/guarded_flow.h"
#include "dataflow/source.h"
#include "predict/class_counts.h"

namespace tpack {

namespace {

/// With the classes that the model learns, if a source has several components with classes.
std::vector<SourceFacts> facts_for(const TowerFunction* tower, const DataFlow& flow) {
  std::vector<SourceFacts> all = flow.facts();
  const ComponentSpec* labels = label_component(tower, flow);
  for (SourceFacts& facts : all) {
    const auto found = labels == nullptr ? facts.classes_of.end() : facts.classes_of.find(labels->name);
    if (found != facts.classes_of.end()) facts.classes = found->second;
  }
  return all;
}

/// A classifier learns nothing from samples of one class.
std::string remark_of_one_class(const SourceFacts& facts) {
  const auto has_samples = [](const SourceFacts::Class& one) { return one.samples > 0; };
  const auto first = std::find_if(facts.classes.begin(), facts.classes.end(), has_samples);
  if (first == facts.classes.end() || std::any_of(std::next(first), facts.classes.end(), has_samples))
    return "";
  return "; all samples are of class '" + first->name + "', so there is nothing to tell apart";
}

}  // namespace

std::string describe_data(const std::map<std::string, DataFlow>& flows, const TowerFunction* tower) {
  std::string text;
  for (const auto& [name, flow] : flows) {
    for (const SourceFacts& facts : facts_for(tower, flow)) {
      text += "data." + name + ": " + facts.str();
      for (const std::string& remark : facts.remarks) text += "; " + remark;
      if (name == "train") text += remark_of_one_class(facts);
      text += "\n";
    }
  }
  return text;
}

namespace {

/// Whether a bad sample reaches the reader; only known for flows with one source.
bool stops_at_bad_samples(const DataFlow& flow) {
  if (flow.settings().on_error != OnError::kStop || flow.flow()->sources().size() != 1) return false;
  const Flow* at = flow.flow().get();
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(at)) {
    if (dynamic_cast<const GuardedFlow*>(at) != nullptr) return false;
    at = &wrapped->up();
  }
  return true;
}

}  // namespace

std::map<std::string, std::string> known_bad_samples(const std::map<std::string, DataFlow>& flows) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, flow] : flows) {
    for (const SourceFacts& facts : flow.facts()) {
      if (facts.bad == 0 || !stops_at_bad_samples(flow)) continue;
      texts[name] = "data." + name + ": a run stops when it reads a bad sample (on_error: stop): " +
                    join(facts.remarks, "; ") + "; fix the data, or set data." + name +
                    ".on_error to skip or replace";
    }
  }
  return texts;
}

namespace {

/// What is wrong with a sample in its source; empty if nothing is. Errors: none from the data.
std::string complaint_of(const RandomAccessSource& source, int64_t index) {
  try {
    Datapoint d;
    d.resize(source.spec().size());
    source.get(index, {0, {0, index, 0}, 0, false}, d);
    for (size_t i = 0; i < d.size(); ++i)
      if (d.is_image(i)) d.image(i).pixels();
  } catch (const FileError& error) {
    return error.what();  // begins with the file
  } catch (const std::exception& error) {
    const std::string file = source.file_of(index);
    return (file.empty() ? "sample " + std::to_string(index) : file) + ": " + error.what();
  }
  return "";
}

/// About the first bad sample; `time` measures all of them.
std::string complaint_of_few(const RandomAccessSource& source, const Stopwatch& time) {
  constexpr int64_t kMost = 200;
  constexpr double kEnoughSeconds = 1;
  const int64_t size = source.size();
  if (size == 0 || size == kEndless) return "";
  Rng rng(stable_hash("check"));
  for (int64_t i = 0; i < std::min(kMost, size) && time.seconds() < kEnoughSeconds; ++i) {
    const int64_t index = i == 0   ? 0
                          : i == 1 ? size - 1
                          : size < kMost
                              ? i - 1
                              : static_cast<int64_t>(rng.below(static_cast<uint32_t>(
                                    std::min<int64_t>(size, std::numeric_limits<uint32_t>::max()))));
    if (source.part<SampleFacts>().is_bad(index)) continue;  // known
    std::string text = complaint_of(source, index);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> bad_samples_among_few(const std::map<std::string, DataFlow>& flows) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, flow] : flows) {
    if (!stops_at_bad_samples(flow)) continue;
    const auto* source = dynamic_cast<const RandomAccessSource*>(flow.flow()->sources()[0]);
    const Stopwatch time;
    const std::string complaint = source == nullptr ? "" : complaint_of_few(*source, time);
    if (!complaint.empty())
      texts[name] = "data." + name +
                    ": a run stops when it reads a bad sample (on_error: stop): " + complaint +
                    "; `tpack data check` finds all of them; fix the data, or set data." + name +
                    ".on_error to skip or replace";
  }
  return texts;
}

nlohmann::ordered_json data_json(const std::map<std::string, DataFlow>& flows, const TowerFunction* tower) {
  auto all = nlohmann::ordered_json::object();
  for (const auto& [name, flow] : flows) {
    auto sources = nlohmann::ordered_json::array();
    for (const SourceFacts& facts : facts_for(tower, flow)) {
      auto classes = nlohmann::ordered_json::array();
      for (const auto& [label, samples] : facts.classes)
        classes.push_back({{"name", label}, {"samples", samples}});
      nlohmann::ordered_json one;
      const bool counted = facts.samples && *facts.samples != kEndless;
      one["samples"] = counted ? nlohmann::ordered_json(*facts.samples) : nlohmann::ordered_json(nullptr);
      one["unit"] = facts.unit;
      one["classes"] = std::move(classes);
      one["remarks"] = facts.remarks;
      sources.push_back(std::move(one));
    }
    all[name] = std::move(sources);
  }
  return all;
}

}  // namespace tpack
