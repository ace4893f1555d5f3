#include "model/cost.h"

#include <algorithm>
#include <vector>

#include "graph/variable_pattern.h"
#include "model/model.h"
#include "ops/arg_max.h"

namespace tpack {

std::optional<NumberOrOutput> Codec<NumberOrOutput>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_number()) return NumberOrOutput{node.as_double(), {"", node.position()}};
  if (!node.is_string()) {
    reader.wrong_type(node, type().of);
    return std::nullopt;
  }
  return NumberOrOutput{0, {node.text(), node.position()}};
}

ConfigNode Codec<NumberOrOutput>::dump(const NumberOrOutput& value) {
  if (value.output.empty()) return value.number;
  return ConfigNode::string(value.output.name, value.output.position);
}

namespace {

/// The sizes of the axes after the batch that are not 1.
std::vector<int64_t> without_ones(const Shape& shape) {
  std::vector<int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
  if (!sizes.empty()) sizes.erase(std::remove(sizes.begin() + 1, sizes.end(), 1), sizes.end());
  return sizes;
}

/// Advice to give an output as many numbers as another one; the sizes differ.
std::string fix_of_sizes(const Shape& wanted, const Shape& output) {
  if (!wanted.known() || !output.known()) return "";
  if (wanted.elements() == output.elements()) return "; add a Reshape or Transpose";
  if (output.rank() != 2 || wanted.rank() == 0 || wanted[0] != output[0]) return "";
  const int64_t numbers = wanted.elements() / wanted[0];
  return "; give the layer of the output " + std::to_string(numbers) + (numbers == 1 ? " unit" : " units");
}

}  // namespace

Builder::Operand ModelView::like(const NumberOrOutput& value, Symbol x) const {
  if (value.output.empty()) return value.number;
  const Symbol given = output(value.output);
  if (without_ones(given.shape()) != without_ones(x.shape())) {
    throw ShapeError(value.output.position, "output " + value.output.name + " has shape " +
                                                given.shape().str() + ", but " + x.node->path + " has " +
                                                x.shape().str() +
                                                "; they must be the same, except for axes of size 1" +
                                                fix_of_sizes(given.shape(), x.shape()));
  }
  const Symbol values = builder_.to_float(given);
  return given.shape() == x.shape() ? values : builder_.reshape(values, x.shape());
}

Symbol ModelView::scores(const Ref<LayerOutput>& logits, const Ref<LayerOutput>& labels) const {
  const Symbol x = output(logits);
  const Shape& shape = x.shape();
  if (shape.rank() != 4) return x;
  if (const Shape& given = output(labels).shape(); given.rank() < 3)
    throw ShapeError(logits.position, "logits must be [N, classes], because the labels '" + labels.name +
                                          "' are " + given.str() + ", one for each sample, but '" +
                                          logits.name + "' is " + x.spec().str() +
                                          "; add a GlobalAvgPooling and a FullyConnected layer, or, for a "
                                          "class for each pixel, name a mask as labels");
  return builder_.reshape(builder_.transpose(x, {0, 2, 3, 1}), {shape[0] * shape[2] * shape[3], shape[1]});
}

Symbol ModelView::scores_of_classes(const Ref<LayerOutput>& logits, const Ref<LayerOutput>& labels) const {
  const Symbol x = scores(logits, labels);
  if (x.shape().rank() == 2 && x.shape()[1] == 1)
    throw ShapeError(logits.position, "'" + logits.name +
                                          "' has one score, so class 0 always has the best score; for binary "
                                          "labels, use MultiLabelAccuracy, or set 2 outputs in its layer");
  return x;
}

Symbol ModelView::class_numbers(const Ref<LayerOutput>& labels, const Symbol& scores) const {
  const Symbol given = output(labels);
  if (scores.shape().rank() != 2) return given;  // the op says what is wrong with them
  if (given.shape() == scores.shape() && builder_.meaning(given).sums_to_one)
    return builder_.emit<ArgMax>({1}, {builder_.to_float(given)}).out();
  const Shape numbers{scores.shape()[0]};
  if (given.shape() == numbers && !is_float(given.dtype())) return builder_.cast(given, DType::kInt32);
  const bool are_pixels = given.shape().rank() > 2 && given.shape().elements() == numbers.elements();
  if (are_pixels && !is_float(given.dtype()))
    return builder_.cast(builder_.reshape(given, numbers), DType::kInt32);
  const auto by_layer = [&](const std::string& layer, const std::string& setting) {
    return "append " + layer + ": {name: classes, input: " + labels.name + setting +
           "} to `layers`, and write labels: classes";
  };
  std::string fix;
  if (given.shape() == numbers)
    fix = "; change the flow with MapData: {component: " + labels.name + ", map: {Cast: int32}}";
  else if (given.shape() == scores.shape() && scores.shape()[1] > 1)
    fix = "; for one-hot labels, " + by_layer("ArgMax", "");
  else if (given.shape().elements() == numbers.elements())
    fix = "; " + by_layer("Reshape", ", shape: []");
  else if (given.shape().rank() > 2)
    fix = "; class numbers of pixels are [N, height, width], the size of the scores";
  throw ShapeError(labels.position, "labels must be int32 " + numbers.str() +
                                        ", a class number for each sample; '" + labels.name + "' is " +
                                        given.spec().str() + fix);
}

Symbol ModelView::soft_labels(const Ref<LayerOutput>& labels, const Symbol& scores) const {
  const Symbol given = output(labels);
  if (scores.shape().rank() != 2 || scores.shape()[1] < 2 || given.shape() != scores.shape()) return {};
  return builder_.to_float(builder_.declare(given, kClassProbabilities));
}

Symbol ModelView::class_scores(const Ref<LayerOutput>& logits, const std::string& owner) const {
  const Symbol scores = output(logits);
  if (!builder_.meaning(scores).sums_to_one) return scores;
  throw ConfigError(logits.position, "'logits' of " + owner + ": '" + logits.name +
                                         "' is the output of a softmax, which the " +
                                         owner.substr(0, owner.find(' ')) +
                                         " applies itself; name the output before the softmax");
}

std::vector<Symbol> ModelView::trainable(const Ref<VariablePattern>& pattern) const {
  std::vector<Symbol> found;
  std::vector<std::string> known;
  for (const VariableSpec* spec : builder_.variables().trainable()) {
    known.push_back(spec->name);
    if (is_for_variable(pattern, spec->name)) found.push_back(builder_.read(spec->name, spec->spec));
  }
  if (found.empty() && !network_.complete()) throw AlreadyReported();
  if (found.empty()) {
    throw ConfigError(pattern.position, no_match("trainable variable", pattern.name, known));
  }
  return found;
}

CostTerm Cost::build(const ModelView& model, const std::string& name) const {
  Builder& b = model.builder();
  const SampleLosses all = losses(model);
  Symbol term = all.values;
  const Builder::NameScope scope(b, "cost", term.node->origin);
  const auto elements = static_cast<double>(term.shape().elements());
  const Symbol counted = all.counts ? b.stop_gradient(b.reduce_sum(all.counts)) : Symbol{};
  if (counted) term = b.mul(term, b.div(elements, b.max(counted, 1.0)));
  if (!common_.sample_weights.empty()) {
    const Symbol weights = sample_weights(model, term.shape());
    term = b.select(b.equal(weights, 0.0), 0.0, b.mul(term, weights));  // also if the loss is NaN
  }
  if (term.shape().rank() > 0) term = b.reduce_mean(term);
  return {weighted(model, term, name), counted, elements};
}

Symbol Cost::weighted(const ModelView& model, Symbol mean, const std::string& name) const {
  Builder& b = model.builder();
  const Scheduled& weight = common_.weight;
  if (weight.schedule) {
    return b.mul(mean, b.variable({.name = name + "_weight",
                                   .spec = {b.float_type(), Shape{}},
                                   .scope = VariableScope::kModel,
                                   .hyper_parameter = true,
                                   .schedule = weight.schedule.object}));
  }
  return weight.number == 1 ? mean : b.mul(mean, weight.number);
}

/// [N, 1, ...], with as many axes as the losses. Without stopping the gradient, a network that computes
/// weights would reduce them instead of the losses.
Symbol Cost::sample_weights(const ModelView& model, const Shape& losses) const {
  const Ref<LayerOutput>& ref = common_.sample_weights;
  const Symbol given = model.output(ref);
  if (losses.rank() == 0)
    throw ConfigError(ref.position, "'sample_weights': this term is one number, not a mean over samples");
  const int64_t samples = losses[0];
  if (given.shape().elements() != samples) {
    throw ShapeError(ref.position, "'sample_weights': output " + ref.name + " has shape " +
                                       given.shape().str() + ", but needs one value for each of the " +
                                       std::to_string(samples) + " samples");
  }
  Builder& b = model.builder();
  std::vector<int64_t> sizes(losses.rank(), 1);
  sizes[0] = samples;
  return b.stop_gradient(b.reshape(b.to_float(given), Shape(sizes)));
}

Schema<StatisticName> statistic_name_schema() {
  return Schema<StatisticName>("Parameters of every term of a cost and every metric.")
      .field("name", &StatisticName::name,
             "name of its statistic; default: the type, such as in_top_k, with a number for a second one");
}

std::string checked_name(const StatisticName& name) {
  if (!name.name.empty() && !is_model_name(name.name))
    throw ConfigError("'name' is '" + name.name + "'; use letters, digits, '_', '-' and '.'");
  return name.name;
}

SumAndWeight sum_and_count(Builder& b, Symbol values) {
  return {b.reduce_sum(values), b.constant(static_cast<double>(values.shape().elements()))};
}

}  // namespace tpack
