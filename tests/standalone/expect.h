#pragma once

#include <cstdio>

namespace tpack {

/// Counts the expectations of a program that were not met.
class Expectations {
 public:
  void expect(bool holds, const char* what) {
    std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
    if (!holds) ++failed_;
  }
  int exit_code() const { return failed_ == 0 ? 0 : 1; }

 private:
  int failed_ = 0;
};

}  // namespace tpack
