#include "learner/given_data.h"

#include <filesystem>
#include <utility>

#include "core/registry.h"
#include "dataflow/source.h"
#include "learner/sample_maps.h"

namespace tpack {
namespace {

constexpr const char* kBatches = "BatchData";

/// The item of a source that reads `path`; for a source with an inner source, the inner one reads it.
ConfigNode with_path(const ConfigNode& node, const std::string& path) {
  const ComponentItem item = component_item(node, Source::kKind);
  Diagnostics errors;
  const auto source = Registry<Source>::make(item, errors);
  errors.throw_if_any();
  const char* field = source->part<SourceFiles>().path_field();
  if (field == nullptr)
    throw ConfigError(item.position, "source " + item.name +
                                         " cannot read a single file or folder such as '" + path +
                                         "'; set its fields with --set data.FLOW");
  const ConfigNode* inner = item.params.is_map() ? item.params.find(field) : nullptr;
  const bool is_source = inner != nullptr && inner->is_map();
  const ConfigNode value =
      is_source ? with_path(*inner, path) : ConfigNode(std::filesystem::absolute(path).string());
  const ConfigNode params =
      item.params.is_map() ? item.params.with(field, value) : ConfigNode({{field, value}});
  return ConfigNode::map({{item.name, params}}, node.position());
}

/// Keeps all samples.
ConfigNode with_remainder(const ConfigNode& node) {
  const ComponentItem item = component_item(node, "component");
  if (item.name != kBatches) return node;
  const ConfigNode params = item.params.is_map() ? item.params : ConfigNode({{"batch_size", item.params}});
  return ConfigNode::map({{item.name, params.with("remainder", ConfigNode(true))}}, node.position());
}

/// The setting `on_error` of a flow, or of the flow that it refers to; null if there is none.
ConfigNode on_error_of(const ConfigNode& flow, const FlowScope& flows) {
  if (flow.is_string()) return on_error_of(flows.at(flow.text()), flows);
  if (!flow.is_map()) return {};
  const ConfigNode* said = flow.find("on_error");
  return said != nullptr ? *said : on_error_of(*flow.find("flow"), flows);
}

ConfigNode flow_that_reads(const ConfigNode& flow, const FlowScope& flows, const std::string& path) {
  const ConfigNode components = components_of(flow, flows);
  std::vector<ConfigNode> items = {with_path(components.items()[0], path)};
  for (size_t i = 1; i < components.size(); ++i) items.push_back(with_remainder(components.items()[i]));
  return ConfigNode::list(std::move(items), components.position());
}

}  // namespace

DataFlow flow_to_evaluate(const InferenceModel& model, const std::string& flow, const std::string& path,
                          const std::string& on_error) {
  const auto& flows = model.config().data;
  const auto found = flows.find(flow);
  if (found == flows.end()) throw unknown_reference("flow", flow, {}, model.flow_names());
  ConfigNode node = path.empty() ? found->second : flow_that_reads(found->second, flows, path);
  const ConfigNode policy = on_error.empty() ? on_error_of(found->second, flows) : ConfigNode(on_error);
  if (!policy.is_null()) node = ConfigNode({{"flow", node}, {"on_error", policy}});
  Diagnostics errors;
  auto made = make_flow(node, flows, errors, model.fit());
  errors.throw_if_any();
  return std::move(*made);
}

}  // namespace tpack
