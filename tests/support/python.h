#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>

namespace tpack {

/// What a script of tests/python wrote to stdout.
struct PythonResult {
  int exit_code = 0;  // kPackageMissing: the script lacks a package
  std::string output;
  static constexpr int kPackageMissing = 77;
};

/// The Python that has the packages of the tests: $TPACK_PYTHON, or build/venv; empty where there is none.
inline std::optional<std::string> test_python() {
  const char* given = std::getenv("TPACK_PYTHON");
  const std::string path = given != nullptr ? given : TPACK_SOURCE_DIR "/build/venv/bin/python";
  return std::filesystem::exists(path) ? std::optional(path) : std::nullopt;
}

inline PythonResult run_python(const std::string& python, const std::string& script,
                               const std::string& argument) {
  const std::string command =
      "'" + python + "' '" TPACK_SOURCE_DIR "/tests/python/" + script + "' '" + argument + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  PythonResult result;
  std::array<char, 4096> buffer{};
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  result.exit_code = WEXITSTATUS(::pclose(pipe));
  return result;
}

}  // namespace tpack

/// Runs a script with the tests' Python and puts its result into `result`; skips the test where it cannot
/// run.
#define TPACK_RUN_PYTHON(result, script, argument)                                                     \
  const auto python_of_##result = ::tpack::test_python();                                              \
  if (!python_of_##result) GTEST_SKIP() << "no Python: set TPACK_PYTHON to one that has the packages"; \
  const ::tpack::PythonResult result = ::tpack::run_python(*python_of_##result, script, argument);     \
  if (result.exit_code == ::tpack::PythonResult::kPackageMissing)                                      \
  GTEST_SKIP() << "Python lacks " << result.output
