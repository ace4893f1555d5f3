#include "weights/prove.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "draw/text_table.h"
#include "graph/tower_description.h"
#include "learner/inference_model.h"
#include "weights/kernel_layout.h"
#include "weights/weight_file.h"

namespace tpack {
namespace {

/// The value in the shape of another one, if it is an image with the channels last.
Tensor as_shape(const Tensor& value, const Shape& shape) {
  const Shape& own = value.shape();
  if (own == shape || own.rank() != 4 || shape != Shape{own[0], own[3], own[1], own[2]}) return value;
  const KernelLayout channels_first{{own[0], own[1], own[2], own[3]}, {0, 3, 1, 2}, {value.dtype(), shape}};
  return in_layout(value, channels_first);
}

std::string scientific(double value) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

double error_of(const Tensor& value, const Tensor& reference) {
  double largest = 0;
  double difference = 0;
  for (int64_t i = 0; i < value.elements(); ++i) {
    const double wanted = reference.at(i);
    if (std::isinf(wanted) && value.at(i) == wanted) continue;
    if (!std::isfinite(wanted) || !std::isfinite(value.at(i))) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(wanted));
    difference = std::max(difference, std::abs(value.at(i) - wanted));
  }
  return difference == 0 ? 0 : difference / largest;
}

}  // namespace

const LayerProof* Proof::first_difference() const {
  const auto found =
      std::ranges::find_if(layers, [](const LayerProof& one) { return !(one.error <= kMostError); });
  return found == layers.end() ? nullptr : &*found;
}

std::string Proof::str() const {
  TextTable table({"layer", "reference", "difference / largest value"});
  for (const LayerProof& one : layers)
    table.add({one.layer, one.reference, one.shapes.empty() ? scientific(one.error) : one.shapes});
  std::string text = table.str();
  for (const std::string& name : unknown) text += "not compared: '" + printable(name) + "' is not a layer\n";
  const LayerProof* const first = first_difference();
  return text + (first == nullptr ? "all " + std::to_string(layers.size()) + " layers agree"
                                  : "'" + first->layer + "' is the first that differs");
}

Proof prove(const std::string& checkpoint, const std::string& reference,
            const std::function<std::string(const std::string&)>& name_here) {
  const auto model = InferenceModel::load(checkpoint);
  const WeightFile file = open_weight_file(reference);
  const auto order = model->tower().description().outputs_in_order();
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < order.size(); ++i) places.emplace(order[i].first, i);
  std::map<std::string, Tensor> batch;
  std::map<size_t, const FileWeight*> compared;
  Proof proof;
  for (const FileWeight& array : file.weights) {
    const bool is_input = std::ranges::any_of(
        model->tower().inputs(), [&](const TowerInput& input) { return input.name == array.name; });
    if (is_input) {
      batch.emplace(array.name, array.read());
      continue;
    }
    auto place = places.find(array.name);
    if (place == places.end()) place = places.find(name_here(array.name));
    if (place == places.end())
      proof.unknown.push_back(array.name);
    else
      compared.emplace(place->second, &array);
  }
  if (compared.empty())
    throw ConfigError("'" + reference + "' has no output of a layer; names of the model are '" +
                      order.front().first + "' to '" + order.back().first + "'");
  std::vector<PredictOutput> outputs;
  for (const auto& [place, array] : compared)
    outputs.push_back({.name = order[place].first, .from = {order[place].first}});
  const auto values = NamedPredictor(model->handle(), outputs).run(batch);
  for (const auto& [place, array] : compared) {
    const Tensor& value = values.at(order[place].first);
    const Tensor want = as_shape(array->read(), value.shape());
    LayerProof one{.layer = order[place].first, .reference = array->name};
    if (want.shape() == value.shape()) {
      one.error = error_of(value, want);
    } else {
      one.error = std::numeric_limits<double>::infinity();
      one.shapes = want.shape().str() + " in the reference, " + value.shape().str() + " here";
    }
    proof.layers.push_back(std::move(one));
  }
  return proof;
}

}  // namespace tpack
