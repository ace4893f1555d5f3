#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tpack {

/// A tar archive (ustar) with these files.
inline std::string tar_file(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string tar;
  for (const auto& [name, content] : files) {
    std::string header(512, '\0');
    const auto put = [&header](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    const auto octal = [](uint64_t value) {
      std::array<char, 16> digits{};
      std::snprintf(digits.data(), digits.size(), "%011llo", static_cast<unsigned long long>(value));
      return std::string(digits.data());
    };
    put(0, name);
    put(100, "0000644");
    put(124, octal(content.size()));
    put(136, octal(0));
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    uint64_t sum = 0;
    for (const char c : header) sum += static_cast<uint8_t>(c);
    put(148, octal(sum).substr(5) + '\0');
    tar += header + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return tar + std::string(1024, '\0');
}

}  // namespace tpack
