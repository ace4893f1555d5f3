#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>

#include "support/paths.h"

namespace tpack {

/// The output of a Python script of the tests.
struct PythonResult {
  int exit_code = 0;
  std::string output;
  std::string missing = {};  // why the script could not run: for GTEST_SKIP
};

/// Runs a command; returns what it writes to stdout, and its exit code.
inline PythonResult run_command(const std::string& command) {
  PythonResult result;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  result.exit_code = WEXITSTATUS(::pclose(pipe));
  return result;
}

/// The Python for the tests' scripts: $TPACK_PYTHON, or build/venv.
inline std::string test_python() {
  const char* given = std::getenv("TPACK_PYTHON");
  return given != nullptr ? given : source_folder() + "/build/venv/bin/python";
}

/// Runs a script (its path below tests/). A script that lacks a package prints its name and exits with 77.
inline PythonResult run_python(const std::string& script, const std::string& argument,
                               const std::string& python = test_python()) {
  constexpr int kPackageMissing = 77;
  PythonResult result;
  if (!std::filesystem::exists(python)) {
    result.missing = "no Python: set TPACK_PYTHON to one that has the packages of the tests";
    return result;
  }
  result = run_command("'" + python + "' '" + source_folder() + "/tests/" + script + "' '" + argument + "'");
  if (result.exit_code == kPackageMissing) result.missing = "Python lacks " + result.output;
  return result;
}

/// The Python that has PyTorch and torchvision, by scripts/torch_python.sh; empty if there is none.
inline std::string torch_python() {
  std::string python = run_command("'" + source_folder() + "/scripts/torch_python.sh'").output;
  python.erase(std::min(python.find('\n'), python.size()));
  return python;
}
inline constexpr const char* kNoTorch = "no Python has PyTorch: run scripts/torch_python.sh --install";

}  // namespace tpack
