#include "predict/predictor.h"

#include <algorithm>
#include <map>

namespace tpack {
namespace {

int64_t batch_of(const std::vector<TowerInput>& inputs, const std::vector<size_t>& given,
                 const Signature& fed) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (inputs[given[i]].batched) return fed[i].shape[0];
  }
  return 1;
}

/// The spec of a missing input, with sizes that match those of a given image.
TensorSpec spec_of_absent(const TowerInput& input, int64_t batch, const TowerInput* image,
                          const TensorSpec* fed) {
  TensorSpec spec = input.batch_spec(batch);
  if (image == nullptr || *fed == image->batch_spec(batch)) return spec;
  const int row_of_image = image->layout == "HWC" ? 1 : 2;
  const Shape declared = image->batch_spec(batch).shape;
  const bool is_mask = input.layout.empty() && spec.shape.rank() == 3;  // [N, H, W]
  if (input.layout.empty() && !is_mask) return spec;
  const int row = is_mask || input.layout == "HWC" ? 1 : 2;
  for (int axis = 0; axis < 2; ++axis)
    spec.shape = spec.shape.with(
        row + axis, spec.shape[row + axis] * fed->shape[row_of_image + axis] / declared[row_of_image + axis]);
  return spec;
}

/// Programs with different outputs have different nodes, and so separate plans.
std::string program_name(const std::vector<PredictOutput>& outputs) {
  std::string name = "predict";
  for (const PredictOutput& output : outputs) name += " " + output.name + "=" + output.from.name;
  return name;
}

// Batch sizes to find shapes. Two of them, because one may equal another size.
constexpr int64_t kSamples = 3;
constexpr int64_t kMoreSamples = 5;

bool begins_with(const Shape& shape, int64_t size) { return shape.rank() > 0 && shape[0] == size; }

/// `y`: of a batch of kSamples, `of_more`: of kMoreSamples. Errors: ConfigError for an output without one
/// value per sample.
OutputForm form_of(const Symbol& y, OutputMeaning meaning, const Shape& of_more, const PredictOutput& output,
                   bool is_batched) {
  if (is_batched && !(begins_with(y.shape(), kSamples) && begins_with(of_more, kMoreSamples)))
    throw ConfigError(output.from.position, "output '" + output.from.name +
                                                "' has one value for the whole batch, not one per sample; "
                                                "use an output whose first axis is the batch");
  const Shape shape = y.shape().rank() == 0 ? y.shape() : y.shape().drop_front();
  return {{y.dtype(), shape}, meaning};
}

}  // namespace

Predictor::Predictor(const ModelHandle& model, std::vector<PredictOutput> outputs,
                     const std::vector<std::string>& given, std::shared_ptr<std::mutex> compiling)
    : model_(model),
      outputs_(std::move(outputs)),
      program_(
          program_name(outputs_), *model.device, *model.plan,
          [this](const Signature& fed) { return graph(fed); }, std::move(compiling)) {
  std::vector<std::string> known;
  for (const TowerInput& input : model_.tower->inputs()) known.push_back(input.name);
  for (const std::string& name : given) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) throw unknown_reference("input", name, {}, known);
    given_.push_back(static_cast<size_t>(found - known.begin()));
  }
  const Built built = build(nominal(kSamples));
  const Built of_more = build(nominal(kMoreSamples));
  const bool is_batched =
      std::any_of(given_.begin(), given_.end(), [&](size_t i) { return model_.tower->inputs()[i].batched; });
  for (size_t i = 0; i < outputs_.size(); ++i)
    forms_.push_back(form_of(built.graph.fetches()[i].value, built.meanings[i],
                             of_more.graph.fetches()[i].value.shape(), outputs_[i], is_batched));
  const std::vector<bool> needed = built.graph.needed();
  for (const size_t i : given_)
    if (needed[static_cast<size_t>(built.inputs[i]->id)]) needed_inputs_.push_back(known[i]);
}

Signature Predictor::nominal(int64_t samples) const {
  Signature signature;
  for (const size_t i : given_) signature.push_back(model_.tower->inputs()[i].batch_spec(samples));
  return signature;
}

/// Missing inputs are zeros in the graph; no output may need them.
Predictor::Built Predictor::build(const Signature& fed) const {
  const std::vector<TowerInput>& inputs = model_.tower->inputs();
  Built built;
  Builder b(built.graph, *model_.table, {Phase::kInference, model_.device->float_type()});
  const int64_t batch = batch_of(inputs, given_, fed);
  const auto image =
      std::find_if(given_.begin(), given_.end(), [&](size_t i) { return !inputs[i].layout.empty(); });
  const TensorSpec* const fed_image =
      image == given_.end() ? nullptr : &fed[static_cast<size_t>(image - given_.begin())];
  std::vector<Symbol> values(inputs.size());
  for (size_t k = 0; k < given_.size(); ++k) {  // a program is fed in the order of its Input nodes
    const TowerInput& input = inputs[given_[k]];
    const Builder::NameScope scope(b, input.name, input.position);
    values[given_[k]] = b.input(input.name, fed[k]);
  }
  std::map<std::string, Symbol> in;
  std::map<const Node*, std::string> zeros;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Builder::NameScope scope(b, inputs[i].name, inputs[i].position);
    Symbol& x = values[i];
    if (!x) {
      x = b.constant(Tensor::zeros(
          spec_of_absent(inputs[i], batch, fed_image == nullptr ? nullptr : &inputs[*image], fed_image)));
      zeros[x.node] = inputs[i].name;
    }
    built.inputs.push_back(x.node);
    in[inputs[i].name] = inputs[i].layout == "HWC" ? b.transpose(x, {0, 3, 1, 2}) : x;
  }
  const TowerResult result = model_.tower->build(b, in);
  fetch_outputs(b, *model_.table, result.outputs, outputs_);
  for (const Fetch& fetch : built.graph.fetches()) built.meanings.push_back(b.meaning(fetch.value));
  const std::vector<bool> needed = built.graph.needed();
  for (const auto& [node, name] : zeros) {
    if (needed[static_cast<size_t>(node->id)])
      throw ConfigError("the outputs depend on input '" + name +
                        "', which is missing; add it (tpack infer: --input " + name +
                        "=VALUE), or choose outputs that do not need it (predict: {outputs: ...})");
  }
  return built;
}

Graph Predictor::graph(const Signature& fed) const { return build(fed).graph; }

std::vector<Tensor> Predictor::run(const std::vector<Tensor>& batch, int64_t number) {
  const Executable& done = program_.run(batch, {.step = number});
  std::vector<Tensor> values;
  for (size_t i = 0; i < outputs_.size(); ++i) values.push_back(done.fetched(i).clone());
  return values;
}

}  // namespace tpack
