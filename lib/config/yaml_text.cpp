#include "config/yaml_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "system/file_kind.h"

namespace tpack {
namespace {

/// A NUL is not text either.
std::optional<size_t> first_bad_byte(const std::string& text) {
  const auto invalid = first_invalid_utf8(text);
  const size_t zero = text.find('\0');
  return zero < invalid.value_or(text.size()) ? zero : invalid;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr size_t kStride = 64;

constexpr std::string_view kUsesOfCheckpoints =
    "use it with `tpack eval` or `tpack infer`, or resume its run with `tpack train CONFIG --resume FILE`";

Position of_name(const std::string& name) { return {std::make_shared<const std::string>(name), 1, 1}; }

}  // namespace

YamlText YamlText::of_file(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  const Position where = {std::make_shared<const std::string>(path), 0, 0};
  if (!std::filesystem::exists(status)) throw ConfigError(where, "no such file");
  if (!std::filesystem::is_regular_file(status)) throw ConfigError(where, "is not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(where, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(kMaxBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (const FileKind kind = kind_of_content(text); kind.is_no_text() && !text.empty()) {
    throw ConfigError(where, "is " + kind.rejected_as("a config", kind.form == FileKind::Form::kCheckpoint
                                                                      ? kUsesOfCheckpoints
                                                                      : "a config is a YAML file"));
  }
  if (text.size() > kMaxBytes) {
    throw ConfigError(where, "is larger than " + human_bytes(kMaxBytes) + "; keep data out of the config");
  }
  return of_string(std::move(text), path);
}

YamlText YamlText::of_string(std::string text, const std::string& name) {
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  YamlText made(std::move(text), of_name(name));
  made.check();
  return made;
}

YamlText YamlText::of_option(std::string text, Position where) {
  where.line = 0;
  YamlText made(std::move(text), std::move(where));
  made.check();
  return made;
}

YamlText::YamlText(std::string text, Position origin)
    : text_(std::move(text)), origin_(std::move(origin)), line_starts_{0} {
  for (size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') line_starts_.push_back(at + 1);
  }
  size_t count = 0;
  for (size_t at = 0; at <= text_.size(); at += kStride) {
    characters_.push_back(count);
    count += character_count(std::string_view(text_).substr(at, kStride));
  }
}

size_t YamlText::characters_before(size_t offset) const {
  const size_t from = offset / kStride;
  return characters_[from] +
         character_count(std::string_view(text_).substr(from * kStride, offset % kStride));
}

void YamlText::check() const {
  if (text_.size() > kMaxBytes) throw ConfigError(position(0), "is larger than " + human_bytes(kMaxBytes));
  if (const auto bad = first_bad_byte(text_)) {
    throw ConfigError(position(*bad), "invalid UTF-8; save the file as UTF-8");
  }
  for (const size_t start : line_starts_) {
    const size_t tab = text_.find_first_not_of(' ', start);
    if (tab != std::string::npos && text_[tab] == '\t') {
      throw ConfigError(position(tab), "tab in the indentation; use spaces");
    }
  }
}

Position YamlText::position(size_t offset) const {
  if (origin_.line == 0) return origin_;
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const size_t start = *std::prev(next);
  const size_t column = characters_before(offset) - characters_before(start) + 1;
  return {origin_.file, static_cast<int>(next - line_starts_.begin()), static_cast<int>(column)};
}

size_t YamlText::skip_properties(size_t offset) const {
  size_t at = offset;
  while (at < text_.size() && (text_[at] == '!' || text_[at] == '&')) {
    while (at < text_.size() && !is_blank(text_[at])) ++at;
    while (at < text_.size() && is_blank(text_[at])) ++at;
  }
  return std::min(at, text_.size());
}

bool YamlText::quote_ends(size_t offset) const {
  const char quote = text_[offset];
  for (size_t at = offset + 1; at < text_.size(); ++at) {
    if (quote == '"' && text_[at] == '\\') {
      ++at;
    } else if (text_[at] == quote) {
      if (quote == '"' || at + 1 == text_.size() || text_[at + 1] != quote) return true;
      ++at;  // '' inside single quotes
    }
  }
  return false;
}

ConfigNode::Style YamlText::style_at(size_t offset) const {
  if (offset >= text_.size()) return ConfigNode::Style::kPlain;
  const char c = text_[offset];
  if (c == '"' || c == '\'') return ConfigNode::Style::kQuoted;
  return c == '|' || c == '>' ? ConfigNode::Style::kBlock : ConfigNode::Style::kPlain;
}

}  // namespace tpack
