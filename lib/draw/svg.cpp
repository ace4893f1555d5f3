#include "draw/svg.h"

#include <array>
#include <cstdio>

#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {

std::string svg_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string svg_escaped(const std::string& given) {
  const std::string text = printable(given);
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string svg_element(const std::string& name, const SvgAttributes& attributes,
                        const std::string& content) {
  std::string out = "<" + name;
  for (const auto& [key, value] : attributes) out += std::string(" ") + key + "=\"" + value + '"';
  return out + (content.empty() ? "/>\n" : ">" + content + "</" + name + ">\n");
}

std::string svg_text(double x, double y, const char* anchor, const std::string& text) {
  return svg_element("text", {{"x", svg_number(x)}, {"y", svg_number(y)}, {"text-anchor", anchor}},
                     svg_escaped(text));
}

std::string svg_document(double width, double height, const std::string& content) {
  const auto side = [](double length) { return short_text(length); };
  return svg_element("svg",
                     {{"xmlns", "http://www.w3.org/2000/svg"},
                      {"viewBox", "0 0 " + side(width) + " " + side(height)},
                      {"font-family", "sans-serif"},
                      {"font-size", "12"},
                      {"fill", kSvgGray}},
                     "\n" + content);
}

}  // namespace tpack
