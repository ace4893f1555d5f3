#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/source.h"
#include "sources/first_images.h"
#include "sources/image_file.h"
#include "system/input_file.h"

namespace tpack {

/// The image files of a dataset and their classes.
struct FileListing {
  struct Entry {
    std::string path;     // relative to `folder`
    int32_t label = 0;    // number in `classes`
    uint64_t offset = 0;  // in `archive`
    uint64_t bytes = 0;
  };
  std::string folder;  // or the path of `archive`
  std::vector<std::string> classes;
  std::vector<Entry> files;
  std::shared_ptr<const InputFile> archive = nullptr;  // has all of the files; null: they are in `folder`
};

/// The images of a dataset in files, with their classes. Images stay encoded until a map needs their pixels.
class LabeledFiles : public RandomAccessSource, public SourceFiles, public LearnedValues, public SampleFacts {
 public:
  /// The names of the classes are in the files.
  bool knows_spec() const override { return !listing_.classes.empty(); }
  std::optional<ComponentSpec> declared_image() const override { return image_of_files(form_); }
  Spec spec() const override;
  int64_t size() const override { return std::ssize(listing_.files); }
  bool shuffled() const override { return form_.shuffle; }
  std::vector<FittedComponent> fitted() const override { return {{name(), kLabel, {}, listing_.classes}}; }
  SourceFacts facts() const override;
  std::string fingerprint() const override { return fingerprint_; }
  std::optional<OpenFile> open_file() const override;
  std::string file_of(int64_t index) const override;
  std::optional<std::string> stable_name(int64_t index) const override;
  std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const override;
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override;

 protected:
  /// `source`: its name in a config. `with_image`: as of FirstImages.
  LabeledFiles(ImageFileFields form, std::string source, std::string with_image = "")
      : form_(form), source_(std::move(source)), first_(form_, source_, std::move(with_image)) {}
  void prepare() override;
  /// Finds the files. Errors: DataError.
  virtual FileListing list() const = 0;
  /// After `prepare`.
  const FileListing& listing() const { return listing_; }

 private:
  static constexpr const char* kLabel = "label";

  /// Uses the classes of data.train, if they are known.
  void follow_train();

  ImageFileFields form_;
  std::string source_;
  FileListing listing_;
  FirstImages first_;
  std::string fingerprint_;
};

/// The folders in a folder, without hidden ones, sorted.
std::vector<std::string> class_folders(const std::string& folder);
/// The images of FOLDER/CLASS/`below`/NAME; the folders are the classes, sorted. Errors: DataError if there
/// are none.
FileListing list_class_folders(const std::string& folder, const std::string& below = "");

}  // namespace tpack
