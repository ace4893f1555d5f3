#include <algorithm>
#include <filesystem>
#include <glob.h>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "dataflow/source.h"
#include "sources/image_file.h"

namespace tpack {
namespace {

struct ImageFromFileParams : ImageFileFields {
  std::vector<Ref<Path>> files;

  ImageFromFileParams() { shuffle = false; }
};

/// The files that match a pattern, sorted; the name itself if it has no special characters.
std::vector<std::string> matching_files(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return {pattern};
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return files;
}

/// Images stay encoded until a map needs their pixels. Source: tensorpack dataflow/image.py, ImageFromFile.
class ImageFromFile final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = ImageFromFileParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>("Reads single image files (JPEG, PNG, GIF, BMP, TIFF, WebP or PNM) as the component "
                       "`image`, without labels. For images with classes, use ImageFolder or ImageList.")
            .example("ImageFromFile: {files: [\"photos/*.jpg\", more/1.png]}")
            .field("files", &Params::files,
                   "files, or patterns with * (any characters of one name), ? and [...]; the files of a "
                   "pattern are sorted")
            .required()
            .shorthand());
  }
  explicit ImageFromFile(Params p) : p_(std::move(p)) {
    if (p_.files.empty())
      throw ConfigError("ImageFromFile: 'files' is empty; name a file, or a pattern such as photos/*.jpg");
  }

  Spec spec() const override { return {image_of_files(p_)}; }
  int64_t size() const override { return std::ssize(files_); }
  bool shuffled() const override { return p_.shuffle; }
  std::string file_of(int64_t index) const override { return files_[static_cast<size_t>(index)]; }
  std::string fingerprint() const override { return fingerprint_; }
  SourceFacts facts() const override { return {.samples = size(), .unit = "images"}; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    read_image_file(files_[static_cast<size_t>(index)], p_, out.renew_image(0));
  }

 protected:
  void prepare() override {
    files_.clear();
    Digest digest;
    for (const Ref<Path>& pattern : p_.files) {
      const std::vector<std::string> some = matching_files(resolved_path(pattern));
      if (some.empty())
        throw ConfigError(pattern.position, "ImageFromFile: no file matches '" + pattern.name + "'");
      for (const std::string& file : some) {
        if (!std::filesystem::exists(file))
          throw ConfigError(pattern.position, "ImageFromFile: '" + file + "' does not exist");
        digest.add(size_stamp(file, file) + "\n");
        files_.push_back(file);
      }
    }
    fingerprint_ = digest.text();
  }

 private:
  Params p_;
  std::vector<std::string> files_;
  std::string fingerprint_;
};

TPACK_REGISTER(Source, ImageFromFile, "ImageFromFile");

}  // namespace
}  // namespace tpack
