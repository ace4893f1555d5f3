#include "sources/dataset/labeled_files.h"

#include <algorithm>
#include <filesystem>

#include "core/digest.h"
#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/count_classes.h"
#include "system/file_io.h"

namespace tpack {

namespace fs = std::filesystem;

Spec LabeledFiles::spec() const {
  return {image_of_files(form_), {kLabel, {DType::kInt32, {}}, false, listing_.classes}};
}

void LabeledFiles::prepare() {
  listing_ = list();
  if (listing_.files.empty()) throw DataError(listing_.folder, "has no images");
  follow_train();
  Digest digest;
  first_.start(kFirstImages);
  for (int64_t i = 0; i < size(); ++i) {
    const FileListing::Entry& file = listing_.files[static_cast<size_t>(i)];
    if (listing_.archive != nullptr) {
      digest.add(size_stamp(file.path, file.bytes));
      continue;
    }
    digest.add(size_stamp(file.path, file_of(i)));
    first_.look_at(file_of(i), file.path);
  }
  fingerprint_ = digest.text();
}

std::optional<OpenFile> LabeledFiles::open_file() const {
  if (listing_.archive == nullptr) return std::nullopt;
  return OpenFile{listing_.folder, listing_.archive->stamp()};
}

void LabeledFiles::follow_train() {
  const auto train = opened_fit(kLabel);
  if (!train || train->classes.empty() || train->classes == listing_.classes) return;
  std::vector<int32_t> numbers;
  for (const std::string& name : listing_.classes) {
    const auto found = std::ranges::find(train->classes, name);
    if (found == train->classes.end())
      throw DataError(listing_.folder,
                      "has the class '" + printable(name) + "'" + did_you_mean(name, train->classes) +
                          ", which is not a class of data.train; it has " + join_first(train->classes));
    numbers.push_back(static_cast<int32_t>(found - train->classes.begin()));
  }
  for (FileListing::Entry& file : listing_.files) file.label = numbers[static_cast<size_t>(file.label)];
  listing_.classes = train->classes;
}

SourceFacts LabeledFiles::facts() const {
  return {.samples = size(),
          .unit = "images",
          .classes = count_classes(listing_.classes, *class_numbers(kLabel)),
          .remarks = first_.remarks()};
}

std::string LabeledFiles::file_of(int64_t index) const {
  return (fs::path(listing_.folder) / listing_.files[static_cast<size_t>(index)].path).string();
}

std::optional<std::string> LabeledFiles::stable_name(int64_t index) const {
  return listing_.files[static_cast<size_t>(index)].path;
}

std::optional<std::vector<int32_t>> LabeledFiles::class_numbers(const std::string& /*component*/) const {
  std::vector<int32_t> labels;
  for (const FileListing::Entry& file : listing_.files) labels.push_back(file.label);
  return labels;
}

void LabeledFiles::get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const {
  const FileListing::Entry& file = listing_.files[static_cast<size_t>(index)];
  if (listing_.archive == nullptr)
    read_image_file(file_of(index), form_, out.renew_image(0));
  else
    read_image_part(*listing_.archive, file.offset, file.bytes, file_of(index), form_, out.renew_image(0));
  *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = file.label;
}

std::vector<std::string> class_folders(const std::string& folder) {
  return sorted_names(folder, [](const fs::directory_entry& entry) {
    std::error_code unknown;
    return entry.is_directory(unknown) && !is_hidden(entry.path().filename().string());
  });
}

FileListing list_class_folders(const std::string& folder, const std::string& below) {
  FileListing listing{.folder = folder, .classes = {}, .files = {}};
  for (const std::string& name : class_folders(folder)) {
    const fs::path of_class = fs::path(name) / below;
    const auto label = static_cast<int32_t>(listing.classes.size());
    listing.classes.push_back(valid_utf8(name));
    for (const std::string& file :
         sorted_names(fs::path(folder) / of_class, [](const fs::directory_entry& entry) {
           const std::string image = entry.path().filename().string();
           return !is_hidden(image) && is_image_file(image);
         }))
      listing.files.push_back({(of_class / file).string(), label});
  }
  if (listing.files.empty())
    throw DataError(folder, "has no images in folders of classes, such as CLASS/" + below +
                                (below.empty() ? "" : "/") + "NAME.jpg");
  return listing;
}

}  // namespace tpack
