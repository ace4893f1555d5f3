#include "infer/file_samples.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include "core/text.h"
#include "core/text_encoding.h"
#include "data_tools/size_changes.h"
#include "dataflow/source.h"
#include "image/image.h"
#include "infer/picture_maps.h"
#include "infer/table_samples.h"
#include "learner/sample_maps.h"
#include "system/file_io.h"
#include "system/file_kind.h"
#include "system/input_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// The form of a sample before the maps: as in the flow's source, with an image of any size, which may be an
/// array there (`input`). Maps may use its other components, which are zeros for a file. A source that must
/// be opened to be known is assumed to have the model's inputs.
Spec source_spec(const ConfigNode& components, const FlowMap& flows, Color color, const std::string& input,
                 const std::vector<TowerInput>& of_model) {
  const DataFlow source = make_flow(ConfigNode::list({components.items()[0]}), flows);
  std::vector<ComponentSpec> all;
  if (source.knows_spec()) {
    all.assign(source.spec().begin(), source.spec().end());
  } else {
    const std::shared_ptr<Source> own = Registry<Source>::make_item(components.items()[0]);
    const std::optional<ComponentSpec> image = own->part<SourceFiles>().declared_image();
    if (image) all.push_back(*image);
    for (const TowerInput& other : of_model)
      if (!image || other.component != image->name) all.push_back({other.component, other.spec});
  }
  std::vector<ComponentSpec> kept;
  for (const ComponentSpec& component : all) {
    const bool is_image = component.is_image || component.name == input;
    if (!is_image && !component.tensor.shape.known()) continue;
    kept.push_back(component);
    if (!is_image) continue;
    kept.back().is_image = true;
    const DType dtype = component.depth == Depth::k8 ? DType::kUInt8 : DType::kFloat32;
    const int64_t channels = component.frames > 1 ? component.tensor.shape[2] : channels_of(color);
    kept.back().tensor = {dtype, {Shape::kUnknown, Shape::kUnknown, channels}};
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

/// Image files, for an input of the model with a layout.
class ImageFiles final : public FileSamples {
 public:
  ImageFiles(const InferenceModel& model, const TowerInput& input, bool full_size)
      : input_(input), full_size_(full_size), fit_(model.fit()->declared()) {
    const Shape& shape = input_.spec.shape;
    color_ = color_of(input_.layout == "HWC" ? shape[2] : shape[0]);
    const Shape any{Shape::kUnknown, Shape::kUnknown, channels_of(color_)};
    given_ = Spec{{input_.component, {DType::kUInt8, any}, true}};
    maps_ = SampleMaps(ConfigNode::list({}), given_, {}, {});
    const Ref<FlowName>& flow = model.config().predict.data;
    if (!flow.empty())
      add_maps(ConfigNode::string(flow.name, flow.position), model.config().data, model.tower().inputs());
  }

  std::vector<std::string> inputs() const override { return {input_.name}; }
  const char* unit() const override { return "files"; }
  void read(const std::string& path, const std::function<void(FileSample)>& take) override {
    FileSample sample{path, {}};
    try {
      sample.inputs.push_back(image_of(path, sample.place));
    } catch (const DataError& error) {
      sample.error = error.what();
    }
    take(std::move(sample));
  }

 private:
  void add_maps(const ConfigNode& flow, const FlowMap& flows, const std::vector<TowerInput>& of_model) {
    const ConfigNode written = components_of(flow, flows);
    const ConfigNode components = full_size_ ? without_size_changes(written) : written;
    given_ = source_spec(components, flows, color_, input_.component, of_model);
    const ComponentSpec corners = PictureMaps::corners_component();
    std::vector<ComponentSpec> all(given_.begin(), given_.end());
    all.push_back(corners);
    try {
      maps_ = SampleMaps(components, Spec(all), fit_, {input_.component, corners.name});
      given_ = Spec(std::move(all));
    } catch (const ConfigError&) {  // a map takes images alone
      maps_ = SampleMaps(components, given_, fit_, {input_.component});
    }
    require_what_the_model_takes(flow);
  }

  /// What makes images of this kind those that the model takes.
  std::string remedy_of(const TensorSpec& made, const std::string& flow) const {
    if (made.shape == input_.spec.shape)
      return std::string("; write `dtype: ") + name_of(made.dtype) + "` for the input '" + input_.name +
             "' of the model";
    return "; add a Resize to " + flow;
  }

  /// Errors that do not depend on the file are reported once, before reading.
  void require_what_the_model_takes(const ConfigNode& flow) const {
    const auto is_image = [](const ComponentSpec& component) { return component.is_image; };
    if (std::none_of(given_.begin(), given_.end(), is_image)) {
      throw ConfigError(flow.position(),
                        "infer reads images, but the source of flow '" + flow.text() + "' has none");
    }
    const TensorSpec& made = maps_.spec()[component()].tensor;
    if (full_size_ || !made.shape.known() || made == input_.spec) return;
    throw ConfigError(flow.position(), "flow '" + flow.text() + "' produces " + made.str() +
                                           ", but the model takes " + input_.spec.str() +
                                           remedy_of(made, "the flow"));
  }
  size_t component() const { return maps_.spec().index({input_.component.c_str()}, "infer"); }

  Tensor image_of(const std::string& path, std::optional<ImagePlace>& place) const {
    const std::string bytes = file_content(path);
    ImageSize picture;
    Datapoint sample;
    sample.resize(given_.size());
    try {
      // Each image is the one from the file: maps may use several images, which must have one size.
      for (size_t i = 0; i < given_.size(); ++i) {
        if (!given_[i].is_image) continue;
        Image& image = sample.renew_image(i);
        std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
        image.header_known({.color = color_of(given_[i].tensor.shape[2] / given_[i].frames),
                            .depth = given_[i].depth,
                            .frames = given_[i].frames,
                            .background = given_[i].background,
                            .upright = given_[i].upright});
        picture = image.size();
      }
      for (size_t i = 0; i < given_.size(); ++i) {
        TensorSpec unread = given_[i].tensor;
        if (given_[i].annotation == Annotation::kMask) unread.shape = {picture.height, picture.width};
        if (!given_[i].is_image) sample.set_tensor(i, Tensor::zeros(unread));
      }
      const auto given_corners = given_.find(PictureMaps::corners_component().name);
      if (given_corners) sample.set_tensor(*given_corners, PictureMaps::corners_of(picture));
      maps_.apply(sample);
      Tensor value = sample.to_tensor(component()).clone();
      const auto at = maps_.spec().find(PictureMaps::corners_component().name);
      if (at && given_corners && input_.layout == "HWC")
        place = PictureMaps::place_of(sample.tensor(*at), value.shape(), picture);
      if (value.spec() == input_.spec || (full_size_ && has_channels_of_input(value.spec()))) return value;
      throw DataError("becomes " + value.spec().str() + ", but the model takes " + input_.spec.str() +
                      remedy_of(value.spec(), "the flow that `predict.data` names"));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // including errors of the image library
      throw DataError(path, error.what());
    }
  }

  bool has_channels_of_input(const TensorSpec& made) const {
    const int axis = input_.layout == "HWC" ? 2 : 0;
    return made.dtype == input_.spec.dtype && made.shape.rank() == 3 &&
           made.shape[axis] == input_.spec.shape[axis];
  }
  const TowerInput& input_;
  bool full_size_;
  FittedData fit_;
  Color color_ = Color::kRgb;
  Spec given_;  // form of a sample before the maps
  SampleMaps maps_;
};

/// Whether a file begins with text, like a list of images.
bool is_text(const std::string& file) {
  const std::string first = first_bytes(file, 512);
  return !first.empty() && first.find('\0') == std::string::npos && !kind_of_content(first).is_no_text();
}

bool is_table(const std::string& file) {
  const fs::path name = fs::path(file).filename();
  const bool is_packed = name.extension() == ".gz" || name.extension() == ".zst";
  const std::string extension = (is_packed ? name.stem() : name).extension().string();
  return extension == ".csv" || extension == ".tsv" || extension == ".jsonl" || extension == ".ndjson" ||
         extension == ".npz" || extension == ".npy" || extension == ".h5" || extension == ".hdf5" ||
         (!is_image_file(file) && is_text(file));
}

}  // namespace

void FileSamples::want(WantedColumns columns) {
  if (columns.required.empty()) return;
  throw ConfigError("--columns: " + std::string(unit()) + " have no column '" + columns.required[0] + "'; " +
                    columns.others);
}

std::unique_ptr<FileSamples> make_file_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::vector<std::string>& files) {
  const std::vector<TowerInput>& inputs = model.tower().inputs();
  const std::vector<std::string>& needed = request.needed;
  const auto is_needed = [&](const TowerInput& input) {
    return std::find(needed.begin(), needed.end(), input.name) != needed.end();
  };
  const auto is_image = [](const TowerInput& input) { return !input.layout.empty(); };
  auto image = std::find_if(inputs.begin(), inputs.end(),
                            [&](const TowerInput& input) { return is_image(input) && is_needed(input); });
  const bool needs_image = image != inputs.end();
  if (!needs_image) image = std::find_if(inputs.begin(), inputs.end(), is_image);
  const bool are_tables = !files.empty() && std::all_of(files.begin(), files.end(), is_table);
  const bool may_be_images = image != inputs.end() && (needs_image || needed.empty() || !are_tables);
  if (may_be_images && !(are_tables && reads_tables(model))) {
    if (request.truth)
      throw ConfigError("--columns: image files have no true values; use --data with a flow that has them");
    return std::make_unique<ImageFiles>(model, *image, request.full_size);
  }
  if (request.full_size)
    throw ConfigError("--full-size applies only to image files; this model takes rows of tables");
  return make_table_samples(model, request);
}

}  // namespace tpack
