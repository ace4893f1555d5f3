#include "tools/file_samples.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/batched_flow.h"
#include "dataflow/image.h"
#include "dataflow/source.h"
#include "experiment/sample_maps.h"
#include "system/anonymous_file.h"
#include "system/file_io.h"
#include "tools/size_changes.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// What a sample is before the maps: as the flow's source has it, with an image of any size, which may be an
/// array there (`input`). Maps may name its other components; those of a file are zeros. A source that must
/// be opened to know what it has is taken to have what the model takes.
Spec source_spec(const ConfigNode& components, const FlowMap& flows, Color color, const std::string& input,
                 const std::vector<TowerInput>& of_model) {
  const DataFlow source = make_flow(ConfigNode::list({components.items()[0]}), flows);
  std::vector<ComponentSpec> all;
  if (source.knows_spec()) {
    all.assign(source.spec().begin(), source.spec().end());
  } else {
    const std::shared_ptr<Source> own = Registry<Source>::make_item(components.items()[0]);
    const std::optional<ComponentSpec> image = own->declared_image();
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

/// Image files, for an input of the model that has a layout.
class ImageFiles final : public FileSamples {
 public:
  ImageFiles(const InferenceModel& model, const TowerInput& input, bool full_size)
      : input_(input), full_size_(full_size), fit_(model.fit()->declared()) {
    const Shape& shape = input_.spec.shape;
    color_ = (input_.layout == "HWC" ? shape[2] : shape[0]) == 1 ? Color::kGray : Color::kRgb;
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
    ComponentSpec corners{kCorners, {DType::kFloat32, Shape{3, 2}}};
    corners.annotation = Annotation::kPoints;
    std::vector<ComponentSpec> all(given_.begin(), given_.end());
    all.push_back(corners);
    try {
      maps_ = SampleMaps(components, Spec(all), fit_, {input_.component, kCorners});
      given_ = Spec(std::move(all));
    } catch (const ConfigError&) {  // a map takes images alone
      maps_ = SampleMaps(components, given_, fit_, {input_.component});
    }
    require_what_the_model_takes(flow);
  }

  /// Errors that do not depend on the file are reported once, before any is read.
  void require_what_the_model_takes(const ConfigNode& flow) const {
    const auto is_image = [](const ComponentSpec& component) { return component.is_image; };
    if (std::none_of(given_.begin(), given_.end(), is_image)) {
      throw ConfigError(flow.position(),
                        "infer reads images, but the source of flow '" + flow.text() + "' has none");
    }
    const TensorSpec& made = maps_.spec()[component()].tensor;
    if (full_size_ || !made.shape.known() || made == input_.spec) return;
    throw ConfigError(flow.position(), "flow '" + flow.text() + "' gives " + made.str() +
                                           ", the model takes " + input_.spec.str() +
                                           "; add a Resize to the flow");
  }
  size_t component() const { return maps_.spec().index({input_.component.c_str()}, "infer"); }

  Tensor image_of(const std::string& path, std::optional<ImagePlace>& place) const {
    const std::string bytes = file_content(path);
    ImageSize picture;
    Datapoint sample;
    sample.resize(given_.size());
    try {
      // Each image is that of the file: maps may be of several, which have one size.
      for (size_t i = 0; i < given_.size(); ++i) {
        if (!given_[i].is_image) continue;
        Image& image = sample.renew_image(i);
        std::copy(bytes.begin(), bytes.end(), image.encoded_buffer(bytes.size()).begin());
        const int64_t channels = given_[i].tensor.shape[2] / given_[i].frames;
        image.header_known({channels == 1 ? Color::kGray : Color::kRgb, given_[i].depth, given_[i].frames});
        picture = image.size();
      }
      for (size_t i = 0; i < given_.size(); ++i) {
        TensorSpec unread = given_[i].tensor;
        if (given_[i].annotation == Annotation::kMask) unread.shape = {picture.height, picture.width};
        if (!given_[i].is_image) sample.set_tensor(i, Tensor::zeros(unread));
      }
      const auto given_corners = given_.find(kCorners);
      if (given_corners)
        sample.set_tensor(*given_corners,
                          Tensor::of<float>({3, 2}, {0, 0, static_cast<float>(picture.width), 0, 0,
                                                     static_cast<float>(picture.height)}));
      maps_.apply(sample);
      Tensor value = sample.to_tensor(component()).clone();
      const auto at = maps_.spec().find(kCorners);
      if (at && given_corners && input_.layout == "HWC")
        place = place_of(sample.tensor(*at), value.shape(), picture);
      if (value.spec() == input_.spec || (full_size_ && has_channels_of_input(value.spec()))) return value;
      throw DataError("gives " + value.spec().str() + ", the model takes " + input_.spec.str() +
                      "; add a Resize to the flow that `predict.data` names");
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // of the image library, too
      throw DataError(path, error.what());
    }
  }

  bool has_channels_of_input(const TensorSpec& made) const {
    const int axis = input_.layout == "HWC" ? 2 : 0;
    return made.dtype == input_.spec.dtype && made.shape.rank() == 3 &&
           made.shape[axis] == input_.spec.shape[axis];
  }
  /// Nothing for an image that no map made [height, width, channels].
  static std::optional<ImagePlace> place_of(const Tensor& corners, const Shape& image, ImageSize picture) {
    if (image.rank() != 3 || corners.shape() != Shape{3, 2}) return std::nullopt;
    ImagePlace place{picture, {static_cast<int>(image[1]), static_cast<int>(image[0])}, {}};
    for (size_t i = 0; i < 3; ++i) {
      const auto at = static_cast<int64_t>(2 * i);
      place.corners.at(i) = {corners.at(at), corners.at(at + 1)};
    }
    return place;
  }

  static constexpr const char* kCorners = "corners of the picture";  // that maps move with it

  const TowerInput& input_;
  bool full_size_;
  FittedData fit_;
  Color color_ = Color::kRgb;
  Spec given_;  // of a sample before the maps
  SampleMaps maps_;
};

/// The texts of columns, by their names.
using ColumnTexts = std::map<std::string, std::vector<std::string>>;

/// Those of the columns that a source has; the writer says what to do without the others.
ColumnTexts texts_of(const RandomAccessSource& source, const std::vector<std::string>& columns) {
  ColumnTexts texts;
  for (const std::string& column : columns) {
    try {
      texts[column] = source.column(column);
    } catch (const ConfigError&) {
      continue;
    }
  }
  return texts;
}

/// Files of the kind that the source of the predict flow reads, a sample for each row.
class TableFiles final : public FileSamples {
 public:
  TableFiles(const InferenceModel& model, std::vector<std::string> needed, std::vector<std::string> columns)
      : needed_(std::move(needed)), columns_(std::move(columns)), fit_(model.fit()->declared()) {
    const Ref<FlowName>& flow = model.config().predict.data;
    // Of a generator that needs none, each row is still a sample.
    if (needed_.empty()) needed_.push_back(model.tower().inputs()[0].name);
    for (const std::string& name : needed_) {
      for (const TowerInput& input : model.tower().inputs())
        if (input.name == name) inputs_.push_back(input);
    }
    if (flow.empty())
      throw ConfigError(kNoImage +
                        std::string("; set predict.data to a flow with CSV, Npz, HDF5 or SVMLight"));
    components_ = components_of(ConfigNode::string(flow.name, flow.position), model.config().data);
    const ComponentItem item = component_item(components_.items()[0], Source::kKind);
    Diagnostics errors;
    const std::shared_ptr<Source> source = Registry<Source>::make(item, errors);
    errors.throw_if_any();
    source->follow(model.fit(), snake_case(item.name) + "_0");
    source_ = source->indexed();
    names_ = needed_before_maps(components_, names_of_inputs());
    if (source_ == nullptr || source_->reopen_with("", names_) == nullptr)
      throw ConfigError(item.position, std::string(kNoImage) + ", and source " + item.name + " of flow '" +
                                           flow.name +
                                           "' reads no other files; CSV, Npz, HDF5 and SVMLight do");
  }

  std::vector<std::string> inputs() const override { return needed_; }
  const char* unit() const override { return "rows"; }
  void read(const std::string& path, const std::function<void(FileSample)>& take) override {
    read_table(path, [&](int64_t /*row*/, FileSample one) { take(std::move(one)); });
  }
  bool reads_lines() const override { return source_->text_lines().has_value(); }
  bool has_header_line() const override { return source_->text_lines() == TextLines::kAfterHeader; }
  /// The lines become a file in memory, which the source reads as any other one.
  void read_lines(const std::string& header, std::span<const std::string> lines, int64_t first,
                  const std::function<void(FileSample)>& take) override {
    std::string text;
    if (has_header_line()) text = header + "\n";
    for (const std::string& line : lines) text += line + "\n";
    const AnonymousFile file(text);
    std::vector<FileSample> samples;
    std::string error;
    read_table(file.path(), [&](int64_t row, FileSample one) {
      if (row < 0)
        error = std::move(one.error);
      else
        samples.push_back(std::move(one));
    });
    const bool are_rows = error.empty() && samples.size() == lines.size();
    if (!are_rows && lines.size() > 1) {  // so that one that is bad spoils no other
      for (size_t i = 0; i < lines.size(); ++i)
        read_lines(header, lines.subspan(i, 1), first + static_cast<int64_t>(i), take);
      return;
    }
    if (!are_rows) samples = {{file.path(), {}, error.empty() ? "is not one row" : error}};
    for (size_t i = 0; i < samples.size(); ++i) {
      const std::string name = "stdin:" + std::to_string(first + static_cast<int64_t>(i));
      std::string& why = samples[i].error;
      const size_t place = why.find(file.path());
      if (place != std::string::npos) {  // with the line there
        const size_t end = why.find_first_not_of("0123456789:", place + file.path().size());
        why.replace(place, std::min(end, why.size()) - place, name + ":");
      } else if (!why.empty()) {
        why = name + ": " + why;
      }
      samples[i].name = name;
      take(std::move(samples[i]));
    }
  }

 private:
  static constexpr const char* kNoImage = "infer reads images, but no input of this model has a `layout`";

  /// `take` gets the number of each row; -1 with what is wrong with the whole file.
  void read_table(const std::string& path, const std::function<void(int64_t, FileSample)>& take) const {
    try {
      const std::shared_ptr<RandomAccessSource> source = source_->reopen_with(path, names_);
      source->prepare_once({});
      const SampleMaps maps(components_, source->spec(), fit_, names_of_inputs());
      const ColumnTexts texts = texts_of_columns(*source);
      for (int64_t row = 0; row < source->size(); ++row) {
        FileSample one = sample(*source, maps, row);
        for (const auto& [column, all] : texts) one.columns[column] = all[static_cast<size_t>(row)];
        take(row, std::move(one));
      }
    } catch (const ConfigError& error) {
      take(-1, {path, {}, error.what()});
    } catch (const DataError& error) {
      take(-1, {path, {}, error.what()});
    }
  }

  /// The components that the model needs.
  std::vector<std::string> names_of_inputs() const {
    std::vector<std::string> names;
    for (const TowerInput& input : inputs_) names.push_back(input.component);
    return names;
  }

  /// Of the columns that were asked for, those that the file has. A column of what is predicted is not taken
  /// from the file: it is the prediction.
  ColumnTexts texts_of_columns(const RandomAccessSource& source) const {
    std::vector<std::string> wanted = columns_;
    std::erase_if(wanted, [&](const std::string& column) {
      const auto& all = fit_.components();
      return std::any_of(all.begin(), all.end(), [&](const FittedComponent& one) {
        const bool is_read = std::find(names_.begin(), names_.end(), one.component) != names_.end();
        return !is_read && std::find(one.columns.begin(), one.columns.end(), column) != one.columns.end();
      });
    });
    return texts_of(source, wanted);
  }

  FileSample sample(const RandomAccessSource& source, const SampleMaps& maps, int64_t row) const {
    FileSample out{source.file_of(row), {}};
    try {
      Datapoint d;
      d.resize(source.spec().size());
      source.get(row, {}, d);
      maps.apply(d);
      for (const TowerInput& input : inputs_) {
        const Tensor& value = d.to_tensor(maps.spec().index({input.component.c_str()}, "infer"));
        if (!(value.spec() == input.spec))
          throw DataError("component '" + input.component + "' is " + value.spec().str() +
                          ", the model takes " + input.spec.str());
        out.inputs.push_back(value.clone());
      }
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // of the image library, too
      out.error = out.name + ": " + error.what();
    }
    return out;
  }

  std::vector<std::string> needed_;
  std::vector<std::string> columns_;  // that were asked for
  FittedData fit_;
  std::vector<TowerInput> inputs_;
  std::vector<std::string> names_;  // of the components that the files must have
  ConfigNode components_;           // of the predict flow
  std::shared_ptr<const RandomAccessSource> source_;
};

/// The samples of a flow, without its batches.
class FlowSamples final : public FileSamples {
 public:
  FlowSamples(const InferenceModel& model, const std::vector<std::string>& needed, const std::string& name,
              std::vector<std::string> columns)
      : flow_(model.flow(name, SampleOrder::kOfData)),
        seed_(static_cast<uint64_t>(model.config().seed)),
        columns_(std::move(columns)) {
    flow_.prepare();
    for (const TowerInput& input : model.tower().inputs())
      if (std::find(needed.begin(), needed.end(), input.name) != needed.end()) inputs_.push_back(input);
    if (samples().size() == kEndless)
      throw ConfigError("--data " + name + ": a pass of this flow has no end");
    for (const TowerInput& input : inputs_)
      components_.push_back(samples().spec().index({input.component.c_str()}, "flow '" + name + "'"));
  }

  std::vector<std::string> inputs() const override {
    std::vector<std::string> names;
    for (const TowerInput& input : inputs_) names.push_back(input.name);
    return names;
  }
  const char* unit() const override { return "samples"; }
  void read(const std::string& /*name*/, const std::function<void(FileSample)>& take) override {
    const auto* source = dynamic_cast<const RandomAccessSource*>(samples().sources().at(0));
    const ColumnTexts texts = source == nullptr ? ColumnTexts() : texts_of(*source, columns_);
    const auto cursor = samples().open({seed_, 0, 0});
    for (Datapoint item; cursor->next(item);) {
      const SampleId& id = item.id();
      FileSample sample{sample_name(samples(), id), {}};
      for (size_t i = 0; i < inputs_.size(); ++i)
        sample.inputs.push_back(item.to_tensor(components_[i]).clone());
      for (const auto& [column, all] : texts) sample.columns[column] = all[static_cast<size_t>(id.index)];
      take(std::move(sample));
    }
  }

 private:
  const Flow& samples() const {
    const BatchedFlow* batched = batched_of(*flow_.flow());
    return batched == nullptr ? *flow_.flow() : batched->up();
  }
  DataFlow flow_;
  uint64_t seed_;
  std::vector<std::string> columns_;
  std::vector<TowerInput> inputs_;
  std::vector<size_t> components_;  // of these
};

/// Samples of a generator.
class CountedSamples final : public FileSamples {
 public:
  explicit CountedSamples(const InferenceModel& model) : input_(model.tower().inputs()[0]) {}
  std::vector<std::string> inputs() const override { return {input_.name}; }
  const char* unit() const override { return "samples"; }
  void read(const std::string& name, const std::function<void(FileSample)>& take) override {
    take({name, {Tensor::zeros(input_.spec)}});
  }

 private:
  const TowerInput& input_;
};

bool is_table(const std::string& file) {
  const fs::path name = fs::path(file).filename();
  const bool is_packed = name.extension() == ".gz" || name.extension() == ".zst";
  const std::string extension = (is_packed ? name.stem() : name).extension().string();
  return extension == ".csv" || extension == ".tsv" || extension == ".jsonl" || extension == ".ndjson" ||
         extension == ".npz" || extension == ".npy" || extension == ".h5" || extension == ".hdf5";
}

/// Whether the source of the predict flow reads other files.
bool reads_tables(const InferenceModel& model) {
  const Ref<FlowName>& flow = model.config().predict.data;
  if (flow.empty()) return false;
  const ConfigNode components =
      components_of(ConfigNode::string(flow.name, flow.position), model.config().data);
  Diagnostics errors;
  const std::shared_ptr<Source> source =
      Registry<Source>::make(component_item(components.items()[0], Source::kKind), errors);
  errors.throw_if_any();
  const auto indexed = source->indexed();
  return indexed != nullptr && indexed->reopen_with("", {}) != nullptr;
}

}  // namespace

std::unique_ptr<FileSamples> make_file_samples(const InferenceModel& model,
                                               const std::vector<std::string>& needed,
                                               const std::vector<std::string>& files,
                                               const std::vector<std::string>& columns, bool full_size) {
  const std::vector<TowerInput>& inputs = model.tower().inputs();
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
  if (may_be_images && !(are_tables && reads_tables(model)))
    return std::make_unique<ImageFiles>(model, *image, full_size);
  if (full_size) throw ConfigError("--full-size is for image files, and this model takes rows of tables");
  return std::make_unique<TableFiles>(model, needed, columns);
}

std::unique_ptr<FileSamples> make_flow_samples(const InferenceModel& model,
                                               const std::vector<std::string>& needed,
                                               const std::string& flow,
                                               const std::vector<std::string>& columns) {
  return std::make_unique<FlowSamples>(model, needed, flow, columns);
}

std::unique_ptr<FileSamples> make_counted_samples(const InferenceModel& model) {
  return std::make_unique<CountedSamples>(model);
}

}  // namespace tpack
