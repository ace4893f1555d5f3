#include "sources/format/edge_drawings.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "image/image.h"
#include "sources/format/mat_file.h"

namespace tpack {
namespace {

/// The arrays of a file, for messages.
std::string contents_of(const std::vector<MatArray>& arrays) {
  std::vector<std::string> all;
  for (const MatArray& array : arrays)
    all.push_back((array.name.empty() ? "" : "'" + array.name + "' ") + array.str());
  return all.empty() ? "nothing" : join_first(all);
}

/// The drawing of each person. Errors: DataError with the content of the file.
std::vector<const MatArray*> boundaries_of(const MatFile& file) {
  const std::string wanted =
      "; edges are a cell array groundTruth of structs with Boundaries [height, width], as in BSDS500";
  const auto cells = std::ranges::find(file.arrays, "groundTruth", &MatArray::name);
  if (cells == file.arrays.end() || cells->kind != "cell" || cells->items.empty())
    throw DataError("is a MAT file with " + contents_of(file.arrays) + wanted);
  std::vector<const MatArray*> all;
  for (const MatArray& person : cells->items) {
    const MatArray* const drawn = person.field("Boundaries");
    if (drawn == nullptr || drawn->shape.size() != 2 || drawn->numbers == 0)
      throw DataError("is a MAT file whose groundTruth has " +
                      contents_of({drawn == nullptr ? person : *drawn}) + wanted);
    if (drawn->shape != cells->items[0].field("Boundaries")->shape)
      throw DataError("is a MAT file of edges with different sizes, " +
                      cells->items[0].field("Boundaries")->str() + " and " + drawn->str());
    all.push_back(drawn);
  }
  return all;
}

}  // namespace

cv::Mat read_edge_shares(std::span<const uint8_t> bytes) {
  const MatFile file = read_mat_file(bytes);
  const std::vector<const MatArray*> people = boundaries_of(file);
  const int64_t height = people[0]->shape[0];
  const int64_t width = people[0]->shape[1];
  if (height > kMaxImageSide || width > kMaxImageSide)
    throw DataError("is a MAT file of edges that is too large");
  cv::Mat edges(static_cast<int>(height), static_cast<int>(width), CV_32FC1);
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t y = 0; y < height; ++y) {
      const auto drew = [&](const MatArray* person) { return person->at(x * height + y) != 0; };
      const auto count = std::ranges::count_if(people, drew);
      edges.at<float>(static_cast<int>(y), static_cast<int>(x)) =
          static_cast<float>(count) / static_cast<float>(people.size());
    }
  }
  return edges;
}

}  // namespace tpack
