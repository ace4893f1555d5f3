#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>

#include "support/paths.h"

namespace tpack {

/// What a Python script of the tests wrote to stdout.
struct PythonResult {
  int exit_code = 0;
  std::string output;
  std::string missing = {};  // why the script could not run: for GTEST_SKIP
};

/// Runs a script (its path below tests/) with the Python that has the packages of the tests: $TPACK_PYTHON,
/// or build/venv. A script that lacks a package prints its name and exits with 77.
inline PythonResult run_python(const std::string& script, const std::string& argument) {
  constexpr int kPackageMissing = 77;
  const char* given = std::getenv("TPACK_PYTHON");
  const std::string python = given != nullptr ? given : source_folder() + "/build/venv/bin/python";
  PythonResult result;
  if (!std::filesystem::exists(python)) {
    result.missing = "no Python: set TPACK_PYTHON to one that has the packages of the tests";
    return result;
  }
  const std::string command =
      "'" + python + "' '" + source_folder() + "/tests/" + script + "' '" + argument + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  result.exit_code = WEXITSTATUS(::pclose(pipe));
  if (result.exit_code == kPackageMissing) result.missing = "Python lacks " + result.output;
  return result;
}

}  // namespace tpack
