#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

#include "core/pattern.h"
#include "core/registry.h"
#include "core/text.h"
#include "monitor/monitor.h"
#include "system/log.h"

namespace tpack {
namespace {

using Patterns = std::optional<std::vector<std::string>>;

struct ConsoleParams {
  bool enable_step = false;
  bool enable_epoch = true;
  Patterns whitelist;
  Patterns blacklist;
};

bool any_matches(const Patterns& patterns, const std::string& name) {
  return std::any_of(patterns->begin(), patterns->end(),
                     [&](const std::string& pattern) { return partial_match(name, pattern); });
}

std::string five_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return text.data();
}

/// Source: tensorpack callbacks/monitor.py, ScalarPrinter.
class ConsoleMonitor final : public Monitor {
 public:
  using Params = ConsoleParams;
  static Schema<Params> schema() {
    return Schema<Params>("Prints the scalars, sorted by name, with five significant digits.")
        .example("Console: {whitelist: [cost, accuracy]}")
        .field("enable_step", &Params::enable_step, "print at the end of each step that has values")
        .field("enable_epoch", &Params::enable_epoch, "print at the end of each epoch")
        .field("whitelist", &Params::whitelist,
               "regular expressions; print only names that contain a match of one of them")
        .field("blacklist", &Params::blacklist,
               "regular expressions; do not print names that contain a match of one of them");
  }
  explicit ConsoleMonitor(Params p) : p_(std::move(p)) {
    wanted("");  // a pattern that is not a regular expression is found now
  }

  void put_scalar(const std::string& name, double value, const StepStamp& /*at*/) override {
    values_[name] = value;
  }
  void end_step(const StepStamp& /*at*/) override {
    if (p_.enable_step) print();
  }
  void end_epoch(const StepStamp& /*at*/) override {
    if (p_.enable_epoch) print();
    values_.clear();
  }

 private:
  bool wanted(const std::string& name) const {
    const bool listed = !p_.whitelist || any_matches(p_.whitelist, name);
    return !(p_.blacklist && any_matches(p_.blacklist, name)) && listed;
  }
  void print() {
    for (const auto& [name, value] : values_) {
      if (wanted(name)) log::info(name + ": " + five_digits(value));
    }
    values_.clear();
  }

  Params p_;
  std::map<std::string, double> values_;  // since the last print
};

TPACK_REGISTER(Monitor, ConsoleMonitor, "Console", "ScalarPrinter");

}  // namespace
}  // namespace tpack
