#include "data_tools/flow_inspection.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "dataflow/datapoint.h"
#include "draw/text_table.h"
#include "system/log.h"

namespace tpack {
namespace {

std::string size_text(const std::optional<int64_t>& size) {
  if (!size) return "unknown";
  return *size == kEndless ? "endless" : with_thousands(*size);
}

InspectedValue inspected(int64_t item, const std::string& component, const Tensor& value) {
  InspectedValue one{item, component, value.spec()};
  for (int64_t i = 0; i < value.elements(); ++i) {
    const double v = value.at(i);
    one.low = i == 0 ? v : std::min(one.low, v);
    one.high = i == 0 ? v : std::max(one.high, v);
    one.mean += v / static_cast<double>(value.elements());
  }
  return one;
}

}  // namespace

FlowInspection inspect_flow(const std::string& name, const DataFlow& flow, uint64_t seed, int count) {
  flow.prepare();
  FlowInspection report{name, flow.spec(), flow.size(), flow.seek(), {}, 0};
  flow.bad_samples().on_bad_sample(
      [&name](const SampleError& error) { log::warning("data." + name + ": " + error.what()); });
  const auto cursor = flow.open({.seed = seed});
  Datapoint item;
  for (int i = 0; i < count && cursor->next(item); ++i) {
    for (size_t c = 0; c < flow.spec().size(); ++c)
      report.values.push_back(inspected(i, flow.spec()[c].name, item.to_tensor(c)));
  }
  flow.bad_samples().on_bad_sample({});  // so that later readers do not report them again
  report.bad_samples = flow.bad_samples().count();
  return report;
}

FlowInspection inspect_samples(const std::string& name, const DataFlow& flow, const Spec& spec,
                               std::span<Datapoint> samples) {
  FlowInspection report{name, spec, flow.size(), flow.seek(), {}, flow.bad_samples().count()};
  for (size_t i = 0; i < samples.size(); ++i)
    for (size_t c = 0; c < spec.size(); ++c)
      report.values.push_back(inspected(static_cast<int64_t>(i), spec[c].name, samples[i].to_tensor(c)));
  return report;
}

std::string FlowInspection::str() const {
  TextTable facts;
  facts.add({"flow", flow});
  facts.add({"spec", spec.str()});
  facts.add({"items per pass", size_text(size)});
  facts.add({"seek", name_of(seek)});
  TextTable samples({"item", "component", "value", "min", "max", "mean"});
  for (const InspectedValue& v : values)
    samples.add({std::to_string(v.item), v.component, v.spec.str(), short_text(v.low), short_text(v.high),
                 short_text(v.mean)});
  return facts.str() + "\n" + samples.str();
}

nlohmann::ordered_json FlowInspection::to_json() const {
  nlohmann::ordered_json components = nlohmann::ordered_json::array();
  for (const ComponentSpec& c : spec) {
    components.push_back(
        {{"name", c.name}, {"spec", c.tensor.str()}, {"image", c.is_image}, {"classes", c.classes}});
  }
  nlohmann::ordered_json json = {{"flow", flow}, {"spec", std::move(components)}, {"seek", name_of(seek)}};
  json["size"] = size && *size != kEndless ? nlohmann::ordered_json(*size) : nlohmann::ordered_json(nullptr);
  json["samples"] = nlohmann::ordered_json::array();
  for (const InspectedValue& v : values) {
    json["samples"].push_back({{"item", v.item},
                               {"component", v.component},
                               {"spec", v.spec.str()},
                               {"min", v.low},
                               {"max", v.high},
                               {"mean", v.mean}});
  }
  json["bad_samples"] = bad_samples;
  return json;
}

}  // namespace tpack
