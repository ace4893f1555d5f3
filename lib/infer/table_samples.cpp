#include "infer/table_samples.h"

#include <algorithm>
#include <new>

#include "core/text.h"
#include "dataflow/source.h"
#include "image/image.h"
#include "infer/picture_maps.h"
#include "learner/sample_maps.h"
#include "predict/target_input.h"
#include "system/anonymous_file.h"
#include "system/mapping_guard.h"

namespace tpack {

ColumnTexts texts_of(const RandomAccessSource& source, const WantedColumns& wanted) {
  ColumnTexts texts;
  for (const std::string& column : wanted.required) {
    try {
      texts[column] = source.part<TableRows>().column(column);
    } catch (const ConfigError& error) {
      throw ConfigError("--columns: " + std::string(error.what()) + "; " + wanted.others);
    }
  }
  for (const std::string& column : wanted.optional) {
    try {
      texts[column] = source.part<TableRows>().column(column);
    } catch (const ConfigError&) {  // then it is not the file of the table
      continue;
    }
  }
  return texts;
}

const TowerInput* image_input(const std::vector<TowerInput>& inputs) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [](const TowerInput& input) { return !input.layout.empty(); });
  return found == inputs.end() ? nullptr : &*found;
}

Tensor picture_of(Datapoint& sample, const Spec& spec, const TowerInput& image, const std::string& name) {
  const auto at = spec.find(image.component);
  if (!at || !spec[*at].is_image || is_image_file(name)) return {};
  return sample.to_tensor(*at).clone();
}

const TowerInput& true_input(const InferenceModel& model) {
  const auto target = target_input(model.tower());
  for (const TowerInput& input : model.tower().inputs())
    if (target && input.name == target->input) return input;
  throw ConfigError("--columns: 'true': no term of the cost compares predictions with an input");
}

namespace {

/// Files for the source of the predict flow, a sample for each row.
class TableFiles final : public FileSamples {
 public:
  TableFiles(const InferenceModel& model, const SampleRequest& request)
      : needed_(request.needed), fit_(model.fit()->declared()) {
    const Ref<FlowName>& flow = model.config().predict.data;
    // For a generator without needed inputs, each row is still a sample.
    if (needed_.empty()) needed_.push_back(model.tower().inputs()[0].name);
    for (const std::string& name : needed_) {
      for (const TowerInput& input : model.tower().inputs())
        if (input.name == name) inputs_.push_back(input);
    }
    if (request.places) image_ = image_input(inputs_);
    if (request.truth) truth_ = true_input(model).component;
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
    if (source_ == nullptr || source_->part<SourceFiles>().reopen_with("", names_) == nullptr)
      throw ConfigError(item.position, std::string(kNoImage) + ", and source " + item.name + " of flow '" +
                                           flow.name +
                                           "' cannot read other files; use CSV, Npz, HDF5 or SVMLight");
  }

  std::vector<std::string> inputs() const override { return needed_; }
  const char* unit() const override { return "rows"; }
  void want(WantedColumns columns) override { columns_ = std::move(columns); }
  void read(const std::string& path, const std::function<void(FileSample)>& take) override {
    read_table(path, [&](int64_t /*row*/, FileSample one) { take(std::move(one)); });
  }
  bool reads_lines() const override { return source_->part<SourceFiles>().text_lines().has_value(); }
  bool has_header_line() const override {
    return source_->part<SourceFiles>().text_lines() == TextLines::kAfterHeader;
  }
  /// The lines become a file in memory, which the source reads like any other file.
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
    if (!are_rows && lines.size() > 1) {  // so that a bad line does not affect others
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
      samples[i].index = first + static_cast<int64_t>(i) - (has_header_line() ? 2 : 1);
      take(std::move(samples[i]));
    }
  }

 private:
  static constexpr const char* kNoImage = "infer reads images, but no input of this model has a `layout`";

  /// A file with the maps of its rows.
  struct OpenTable {
    std::shared_ptr<RandomAccessSource> source;
    PictureMaps maps;
  };
  OpenTable opened(const std::string& path) const {
    OpenTable table;
    table.source = source_->part<SourceFiles>().reopen_with(path, names_);
    table.source->prepare_once({});
    table.maps = PictureMaps(components_, table.source->spec(), fit_, names_of_inputs(), image_);
    return table;
  }
  /// `take` gets the number of each row; -1 with an error of the whole file.
  void read_table(const std::string& path, const std::function<void(int64_t, FileSample)>& take) const {
    OpenTable table;
    try {
      table = opened(path);
    } catch (const ConfigError& error) {
      return take(-1, {path, {}, error.what()});
    } catch (const DataError& error) {
      return take(-1, {path, {}, error.what()});
    }
    const ColumnTexts texts = texts_of(*table.source, columns_);
    for (int64_t row = 0; row < table.source->size(); ++row) {
      FileSample one = sample(table, row);
      for (const auto& [column, all] : texts) one.columns[column] = all[static_cast<size_t>(row)];
      take(row, std::move(one));
    }
  }

  /// The components that the model needs.
  std::vector<std::string> names_of_inputs() const {
    std::vector<std::string> names;
    for (const TowerInput& input : inputs_) names.push_back(input.component);
    const bool needs_truth = !truth_.empty() && std::find(names.begin(), names.end(), truth_) == names.end();
    if (needs_truth) names.push_back(truth_);
    return names;
  }

  FileSample sample(const OpenTable& table, int64_t row) const {
    FileSample out{table.source->file_of(row), {}};
    out.index = table.source->part<DerivedSamples>().index_in_data(row);
    try {
      Datapoint d;
      d.resize(table.source->spec().size());
      table.source->get(row, {}, d);
      check_mapped_files();
      if (image_ != nullptr) out.picture = picture_of(d, table.source->spec(), *image_, out.name);
      table.maps.apply(d, out.place);
      for (const TowerInput& input : inputs_) {
        const Tensor& value = d.to_tensor(table.maps.spec().index({input.component.c_str()}, "infer"));
        if (!(value.spec() == input.spec))
          throw DataError("component '" + input.component + "' is " + value.spec().str() +
                          ", but the model takes " + input.spec.str());
        out.inputs.push_back(value.clone());
      }
      if (!truth_.empty())
        out.truth = d.to_tensor(table.maps.spec().index({truth_.c_str()}, "infer")).clone();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {  // including errors of the image library
      out.error = out.name + ": " + error.what();
    }
    return out;
  }

  std::vector<std::string> needed_;
  std::string truth_;  // the component; empty if not requested
  WantedColumns columns_;
  FittedData fit_;
  std::vector<TowerInput> inputs_;
  const TowerInput* image_ = nullptr;  // index in inputs_, if places are requested
  std::vector<std::string> names_;     // required components of the files
  ConfigNode components_;              // of the predict flow
  std::shared_ptr<const RandomAccessSource> source_;
};

}  // namespace

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
  return indexed != nullptr && indexed->part<SourceFiles>().reopen_with("", {}) != nullptr;
}

std::unique_ptr<FileSamples> make_table_samples(const InferenceModel& model, const SampleRequest& request) {
  return std::make_unique<TableFiles>(model, request);
}

}  // namespace tpack
