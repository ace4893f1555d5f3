#pragma once

#include <cstdio>

namespace tpack {

/// Counts what a program expected and did not find.
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
