#include <algorithm>
#include <cstring>

#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/source.h"
#include "infer/file_samples.h"
#include "infer/picture_maps.h"
#include "infer/table_samples.h"

namespace tpack {
namespace {

/// The samples of a flow, without its batches.
class FlowSamples final : public FileSamples {
 public:
  FlowSamples(const InferenceModel& model, const SampleRequest& request, const std::string& name)
      : flow_(model.flow(name, SampleOrder::kOfData)), seed_(static_cast<uint64_t>(model.config().seed)) {
    flow_.prepare();
    const std::vector<std::string>& needed = request.needed;
    for (const TowerInput& input : model.tower().inputs())
      if (std::find(needed.begin(), needed.end(), input.name) != needed.end()) inputs_.push_back(input);
    if (samples().size() == kEndless)
      throw ConfigError("--data " + name + ": a pass of this flow has no end");
    for (const TowerInput& input : inputs_)
      components_.push_back(samples().spec().index({input.component.c_str()}, "flow '" + name + "'"));
    if (request.places) find_places(model, name);
    if (request.truth)
      truth_ = samples().spec().index({true_input(model).component.c_str()}, "flow '" + name + "'");
  }

  std::vector<std::string> inputs() const override {
    std::vector<std::string> names;
    for (const TowerInput& input : inputs_) names.push_back(input.name);
    return names;
  }
  const char* unit() const override { return "samples"; }
  void want(WantedColumns columns) override {
    if (source() == nullptr) return FileSamples::want(std::move(columns));
    columns_ = std::move(columns);
  }
  std::string id_column() const override {
    return source() == nullptr ? "" : source()->part<TableRows>().id_column();
  }
  void read(const std::string& /*name*/, const std::function<void(FileSample)>& take) override {
    const RandomAccessSource* of = source();
    const ColumnTexts texts = of == nullptr ? ColumnTexts() : texts_of(*of, columns_);
    const auto cursor = samples().open({seed_, 0, 0});
    for (Datapoint item; cursor->next(item);) {
      const SampleId& id = item.id();
      FileSample sample{sample_name(samples(), id), {}};
      sample.index = of == nullptr ? id.index : of->part<DerivedSamples>().index_in_data(id.index);
      for (size_t i = 0; i < inputs_.size(); ++i)
        sample.inputs.push_back(item.to_tensor(components_[i]).clone());
      if (image_ != nullptr) place(id, sample);
      if (truth_) sample.truth = item.to_tensor(*truth_).clone();
      for (const auto& [column, all] : texts) sample.columns[column] = all[static_cast<size_t>(id.index)];
      take(std::move(sample));
    }
  }

 private:
  const Flow& samples() const {
    const BatchedFlow* batched = batched_of(*flow_.flow());
    return batched == nullptr ? *flow_.flow() : batched->up();
  }
  /// The first source, if it can be read in any order; else null.
  const RandomAccessSource* source() const {
    return dynamic_cast<const RandomAccessSource*>(samples().sources().at(0));
  }

  void find_places(const InferenceModel& model, const std::string& name) {
    const TowerInput* image = image_input(inputs_);
    if (image == nullptr || source() == nullptr) return;
    const auto& flows = model.config().data;
    places_ = PictureMaps(components_of(flows.at(name), flows), source()->spec(), model.fit()->declared(),
                          {image->component}, image);
    image_ = image;
  }
  /// The image of a sample, without randomness.
  void place(const SampleId& id, FileSample& sample) const {
    Datapoint d;
    d.resize(source()->spec().size());
    source()->get(id.index, {}, d);
    Tensor picture = picture_of(d, source()->spec(), *image_, sample.name);
    std::optional<ImagePlace> found;
    places_.apply(d, found);
    const Tensor& image = d.to_tensor(places_.spec().index({image_->component.c_str()}, "infer"));
    const Tensor& given = sample.inputs[static_cast<size_t>(image_ - inputs_.data())];
    const bool is_same =
        image.spec() == given.spec() && std::memcmp(image.raw(), given.raw(), image.bytes()) == 0;
    if (!is_same) return;
    sample.place = found;
    sample.picture = std::move(picture);
  }

  DataFlow flow_;
  uint64_t seed_;
  WantedColumns columns_;
  std::vector<TowerInput> inputs_;
  std::vector<size_t> components_;     // of these
  const TowerInput* image_ = nullptr;  // index in inputs_, if places are requested
  PictureMaps places_;
  std::optional<size_t> truth_;  // the component; nothing if not requested
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

}  // namespace

std::unique_ptr<FileSamples> make_flow_samples(const InferenceModel& model, const SampleRequest& request,
                                               const std::string& flow) {
  return std::make_unique<FlowSamples>(model, request, flow);
}

std::unique_ptr<FileSamples> make_counted_samples(const InferenceModel& model) {
  return std::make_unique<CountedSamples>(model);
}

}  // namespace tpack
