#include <algorithm>

#include "agents/agent_source.h"
#include "callbacks/extra_file.h"
#include "core/text.h"
#include "draw/image_grid.h"
#include "draw/png.h"
#include "input/input_source.h"
#include "predict/output_images.h"
#include "system/file_io.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

constexpr double kMaxSide = 64;

struct SampleGridParams {
  std::vector<Ref<LayerOutput>> outputs;
  Ref<FlowName> data = {"train", {}};
  int64_t rows = 8;
  int64_t columns = 8;
  std::optional<std::pair<double, double>> range;
};

/// The inputs and the random numbers of layers are always those of the first batches of the flow, so pictures
/// of a run differ only because of the weights. Training is not affected. Source: tensorpack's GAN examples,
/// which sample after training; the visualiser of its CycleGAN.
class SampleGrid final : public Callback {
 public:
  using Params = SampleGridParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the model on the first samples of a flow, and writes its images as one picture to "
               "samples/OUTPUTS-STEP.png of the run folder and to TensorBoard.")
        .example("SampleGrid: {outputs: [fake], rows: 4, columns: 4}")
        .field("outputs", &Params::outputs,
               "outputs of the model that are images; several are drawn next to each other for each sample")
        .required()
        .field("data", &Params::data, "name of the flow in `data` for the inputs")
        .field("rows", &Params::rows, between(1, kMaxSide), "rows of samples")
        .field("columns", &Params::columns, between(1, kMaxSide), "samples in a row")
        .field("range", &Params::range,
               "values that are drawn black and white; default: [0, 1] after a Sigmoid, [-1, 1] after a "
               "Tanh, otherwise the one of [0, 1], [-1, 1], [0, 255] and [0, 65535] that fits the values of "
               "a picture");
  }
  explicit SampleGrid(Params p)
      : Callback({.identity = name_of(p),
                  .only_one = true,
                  .ranks_are_fixed = "one process writes the pictures",
                  .may_end_early = {HookPhase::kTriggerEpoch}}),
        p_(std::move(p)) {
    if (p_.outputs.empty())
      throw ConfigError("callback SampleGrid: 'outputs' is empty; name an output of the model");
    if (p_.range && p_.range->first == p_.range->second)
      throw ConfigError("callback SampleGrid: the two values of 'range' must differ");
  }

  void setup(Setup& setup) override {
    Run& run = setup.run();
    const ModelHandle model = run.model_handle();
    const DataFlow& flow = run.flow(p_.data);
    flow.prepare();
    if (agent_source_of(*flow.flow()) != nullptr)
      throw ConfigError(
          p_.data.position,
          "callback SampleGrid: flow '" + p_.data.name +
              "' plays with the model, so its samples cannot be read again; name another flow in 'data'");
    const auto batch = flow.batch_size();
    if (!batch) {
      throw ConfigError(
          p_.data.position,
          "flow '" + p_.data.name + "' produces single samples; end it with BatchData: {batch_size: ...}");
    }
    components_ = bind_inputs(model.tower->inputs(), flow.spec(), "flow '" + p_.data.name + "'");
    nominal_ = batch_specs(*model.tower, *batch);
    std::vector<PredictOutput> outputs;
    for (const Ref<LayerOutput>& output : p_.outputs) outputs.push_back({output.name, output});
    std::vector<std::string> inputs;
    for (const TowerInput& input : model.tower->inputs()) inputs.push_back(input.name);
    predictor_ = std::make_unique<Predictor>(model, std::move(outputs), inputs);
    images_ = std::make_unique<OutputImages>(model.tower->inputs());
    check_images();
  }

  void compile(Run& /*run*/) override { predictor_->compile(nominal_); }

  void trigger(Run& run) override {
    if (batches_.empty()) read_batches(run);
    if (batches_.empty()) return;
    const Tensor grid = image_grid(drawn(), p_.columns * std::ssize(p_.outputs));
    run.monitors().put_image("samples/" + rules().identity, grid);
    if (!run.folder().empty()) write(run, grid);
  }

 private:
  static std::string name_of(const Params& p) {
    std::string name = joined_names(p.outputs);
    std::replace(name.begin(), name.end(), '/', '-');
    return name;
  }
  int64_t count() const { return p_.rows * p_.columns; }

  void check_images() const {
    const std::vector<OutputForm>& forms = predictor_->forms();
    Diagnostics errors;
    for (size_t i = 0; i < forms.size(); ++i) {
      const Ref<LayerOutput>& output = p_.outputs[i];
      const std::string found = "'" + output.name + "' is " + forms[i].spec.str() + " for each sample";
      if (!images_->is_image(forms[i])) {
        errors.add(output.position, "SampleGrid: " + found +
                                        ", which is not an image; an image has the shape [channels, height, "
                                        "width] with 1 or 3 channels");
        continue;
      }
      const Shape first = images_->shape_of(forms[0]);
      const Shape shape = images_->shape_of(forms[i]);
      if (first.rank() == 3 && (shape[1] != first[1] || shape[2] != first[2]))
        errors.add(output.position, "SampleGrid: " + found + ", but '" + p_.outputs[0].name + "' is " +
                                        forms[0].spec.str() + "; images of one grid must have the same size");
    }
    errors.throw_if_any();
  }

  /// Only once: the next pictures have the same inputs.
  void read_batches(const Run& run) {
    InputSetup setup;
    setup.flow = &run.flow(p_.data);
    setup.components = components_;
    setup.nominal = nominal_;
    setup.seed = run.seed();
    setup.passes = 1;
    const auto reader = Registry<InputSource>::make("Feed")->open(setup);
    int64_t samples = 0;
    while (samples < count() && reader->next(run.stop_token())) {
      std::vector<Tensor>& batch = batches_.emplace_back();
      for (const Tensor& tensor : reader->tensors()) batch.push_back(tensor.clone());
      samples += batch.front().shape()[0];
    }
    if (samples >= count()) return;
    log::warning("SampleGrid: flow '" + p_.data.name + "' has " + std::to_string(samples) +
                 " samples in a pass, so the picture has only these");
  }

  /// The images of all outputs of the first sample, then those of the second, ...
  std::vector<Tensor> drawn() {
    std::vector<std::vector<Tensor>> values(p_.outputs.size());  // by output, of each sample
    for (size_t number = 0; number < batches_.size(); ++number) {
      const std::vector<Tensor> batch = predictor_->run(batches_[number], static_cast<int64_t>(number));
      for (int64_t row = 0; row < batch[0].shape()[0] && std::ssize(values[0]) < count(); ++row)
        for (size_t i = 0; i < batch.size(); ++i) values[i].push_back(batch[i].row(row));
    }
    std::vector<PixelRange> ranges;
    for (size_t i = 0; i < values.size(); ++i) ranges.push_back(range_of(predictor_->forms()[i], values[i]));
    std::vector<Tensor> images;
    for (size_t sample = 0; sample < values[0].size(); ++sample) {
      for (size_t i = 0; i < values.size(); ++i)
        images.push_back(images_->pixels(predictor_->forms()[i], values[i][sample], ranges[i]));
    }
    return images;
  }

  PixelRange range_of(const OutputForm& form, std::span<const Tensor> values) const {
    if (p_.range) return {p_.range->first, p_.range->second};
    return likely_range(form.meaning, values);
  }

  void write(const Run& run, const Tensor& grid) const {
    std::string step = std::to_string(run.global_step());
    step.insert(0, step.size() < 8 ? 8 - step.size() : 0, '0');
    const std::string path = run.folder() + "/samples/" + rules().identity + "-" + step + ".png";
    write_extra_file(path, [&] { write_whole_file(path, encode_png(grid).front().png); });
  }

  Params p_;
  std::vector<size_t> components_;
  Signature nominal_;  // of a whole batch
  std::unique_ptr<Predictor> predictor_;
  std::unique_ptr<OutputImages> images_;
  std::vector<std::vector<Tensor>> batches_;  // the inputs; empty until the first picture
};

TPACK_REGISTER(Callback, SampleGrid, "SampleGrid");

}  // namespace
}  // namespace tpack
