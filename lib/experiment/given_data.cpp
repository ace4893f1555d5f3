#include "experiment/given_data.h"

#include <filesystem>
#include <utility>

#include "core/registry.h"
#include "dataflow/source.h"
#include "experiment/sample_maps.h"

namespace tpack {
namespace {

constexpr const char* kBatches = "BatchData";

/// The item of a source that reads `path`; of one that has another source inside, that one does.
ConfigNode with_path(const ConfigNode& node, const std::string& path) {
  const ComponentItem item = component_item(node, Source::kKind);
  Diagnostics errors;
  const auto source = Registry<Source>::make(item, errors);
  errors.throw_if_any();
  const char* field = source->path_field();
  if (field == nullptr)
    throw ConfigError(item.position, "source " + item.name + " does not read one file or folder, as '" +
                                         path + "' is; set its fields with --set data.FLOW");
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

}  // namespace

DataFlow flow_of_file(const InferenceModel& model, const std::string& flow, const std::string& path) {
  const auto& flows = model.config().data;
  const auto found = flows.find(flow);
  if (found == flows.end()) throw unknown_reference("flow", flow, {}, model.flow_names());
  const ConfigNode components = components_of(found->second, flows);
  std::vector<ConfigNode> items = {with_path(components.items()[0], path)};
  for (size_t i = 1; i < components.size(); ++i) items.push_back(with_remainder(components.items()[i]));
  Diagnostics errors;
  auto made =
      make_flow(ConfigNode::list(std::move(items), components.position()), flows, errors, model.fit());
  errors.throw_if_any();
  return std::move(*made);
}

}  // namespace tpack
