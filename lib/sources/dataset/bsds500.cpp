#include <algorithm>
#include <array>
#include <filesystem>

#include <opencv2/core.hpp>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "sources/dataset/dataset_files.h"
#include "sources/first_images.h"
#include "sources/format/edge_drawings.h"
#include "sources/image_file.h"
#include "system/mapped_file.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

enum class EdgeSplit : uint8_t { kTrain, kVal, kTest };

}  // namespace

template <>
struct EnumNames<EdgeSplit> {
  static constexpr std::array<std::pair<const char*, EdgeSplit>, 3> kNames = {
      {{"train", EdgeSplit::kTrain}, {"val", EdgeSplit::kVal}, {"test", EdgeSplit::kTest}}};
};

namespace {

struct Bsds500Params : ImageFileFields {
  EdgeSplit split = EdgeSplit::kTrain;
  bool landscape = false;
  Ref<Path> dir;
};

/// Source: Arbelaez et al. 2011, "Contour Detection and Hierarchical Image Segmentation". `edges` is float32
/// [height, width, 1]; AugmentImageComponents moves it with the image.
///
/// Layout, in `dir` or in its folder bsds500: BSR/BSDS500/data/images/SPLIT/*.jpg and
/// BSR/BSDS500/data/groundTruth/SPLIT/*.mat (with or without the first folders), or both kinds in SPLIT.
class Bsds500 final : public RandomAccessSource, public SourceFiles, public SampleFacts {
 public:
  using Params = Bsds500Params;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>(
            "Photographs (481x321 or 321x481) and the edges that several people drew in them: "
            "`image`, and `edges` from 0 to 1, the share of the people who drew each pixel. For edges "
            "as classes, use ImagePairs.")
            .example("BSDS500: {split: test, shuffle: false}")
            .field("split", &Params::split, "train: 200 images; val: 100; test: 200")
            .field("landscape", &Params::landscape,
                   "transpose images that are higher than wide, so that all have the same size")
            .field("dir", &Params::dir,
                   "folder of the dataset, or its parent folder; default: TPACK_DATASET"));
  }
  explicit Bsds500(const Params& p) : p_(p), files_("BSDS500", p.dir) {}

  Spec spec() const override {
    ComponentSpec edges{"edges", {DType::kFloat32, {Shape::kUnknown, Shape::kUnknown, 1}}, true};
    edges.depth = Depth::kFloat;
    return {image_of_files(p_), edges};
  }
  int64_t size() const override { return std::ssize(names_); }
  bool shuffled() const override { return p_.shuffle; }
  SourceFacts facts() const override {
    return {.samples = size(), .unit = "images", .remarks = first_.remarks()};
  }
  std::string fingerprint() const override { return fingerprint_; }
  std::string file_of(int64_t index) const override {
    return (fs::path(images_) / names_[static_cast<size_t>(index)]).string();
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return names_[static_cast<size_t>(index)];
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    Image& image = out.renew_image(0);
    read_image_file(file_of(index), p_, image);
    cv::Mat edges = read_edges(edges_of(index));
    if (edges.cols != image.size().width || edges.rows != image.size().height)
      throw FileError(edges_of(index), "has edges of " + ImageSize{edges.cols, edges.rows}.str() +
                                           " pixels, but its image has " + image.size().str());
    if (p_.landscape && edges.rows > edges.cols) {
      cv::transpose(edges, edges);
      cv::Mat turned;
      cv::transpose(image.pixels(), turned);
      image.set_pixels(turned);
    }
    out.renew_image(1).set_pixels(edges);
  }

 protected:
  void prepare() override {
    const std::string split = EnumNames<EdgeSplit>::kNames.at(static_cast<size_t>(p_.split)).first;
    const std::string data = "BSR/BSDS500/data/";
    images_ = files_.find_first({data + "images/" + split + "/", "BSDS500/data/images/" + split + "/",
                                 "data/images/" + split + "/", "images/" + split + "/", split + "/"});
    const fs::path apart =
        fs::path(images_).parent_path().parent_path().parent_path() / "groundTruth" / split;
    drawings_ = fs::is_directory(apart) ? apart.string() : images_;
    names_ = sorted_names(images_, [](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename().string();
      return !is_hidden(name) && is_image_file(name);
    });
    if (names_.empty()) throw DataError(images_, "has no images");
    look_at_files();
  }

 private:
  static cv::Mat read_edges(const std::string& path) try {
    const MappedFile file(path);
    cv::Mat edges = read_edge_shares(file.bytes());
    check_mapped_files();  // as long as this file is mapped
    return edges;
  } catch (const FileError&) {
    throw;
  } catch (const DataError& error) {
    throw FileError(path, error.what());
  }
  std::string edges_of(int64_t index) const {
    return (fs::path(drawings_) / fs::path(names_[static_cast<size_t>(index)]).replace_extension(".mat"))
        .string();
  }
  /// Errors: DataError for images without edges.
  void look_at_files() {
    std::vector<std::string> alone;
    Digest digest;
    first_.start(kFirstImages);
    for (int64_t i = 0; i < size(); ++i) {
      const std::string& name = names_[static_cast<size_t>(i)];
      if (!fs::is_regular_file(edges_of(i))) alone.push_back(name);
      digest.add(size_stamp(name, file_of(i)) + size_stamp("", edges_of(i)));
      first_.look_at(file_of(i), name);
    }
    if (!alone.empty())
      throw DataError(drawings_, "has no .mat file for " + join_first(alone) + " (" +
                                     std::to_string(alone.size()) + " of " + std::to_string(size()) +
                                     " images)");
    fingerprint_ = digest.text();
  }

  Params p_;
  DatasetFiles files_;
  std::string images_;    // folder
  std::string drawings_;  // folder of the edges
  std::vector<std::string> names_;
  FirstImages first_{p_, "BSDS500", "'edges'"};
  std::string fingerprint_;
};

TPACK_REGISTER(Source, Bsds500, "BSDS500");

}  // namespace
}  // namespace tpack
