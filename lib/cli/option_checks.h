#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tpack {

/// A check for numbers of steps, files, classes on the command line: from `least` to what is not a slip.
inline CLI::Validator count_from(int least) {
  constexpr int kMost = 1000000000;
  return CLI::Range(least, kMost).description("from " + std::to_string(least));
}

/// A check for paths: an empty one comes from a variable of a script that is not set.
inline CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "is empty" : ""; }, ""};
}

}  // namespace tpack
