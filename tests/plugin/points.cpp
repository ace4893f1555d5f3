// A source that reads a file.
#include <fstream>
#include <vector>

#include "core/registry.h"
#include "dataflow/file_stamp.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

struct PointsParams {
  Ref<Path> file;
};

/// Reads points and their classes from a text file with a line "X Y CLASS" for each.
class Points final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = PointsParams;
  static Schema<Params> schema() {
    return Schema<Params>("Points of a plane with class 0 or 1, one per line of a text file.")
        .example("Points: points.txt")
        .field("file", &Params::file, "the file; each line has x, y and the class")
        .required()
        .shorthand();
  }
  explicit Points(Params p) : p_(std::move(p)), path_(resolved_path(p_.file)) {}

  void prepare() override {
    require_path("Points", p_.file);
    std::ifstream file(path_);
    Point point;
    while (file >> point.x >> point.y >> point.label) points_.push_back(point);
    if (!file.eof())
      throw DataError(path_, "expected 'X Y CLASS' after " + std::to_string(size()) + " points");
  }
  Spec spec() const override {
    return {{"x", {DType::kFloat32, {2}}, false}, {"label", {DType::kInt32, {}}, false}};
  }
  int64_t size() const override { return static_cast<int64_t>(points_.size()); }
  bool shuffled() const override { return true; }
  std::string fingerprint() const override { return file_stamp(path_); }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const Point& point = points_[static_cast<size_t>(index)];
    float* x = out.renew(0, {DType::kFloat32, {2}}).data<float>();
    x[0] = point.x;
    x[1] = point.y;
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = point.label;
  }

 private:
  struct Point {
    float x = 0;
    float y = 0;
    int32_t label = 0;
  };

  Params p_;
  std::string path_;
  std::vector<Point> points_;
};

TPACK_REGISTER(Source, Points, "Points");

}  // namespace
}  // namespace tpack
