#include "image/contours.h"

#include <algorithm>

#include <opencv2/imgproc.hpp>

namespace tpack {
namespace {

Contour::Polygon polygon_of(const std::vector<cv::Point>& corners) {
  Contour::Polygon polygon;
  for (const cv::Point& corner : corners) polygon.push_back({corner.x, corner.y});
  return polygon;
}

}  // namespace

std::vector<Contour> contours_of(const Tensor& mask) {
  const Tensor bytes = mask.cast(DType::kUInt8);
  const cv::Mat classes(static_cast<int>(mask.shape()[0]), static_cast<int>(mask.shape()[1]), CV_8UC1,
                        bytes.raw());
  std::array<bool, 256> is_there{};
  for (const uint8_t label : bytes.span<uint8_t>()) is_there[label] = true;
  std::vector<Contour> all;
  for (int label = 1; label < 256; ++label) {
    if (!is_there[static_cast<size_t>(label)]) continue;
    std::vector<std::vector<cv::Point>> borders;
    std::vector<cv::Vec4i> tree;  // next, previous, first child, parent
    const cv::Mat of_class = classes == label;
    cv::findContours(of_class, borders, tree, cv::RETR_CCOMP, cv::CHAIN_APPROX_SIMPLE);
    const auto first = std::ssize(all);
    for (size_t i = 0; i < borders.size(); ++i) {
      if (tree[i][3] >= 0) continue;  // a hole
      Contour area{label, polygon_of(borders[i])};
      const cv::Rect around = cv::boundingRect(borders[i]);
      cv::Mat filled(around.size(), CV_8UC1, cv::Scalar::all(0));
      cv::drawContours(filled, borders, static_cast<int>(i), cv::Scalar::all(1), cv::FILLED, cv::LINE_8, tree,
                       1, -around.tl());
      area.pixels = cv::countNonZero(filled & of_class(around));
      for (int hole = tree[i][2]; hole >= 0; hole = tree[static_cast<size_t>(hole)][0])
        area.holes.push_back(polygon_of(borders[static_cast<size_t>(hole)]));
      all.push_back(std::move(area));
    }
    std::stable_sort(all.begin() + first, all.end(), [](const Contour& a, const Contour& b) {
      const auto top = [](const Contour& c) {
        return std::min_element(c.outline.begin(), c.outline.end(),
                                [](const auto& p, const auto& q) { return p[1] < q[1]; })
            ->at(1);
      };
      return top(a) < top(b);
    });
  }
  return all;
}

}  // namespace tpack
