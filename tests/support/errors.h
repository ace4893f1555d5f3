#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.h"

namespace tpack {

/// The message of the error that `work` throws. Errors of other kinds pass.
template <typename Kind = ConfigError, std::invocable Work>
std::string error_from(Work&& work) {
  try {
    work();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

/// Whether a message has all of these parts: its place, the name, the fix.
inline testing::AssertionResult says(std::string_view message,
                                     std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (message.find(part) == std::string_view::npos)
      return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
  }
  return testing::AssertionSuccess();
}

inline testing::AssertionResult says(std::string_view message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (testing::AssertionResult result = says(message, {std::string_view(part)}); !result) return result;
  return testing::AssertionSuccess();
}

}  // namespace tpack
