#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tpack {

/// Color of lines and words that is readable on light and dark pages.
inline constexpr const char* kSvgGray = "#7d8590";

/// With one digit after the point, as coordinates are.
std::string svg_number(double value);
/// Text with reserved characters of XML escaped.
std::string svg_escaped(const std::string& text);

using SvgAttributes = std::vector<std::pair<const char*, std::string>>;
/// <name a="..." b="...">content</name>, on a line of its own. `content` is XML.
std::string svg_element(const std::string& name, const SvgAttributes& attributes,
                        const std::string& content = "");
/// `anchor`: start, middle or end.
std::string svg_text(double x, double y, const char* anchor, const std::string& text);
/// A picture of that size: self-contained, without a background, in colors that are readable on light and
/// dark pages.
std::string svg_document(double width, double height, const std::string& content);

}  // namespace tpack
