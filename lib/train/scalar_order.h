#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// Which scalars the callbacks of a list give and need, so that a list in an order that cannot work is
/// refused before the run. Threads: one at a time.
class ScalarOrder {
 public:
  /// When a scalar is put to the monitors.
  enum class When : uint8_t {
    kTrigger,  // in `trigger`: callbacks that come later in the list can use it
    kStep      // in a step: every callback can use it in `trigger`
  };

  /// What follows is of the next callback in the list.
  void next_callback() { ++current_; }
  /// The callback failed before it could say all that it gives: it may be what others need.
  void callback_failed() { is_complete_ = false; }
  void provides(const std::string& name, When when);
  void needs(const Ref<Stat>& name, const std::string& who) { needs_.push_back({name, who, current_}); }
  /// Reports each need that nothing can fulfil, with the order that would or the nearest name.
  void check(Diagnostics& errors) const;
  /// Every scalar that is given, sorted.
  std::vector<std::string> names() const;

 private:
  struct Need {
    Ref<Stat> scalar;
    std::string who;
    int callback;
  };
  struct Source {
    int callback;  // number in the list
    When when;
  };
  void check(const Need& need, Diagnostics& errors) const;

  int current_ = 0;
  bool is_complete_ = true;
  std::map<std::string, Source> sources_;  // the first one of each name
  std::vector<Need> needs_;
};

}  // namespace tpack
