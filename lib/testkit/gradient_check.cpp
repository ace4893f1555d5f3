#include "testkit/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "backend/device.h"
#include "core/text.h"
#include "graph/passes/gradient.h"
#include "graph/structural.h"

namespace tpack::testkit {
namespace {

constexpr double kSteps[] = {1e-5, 2e-5};
constexpr double kRoundings = 8;  // of a cost, in units of the last place

/// One compiled function on the reference backend that can be run again with other inputs.
class RunnableFunction {
 public:
  RunnableFunction(const Function& function, const std::vector<Tensor>& inputs, DType float_type, Phase phase)
      : device_(make_reference_device("reference", {.float_type = float_type})) {
    Graph graph;
    Builder b(graph, table_, {.phase = phase, .float_type = float_type});
    std::vector<Symbol> symbols;
    for (size_t i = 0; i < inputs.size(); ++i)
      symbols.push_back(b.input("input" + std::to_string(i), inputs[i].spec()));
    const std::vector<Symbol> outputs = function(b, symbols);
    for (size_t i = 0; i < outputs.size(); ++i) b.fetch("output" + std::to_string(i), outputs[i]);
    count_ = outputs.size();
    device_->create_variables(table_);
    device_->variables().initialize(1);
    for (const auto& [spec, value] : trainable_reads(graph, table_)) trainable_.push_back(spec->name);
    executable_ = device_->compile(graph, section_);
  }

  void run(const std::vector<Tensor>& inputs) { executable_->run(inputs, {}); }
  const Tensor& output(size_t i) const { return executable_->fetched(i); }
  size_t count() const { return count_; }
  /// The trainable variables that the function reads; the next run uses values written there.
  const std::vector<std::string>& trainable() const { return trainable_; }
  Tensor variable(const std::string& name) const { return device_->variables().value(name); }

 private:
  std::unique_ptr<Device> device_;
  VariableTable table_;
  PlanSection section_;
  std::unique_ptr<Executable> executable_;
  std::vector<std::string> trainable_;
  size_t count_ = 0;
};

/// The float inputs, then the trainable variables of the graph so far.
std::vector<Symbol> what_varies(Builder& b, std::span<const Symbol> inputs) {
  std::vector<Symbol> wrt;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(wrt),
               [](Symbol s) { return is_float(s.dtype()); });
  for (const auto& [spec, value] : trainable_reads(b.graph(), b.variables())) wrt.push_back(value);
  return wrt;
}

/// The terms whose sum is the projection: a product for each output of floats.
std::vector<Symbol> projected(Builder& b, const std::vector<Symbol>& outputs) {
  std::vector<Symbol> terms;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_float(outputs[i].dtype())) continue;
    const Tensor weights = random_tensor(outputs[i].shape(), 1000 + i, b.float_type());
    terms.push_back(b.mul(outputs[i], b.constant(weights)));
  }
  return terms;
}

Symbol sum_of(Builder& b, const std::vector<Symbol>& terms) {
  Symbol total;
  for (const Symbol& term : terms) {
    const Symbol part = b.reduce_sum(term);
    total = total ? b.add(total, part) : part;
  }
  return total;
}

/// The number of results of cost_and_gradients before the gradients.
enum Given : size_t { kCost, kMagnitude, kFirstGradient };

/// The cost, the sum of the absolute values of its terms, then the gradient of the cost with respect to each
/// float input and trainable variable (zeros if there is none).
Function cost_and_gradients(const Function& function) {
  return [function](Builder& b, std::span<const Symbol> inputs) {
    std::vector<Symbol> terms = projected(b, function(b, inputs));
    const Symbol cost = sum_of(b, terms);
    for (Symbol& term : terms) term = b.abs(term);
    const std::vector<Symbol> wrt = what_varies(b, inputs);
    std::vector<Symbol> all = {cost, sum_of(b, terms)};
    const std::vector<Symbol> found = gradients(b, cost, wrt);
    for (size_t i = 0; i < wrt.size(); ++i)
      all.push_back(found[i] ? found[i] : b.constant(0, wrt[i].shape()));
    return all;
  };
}

/// Only the gradients, as a function to check again.
Function gradients_of(const Function& function) {
  return [function](Builder& b, std::span<const Symbol> inputs) {
    const Symbol cost = projection(b, function(b, inputs));
    std::vector<Symbol> some;
    for (const Symbol& s : gradients(b, cost, what_varies(b, inputs))) {
      if (s) some.push_back(s);
    }
    return some;
  };
}

/// Compares gradients with central differences, tensor by tensor.
class Comparison {
 public:
  /// `magnitude`: the sum of the absolute values of the terms of the cost, which bounds its rounding.
  Comparison(RunnableFunction& e, const std::vector<Tensor>& inputs, double magnitude)
      : evaluation_(e),
        inputs_(inputs),
        rounding_(kRoundings * std::numeric_limits<double>::epsilon() * magnitude / kSteps[0]) {}

  void add(const std::string& name, const Tensor& varied, const Tensor& analytic) {
    std::vector<Element> elements;
    double largest = 0;
    for (int64_t at = 0; at < varied.elements(); ++at) {
      elements.push_back(
          {analytic.at(at), difference(varied, at, kSteps[0]), difference(varied, at, kSteps[1])});
      largest = std::max({largest, std::abs(elements.back().analytic), std::abs(elements.back().fine)});
    }
    size_t at_kinks = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      const Element& e = elements[i];
      const double scale = std::min(std::max(1.0, std::abs(e.fine)), largest);
      if (std::abs(e.fine - e.coarse) > 1e-4 * scale + rounding_) {
        ++at_kinks;
      } else {
        take(name + ", element " + std::to_string(i), e, scale);
      }
    }
    elements_ += elements.size();
    kinks_ += at_kinks;
    if (!elements.empty() && at_kinks == elements.size())
      unseen_ += "; every element of " + name + " is at a kink";
  }
  GradientCheckResult result(double tolerance) const {
    GradientCheckResult result = result_;
    result.ok =
        result.largest_error <= tolerance && kinks_ * 10 <= elements_ && elements_ > 0 && unseen_.empty();
    if (kinks_ * 10 > elements_)
      result.text +=
          "; " + std::to_string(kinks_) + " of " + std::to_string(elements_) + " elements at kinks";
    result.text += unseen_;
    return result;
  }

 private:
  struct Element {
    double analytic;
    double fine;  // central differences with both steps
    double coarse;
  };

  void take(const std::string& where, const Element& e, double scale) {
    const double off = std::abs(e.analytic - e.fine);
    const double error = off <= rounding_ ? 0 : off / scale;
    if (std::isnan(result_.largest_error) || error <= result_.largest_error) return;
    result_.largest_error = error;
    result_.text = where + ": gradient " + shortest(e.analytic) + ", central difference " + shortest(e.fine);
  }

  double difference(const Tensor& varied, int64_t at, double step) {
    double* element = varied.data<double>() + at;
    const double before = *element;
    *element = before + step;
    evaluation_.run(inputs_);
    const double above = evaluation_.output(kCost).at(0);
    *element = before - step;
    evaluation_.run(inputs_);
    const double below = evaluation_.output(kCost).at(0);
    *element = before;
    return (above - below) / (2 * step);
  }

  RunnableFunction& evaluation_;
  const std::vector<Tensor>& inputs_;
  double rounding_;  // of a central difference
  GradientCheckResult result_;
  std::string unseen_;
  size_t kinks_ = 0;
  size_t elements_ = 0;
};

}  // namespace

Symbol projection(Builder& b, const std::vector<Symbol>& outputs) { return sum_of(b, projected(b, outputs)); }

Function with_gradients(const Function& function) {
  return [function](Builder& b, std::span<const Symbol> inputs) {
    std::vector<Symbol> all = function(b, inputs);
    const Symbol cost = projection(b, all);
    for (const Symbol& s : gradients(b, cost, what_varies(b, inputs))) {
      if (s) all.push_back(s);
    }
    return all;
  };
}

std::vector<Tensor> evaluate(const Function& function, const std::vector<Tensor>& inputs, DType float_type,
                             Phase phase) {
  RunnableFunction e(function, inputs, float_type, phase);
  e.run(inputs);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < e.count(); ++i) outputs.push_back(e.output(i).clone());
  return outputs;
}

GradientCheckResult check_gradients(const Function& function, const std::vector<Tensor>& given,
                                    const GradientCheckOptions& options) {
  std::vector<Tensor> inputs;
  for (const Tensor& tensor : given) inputs.push_back(tensor.clone());
  RunnableFunction e(cost_and_gradients(function), inputs, DType::kFloat64, options.phase);
  e.run(inputs);
  std::vector<Tensor> analytic;
  for (size_t i = kFirstGradient; i < e.count(); ++i) analytic.push_back(e.output(i).clone());

  Comparison comparison(e, inputs, e.output(kMagnitude).at(0));
  size_t which = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() == DType::kFloat64)
      comparison.add("input " + std::to_string(i), inputs[i], analytic[which++]);
  }
  for (const std::string& name : e.trainable()) comparison.add(name, e.variable(name), analytic[which++]);
  return comparison.result(options.tolerance);
}

GradientCheckResult check_second_gradients(const Function& function, const std::vector<Tensor>& inputs,
                                           const GradientCheckOptions& options) {
  return check_gradients(gradients_of(function), inputs, options);
}

Tensor random_tensor(const Shape& shape, uint64_t seed, DType type, double low, double high, double margin) {
  Tensor tensor(type, shape);
  Rng rng(seed, 77);
  visit(type, [&](auto zero) {
    for (auto& element : tensor.span<decltype(zero)>()) {
      double value = low + (high - low) * rng.uniform64();
      const double nearest = std::round(value * 2) / 2;
      if (std::abs(value - nearest) < margin) value = nearest + (value < nearest ? -margin : margin);
      element = static_cast<decltype(zero)>(value);
    }
  });
  return tensor;
}

Tensor random_labels(int64_t count, int64_t classes, uint64_t seed) {
  Tensor tensor(DType::kInt32, Shape{count});
  Rng rng(seed, 78);
  for (auto& label : tensor.span<int32_t>())
    label = static_cast<int32_t>(rng.below(static_cast<uint32_t>(classes)));
  return tensor;
}

}  // namespace tpack::testkit
