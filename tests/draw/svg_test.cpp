#include "draw/svg.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(Svg, writes_elements_with_and_without_content) {
  EXPECT_EQ(svg_element("rect", {{"x", svg_number(1.25)}}), "<rect x=\"1.2\"/>\n");
  EXPECT_EQ(svg_element("g", {}, "a"), "<g>a</g>\n");
}

TEST(Svg, escapes_what_xml_reserves) {
  EXPECT_EQ(svg_text(1, 2, "end", "a<b & c>d"),
            "<text x=\"1.0\" y=\"2.0\" text-anchor=\"end\">a&lt;b &amp; c&gt;d</text>\n");
}

TEST(Svg, a_document_has_a_size_and_no_background) {
  const std::string svg = svg_document(40, 20.5, "x");
  EXPECT_NE(svg.find("viewBox=\"0 0 40 20.5\""), std::string::npos);
  EXPECT_EQ(svg.find("<rect"), std::string::npos);
}

}  // namespace
}  // namespace tpack
