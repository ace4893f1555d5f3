#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// The state of a part of a run in a checkpoint: named values, written as JSON. Doubles are restored
/// bit-exactly.
class State {
 public:
  void put(const std::string& name, double value);
  template <std::integral T>
  void put(const std::string& name, T value) {
    put_integer(name, static_cast<int64_t>(value));
  }
  void put(const std::string& name, const std::string& value);
  void put(const std::string& name, const std::vector<double>& values);
  /// Stored as an array of the checkpoint; shared, not copied.
  void put(const std::string& name, const Tensor& value) { tensors_[name] = value; }
  /// All values of `part`, below `name`.
  void put(const std::string& name, const State& part);

  bool has(const std::string& name) const { return values_.contains(name); }
  /// A double, int64_t, std::string, std::vector<double> or Tensor, with the type that was put. Errors:
  /// CheckpointError if it is missing or cannot be read as one.
  template <class T>
  T get(const std::string& name) const;
  /// An int64_t from `least` to `most`, which are the limits of what counts and positions can be: code that
  /// computes with them neither overflows nor loops for years. Errors: CheckpointError, also for a value
  /// outside of them.
  int64_t count(const std::string& name, int64_t most = kMostSteps, int64_t least = 0) const;
  static constexpr int64_t kMostSteps = 1'000'000'000'000;  // steps, batches, samples
  static constexpr int64_t kMostPasses = 1'000'000'000;     // epochs, passes over the data

  /// As get, `otherwise` if there is none: for state that older checkpoints do not have.
  template <class T>
  T get(const std::string& name, T otherwise) const {
    return has(name) ? get<T>(name) : otherwise;
  }

  /// The values that were put below `name`; empty if there are none.
  State part(const std::string& name) const;
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  bool empty() const { return values_.empty() && tensors_.empty(); }
  /// Without tensors.
  std::string to_json() const;
  /// Errors: CheckpointError with `source`.
  static State from_json(const std::string& text, const std::string& source);

 private:
  void put_integer(const std::string& name, int64_t value);
  const std::string& at(const std::string& name) const;
  double number(const std::string& name, const std::string& text) const;

  std::map<std::string, std::string> values_;  // as text; doubles in hexadecimal
  std::map<std::string, Tensor> tensors_;
  std::string source_ = "state";
};

template <>
double State::get<double>(const std::string& name) const;
template <>
int64_t State::get<int64_t>(const std::string& name) const;
template <>
std::string State::get<std::string>(const std::string& name) const;
template <>
std::vector<double> State::get<std::vector<double>>(const std::string& name) const;
template <>
Tensor State::get<Tensor>(const std::string& name) const;

}  // namespace tpack
