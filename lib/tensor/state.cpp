#include "tensor/state.h"

#include <charconv>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

std::string exact(double value) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "%a", value);
  return {text, static_cast<size_t>(n)};
}

}  // namespace

void State::put(const std::string& name, double value) { values_[name] = exact(value); }
void State::put_integer(const std::string& name, int64_t value) { values_[name] = std::to_string(value); }
void State::put(const std::string& name, const std::string& value) { values_[name] = value; }
void State::put(const std::string& name, const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (const double value : values) parts.push_back(exact(value));
  values_[name] = join(parts, " ");
}

void State::put(const std::string& name, const State& part) {
  for (const auto& [key, value] : part.values_) values_[name + "/" + key] = value;
  for (const auto& [key, value] : part.tensors_) tensors_[name + "/" + key] = value;
}

State State::part(const std::string& name) const {
  State part;
  part.source_ = source_;
  const std::string above = name + "/";
  const auto take = [&above](const auto& from, auto& to) {
    for (auto at = from.lower_bound(above); at != from.end() && at->first.starts_with(above); ++at)
      to.emplace_hint(to.end(), at->first.substr(above.size()), at->second);
  };
  take(values_, part.values_);
  take(tensors_, part.tensors_);
  return part;
}

const std::string& State::at(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw CheckpointError(source_, "has no value '" + name + "'");
  return found->second;
}

template <>
std::string State::get<std::string>(const std::string& name) const {
  return at(name);
}

double State::number(const std::string& name, const std::string& text) const {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') throw CheckpointError(source_, "'" + name + "' is not a number: " + text);
  return value;
}

template <>
double State::get<double>(const std::string& name) const {
  return number(name, at(name));
}

template <>
int64_t State::get<int64_t>(const std::string& name) const {
  const std::string& text = at(name);
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    throw CheckpointError(source_, "'" + name + "' is not an integer: " + text);
  }
  return value;
}

int64_t State::count(const std::string& name, int64_t most, int64_t least) const {
  const auto value = get<int64_t>(name);
  if (value < least || value > most)
    throw CheckpointError(source_, "is damaged: '" + name + "' is " + std::to_string(value) +
                                       "; it must be from " + std::to_string(least) + " to " +
                                       std::to_string(most));
  return value;
}

template <>
std::vector<double> State::get<std::vector<double>>(const std::string& name) const {
  std::vector<double> values;
  if (at(name).empty()) return values;
  for (const std::string& part : split(at(name), ' ')) values.push_back(number(name, part));
  return values;
}

template <>
Tensor State::get<Tensor>(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw CheckpointError(source_, "has no array '" + name + "'");
  return found->second;
}

std::string State::to_json() const { return nlohmann::json(values_).dump(1) + "\n"; }

State State::from_json(const std::string& text, const std::string& source) {
  State state;
  state.source_ = source;
  try {
    state.values_ = nlohmann::json::parse(text).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(source, std::string("is not a valid state: ") + error.what());
  }
  return state;
}

}  // namespace tpack
