#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tpack {

/// What a callback or trainer keeps in a checkpoint: named values, written as JSON. Doubles come back
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

  bool has(const std::string& name) const { return values_.contains(name); }
  /// double, int64_t, std::string or std::vector<double>, of a value that was put as such. Errors:
  /// CheckpointError if it is missing or cannot be read as one.
  template <class T>
  T get(const std::string& name) const;
  /// As get, `otherwise` if there is none: for state that older checkpoints do not have.
  template <class T>
  T get(const std::string& name, T otherwise) const {
    return has(name) ? get<T>(name) : otherwise;
  }

  bool empty() const { return values_.empty(); }
  std::string to_json() const;
  /// Errors: CheckpointError with `source`.
  static State from_json(const std::string& text, const std::string& source);

 private:
  void put_integer(const std::string& name, int64_t value);
  const std::string& at(const std::string& name) const;
  double number(const std::string& name, const std::string& text) const;

  std::map<std::string, std::string> values_;  // as text; doubles in hexadecimal
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

}  // namespace tpack
