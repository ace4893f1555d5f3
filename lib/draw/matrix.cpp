#include "draw/matrix.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/text.h"
#include "draw/svg.h"

namespace tpack {
namespace {

constexpr double kSquare = 34;
constexpr double kSmallSquare = 12;  // without values
constexpr size_t kMostWithValues = 20;
constexpr double kPerCharacter = 6.6;  // width at the font size of documents
constexpr double kTitle = 20;
constexpr std::array<double, 3> kDark = {29, 78, 216};  // the color of a whole row

double longest(const std::vector<std::string>& names) {
  size_t most = 1;
  for (const std::string& name : names) most = std::max(most, character_count(name));
  return kPerCharacter * static_cast<double>(most) + 10;
}

std::string rotated(double x, double y, const std::string& text) {
  const std::string at = svg_number(x) + " " + svg_number(y);
  return svg_element("text",
                     {{"x", svg_number(x)},
                      {"y", svg_number(y)},
                      {"text-anchor", "end"},
                      {"transform", "rotate(-90 " + at + ")"}},
                     svg_escaped(text));
}

}  // namespace

std::vector<double> Matrix::shares(size_t row) const {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * columns.size());
  std::vector<double> parts(begin, begin + static_cast<std::ptrdiff_t>(columns.size()));
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& part : parts) part = sum > 0 ? part / sum : 0;
  return parts;
}

std::string svg_matrix(const Matrix& matrix) {
  const bool with_values = matrix.columns.size() <= kMostWithValues;
  const double side = with_values ? kSquare : kSmallSquare;
  const double left = longest(matrix.rows);
  const double width = side * static_cast<double>(matrix.columns.size());
  const double height = side * static_cast<double>(matrix.rows.size());
  const double below = longest(matrix.columns);
  std::string out =
      svg_text(left, 14, "start", matrix.row_title + " \u2193   " + matrix.column_title + " \u2192");
  for (size_t r = 0; r < matrix.rows.size(); ++r) {
    const double y = kTitle + side * static_cast<double>(r);
    out += svg_text(left - 6, y + side / 2 + 4, "end", matrix.rows[r]);
    const std::vector<double> shares = matrix.shares(r);
    for (size_t c = 0; c < matrix.columns.size(); ++c) {
      if (!with_values && matrix.at(r, c) == 0) continue;
      const double x = left + side * static_cast<double>(c);
      const double share = shares[c];
      out += svg_element("rect", {{"x", svg_number(x)},
                                  {"y", svg_number(y)},
                                  {"width", svg_number(side - 1)},
                                  {"height", svg_number(side - 1)},
                                  {"fill", "#1d4ed8"},
                                  {"fill-opacity", short_text(0.06 + 0.94 * share)}});
      if (!with_values || matrix.at(r, c) == 0) continue;
      out += svg_element("text",
                         {{"x", svg_number(x + side / 2)},
                          {"y", svg_number(y + side / 2 + 4)},
                          {"text-anchor", "middle"},
                          {"fill", share > 0.5 ? "#ffffff" : kSvgGray}},
                         short_text(matrix.at(r, c)));
    }
  }
  for (size_t c = 0; c < matrix.columns.size(); ++c)
    out +=
        rotated(left + side * static_cast<double>(c) + side / 2 + 4, kTitle + height + 6, matrix.columns[c]);
  constexpr double kTitleWidth = 150;
  return svg_document(left + std::max(width, kTitleWidth) + 10, kTitle + height + below + 6, out);
}

Tensor matrix_image(const Matrix& matrix) {
  constexpr size_t kMostPixels = 512;
  const size_t most = std::max({matrix.rows.size(), matrix.columns.size(), size_t{1}});
  const auto side = static_cast<int64_t>(std::max<size_t>(1, std::min<size_t>(24, kMostPixels / most)));
  Tensor image(DType::kFloat32, {std::ssize(matrix.rows) * side, std::ssize(matrix.columns) * side, 3});
  auto* out = image.data<float>();
  for (size_t r = 0; r < matrix.rows.size(); ++r) {
    const std::vector<double> shares = matrix.shares(r);
    for (int64_t y = 0; y < side; ++y) {
      for (const double share : shares) {
        for (int64_t x = 0; x < side; ++x)
          for (const double dark : kDark) *out++ = static_cast<float>(255 + share * (dark - 255));
      }
    }
  }
  return image;
}

}  // namespace tpack
