#include "sources/mirror_pairs.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Whether `y` is `x` with a y instead of an x.
bool are_x_and_y(const std::string& x, const std::string& y) {
  for (size_t i = 0; i < x.size() && x.size() == y.size(); ++i) {
    std::string other = lower_case(x);
    if (other[i] != 'x') continue;
    other[i] = 'y';
    if (other == lower_case(y)) return true;
  }
  return false;
}

/// Whether column names are those of points, with x and y alternating: x0, y0, x1, y1.
bool are_names_of_points(const std::vector<std::string>& columns) {
  if (columns.empty() || columns.size() % 2 != 0) return false;
  for (size_t i = 0; i < columns.size(); i += 2)
    if (!are_x_and_y(columns[i], columns[i + 1])) return false;
  return true;
}

}  // namespace

MirrorPairs mirror_pairs_of(const std::string& owner, const std::vector<std::vector<int64_t>>& written,
                            int64_t count) {
  MirrorPairs pairs;
  std::set<int64_t> seen;
  for (const std::vector<int64_t>& pair : written) {
    const auto is_there = [count](int64_t number) { return number >= 0 && number < count; };
    if (pair.size() != 2 || !std::ranges::all_of(pair, is_there))
      throw ConfigError(owner + ": 'mirror_pairs' must be pairs of numbers from 0 to " +
                        std::to_string(count - 1) + ", such as [[0, 1], [3, 2]]");
    for (const int64_t number : pair)
      if (!seen.insert(number).second)
        throw ConfigError(owner + ": 'mirror_pairs' has " + std::to_string(number) + " more than once");
    pairs.emplace_back(pair[0], pair[1]);
  }
  return pairs;
}

MirrorPairs left_and_right(const std::vector<std::string>& names) {
  constexpr std::string_view kLeft = "left";
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(lower_case(name));
  MirrorPairs pairs;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t left = all[i].find(kLeft);
    if (left == std::string::npos) continue;
    std::string other = all[i];
    other.replace(left, kLeft.size(), "right");
    const auto right = std::ranges::find(all, other);
    if (right != all.end()) pairs.emplace_back(static_cast<int64_t>(i), right - all.begin());
  }
  return pairs;
}

std::vector<std::string> remarks_on_points(const std::vector<FittedComponent>& components,
                                           const std::vector<std::string>& points, bool has_pairs) {
  std::vector<std::string> all;
  for (const FittedComponent& one : components) {
    if (!one.classes.empty() || !are_names_of_points(one.columns)) continue;
    if (std::ranges::find(points, one.component) == points.end()) {
      all.push_back("columns " + join_first(one.columns) + " of '" + one.component +
                    "' are named like points; if they are positions in the image, in pixels, set points: [" +
                    one.component + "], so that augmentors such as Resize move them with it");
      continue;
    }
    std::vector<std::string> of_points;  // names of x
    for (size_t i = 0; i < one.columns.size(); i += 2) of_points.push_back(one.columns[i]);
    std::vector<std::string> pairs;
    for (const auto& [left, right] : left_and_right(of_points))
      pairs.push_back("[" + std::to_string(left) + ", " + std::to_string(right) + "]");
    if (!pairs.empty() && !has_pairs)
      all.push_back("points '" + one.component +
                    "' are named left and right; if an augmentor mirrors images (Flip), set mirror_pairs: [" +
                    join(pairs, ", ") + "]");
  }
  return all;
}

}  // namespace tpack
