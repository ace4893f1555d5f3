#include "experiment/file_samples.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>

#include "core/file_io.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/image.h"
#include "dataflow/stage.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThreadedMap = "MultiThreadMapData";

void add_folder(const std::string& folder, std::vector<std::string>& files) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code unknown;
    const std::string path = at->path().string();
    if (is_hidden(at->path().filename().string())) {
      at.disable_recursion_pending();
      continue;
    }
    // A link that leads nowhere is a broken image, not none.
    const bool is_file = at->is_regular_file(unknown) || is_dangling_link(path);
    if (is_file && is_image_file(path)) found.push_back(path);
  }
  if (failure) throw DataError(folder, "cannot be listed completely: " + failure.message());
  if (found.empty()) throw DataError(folder, "has no .jpg, .jpeg or .png files");
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

void add_lines(std::istream& list, std::vector<std::string>& files) {
  for (std::string line; std::getline(list, line);) {
    const std::string path(trim(line));
    if (!path.empty()) files.push_back(path);
  }
}

/// The list of components that a flow stands for.
ConfigNode components_of(const ConfigNode& flow, const FlowMap& flows) {
  if (flow.is_string()) return components_of(flows.at(flow.text()), flows);
  return flow.is_map() ? components_of(*flow.find("flow"), flows) : flow;
}

/// The item as a map; nothing for what works on many samples.
std::optional<ComponentItem> as_map(const ConfigNode& node) {
  ComponentItem item = component_item(node, "component");
  if (Registry<Map>::table().find(item.name) != nullptr) return item;
  const ComponentInfo* stage = ComponentTable::of(Stage::kKind).find(item.name);
  if (stage == nullptr || stage->name != kThreadedMap) return std::nullopt;
  return ComponentItem{"MapData", item.params.without("num_thread"), item.position};
}

/// What a sample is before the maps: as the flow's source has it, with an image of any size, which may be an
/// array there (`input`). Maps may name its other components; those of a file are zeros.
Spec source_spec(const ConfigNode& components, const FlowMap& flows, Color color, const std::string& input) {
  const DataFlow source = make_flow(ConfigNode::list({components.items()[0]}), flows);
  std::vector<ComponentSpec> kept;
  for (const ComponentSpec& component : source.spec()) {
    const bool is_image = component.is_image || component.name == input;
    if (!is_image && !component.tensor.shape.known()) continue;
    kept.push_back(component);
    if (!is_image) continue;
    kept.back().is_image = true;
    kept.back().tensor = {DType::kUInt8, {Shape::kUnknown, Shape::kUnknown, channels_of(color)}};
  }
  return Spec(std::move(kept));
}

std::string file_content(const std::string& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) throw DataError(path, "is a folder");
  std::optional<std::string> content = read_whole_file(path);
  if (!content) throw DataError(path, "cannot be read");
  return std::move(*content);
}

}  // namespace

std::vector<std::string> listed_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code failure;
    if (word == "-") {
      add_lines(std::cin, files);
    } else if (word.starts_with("@")) {
      const std::optional<std::string> content = read_whole_file(word.substr(1));
      if (!content) throw DataError(word.substr(1), "this list cannot be read");
      std::istringstream list(*content);
      add_lines(list, files);
    } else if (fs::is_directory(word, failure)) {
      add_folder(word, files);
    } else {
      files.push_back(word);
    }
  }
  if (files.empty())
    throw DataError("no file is named; give images, folders, @LIST or - for a list on standard input");
  return files;
}

FileSamples::FileSamples(const Experiment& experiment) {
  const std::vector<TowerInput>& inputs = experiment.tower->inputs();
  const auto image =
      std::find_if(inputs.begin(), inputs.end(), [](const auto& i) { return !i.layout.empty(); });
  if (image == inputs.end())
    throw ConfigError("infer reads images, but no input of this model has a `layout`");
  input_ = &*image;
  const Shape& shape = input_->spec.shape;
  color_ = (input_->layout == "HWC" ? shape[2] : shape[0]) == 1 ? Color::kGray : Color::kRgb;
  const Ref<FlowName>& flow = experiment.config.predict.data;
  const Shape any{Shape::kUnknown, Shape::kUnknown, channels_of(color_)};
  given_ = Spec{{input_->component, {DType::kUInt8, any}, true}};
  spec_ = given_;
  if (!flow.empty()) add_maps(ConfigNode::string(flow.name, flow.position), experiment.config.data);
}

void FileSamples::add_maps(const ConfigNode& flow, const FlowMap& flows) {
  const ConfigNode components = components_of(flow, flows);
  given_ = source_spec(components, flows, color_, input_->component);
  spec_ = given_;
  std::map<std::string, int> seen;
  for (const ConfigNode& node : components.items()) {
    const auto item = as_map(node);
    if (!item) continue;
    Diagnostics errors;
    std::shared_ptr<Map> map = Registry<Map>::make(*item, errors);
    errors.throw_if_any();
    spec_ = map->bind(spec_);
    const std::string stem = snake_case(item->name);
    maps_.emplace_back(stable_hash(stem + "_" + std::to_string(seen[stem]++)), std::move(map));
  }
  require_what_the_model_takes(flow);
}

/// Errors that do not depend on the file are reported once, before any is read.
void FileSamples::require_what_the_model_takes(const ConfigNode& flow) const {
  const auto is_image = [](const ComponentSpec& component) { return component.is_image; };
  if (std::none_of(given_.begin(), given_.end(), is_image)) {
    throw ConfigError(flow.position(),
                      "infer reads images, but the source of flow '" + flow.text() + "' has none");
  }
  const TensorSpec& made = spec_[spec_.index({input_->component.c_str()}, "infer")].tensor;
  if (!made.shape.known() || made == input_->spec) return;
  throw ConfigError(flow.position(), "flow '" + flow.text() + "' gives " + made.str() + ", the model takes " +
                                         input_->spec.str() + "; add a Resize to the flow");
}

Tensor FileSamples::read(const std::string& path, int64_t index) const {
  const std::string bytes = file_content(path);
  Datapoint sample;
  sample.set_id({0, index, 0});
  sample.resize(given_.size());
  size_t at = 0;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (given_[i].is_image) at = i;
    if (!given_[i].is_image) sample.set_tensor(i, Tensor::zeros(given_[i].tensor));
  }
  Image& image = sample.renew_image(at);
  std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
  try {
    image.header_known(color_);
    for (const auto& [key, map] : maps_) {
      if (!map->apply(sample, {0, sample.id(), key})) throw DataError("is dropped by a map of the flow");
    }
    Tensor value = sample.to_tensor(spec_.index({input_->component.c_str()}, "infer")).clone();
    if (value.spec() == input_->spec) return value;
    throw DataError("gives " + value.spec().str() + ", the model takes " + input_->spec.str() +
                    "; add a Resize to the flow that `predict.data` names");
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // of the image library, too
    throw DataError(path, error.what());
  }
}

}  // namespace tpack
