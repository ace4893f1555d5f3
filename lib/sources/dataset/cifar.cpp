#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/split.h"
#include "sources/dataset/dataset_files.h"
#include "sources/dataset/stored_images.h"
#include "sources/format/pickle.h"
#include "sources/format/tar_gz.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

enum class CifarLabels : uint8_t { kFine, kCoarse };

}  // namespace

template <>
struct EnumNames<CifarLabels> {
  static constexpr std::array<std::pair<const char*, CifarLabels>, 2> kNames = {
      {{"fine", CifarLabels::kFine}, {"coarse", CifarLabels::kCoarse}}};
};

namespace {

constexpr int64_t kCifarSide = 32;
constexpr size_t kCifarPlane = kCifarSide * kCifarSide;
constexpr size_t kCifarPixels = 3 * kCifarPlane;
constexpr int64_t kCifarTrainImages = 50'000;
constexpr int64_t kCifarTestImages = 10'000;

/// How a version of the data set is stored.
struct CifarForm {
  std::string dataset;                   // "Cifar10"
  std::vector<std::string> python;       // names of the files of the split, in the archive for Python
  std::vector<std::string> binary;       // in the binary archive
  std::vector<std::string> containers;   // folders and archives
  const char* python_labels = "labels";  // key in the files for Python
  size_t label_bytes = 1;                // before each image of the binary files
  size_t label_at = 0;
  std::string python_names;  // file with the names of the classes
  const char* python_names_key = "label_names";
  std::string binary_names;
};

/// The files of a folder or an archive.
class CifarFiles {
 public:
  /// `names`: those that are read.
  CifarFiles(std::string path, const std::vector<std::string>& names) : path_(std::move(path)) {
    constexpr size_t kMostBytes = 512U << 20U;
    const auto is_wanted = [&names](std::string_view name) {
      return std::ranges::find(names, name) != names.end();
    };
    if (!fs::is_directory(path_)) archived_ = read_tar_gz(path_, is_wanted, kMostBytes);
  }
  bool has(const std::string& name) const {
    return fs::is_directory(path_) ? fs::is_regular_file(fs::path(path_) / name) : archived_.contains(name);
  }
  std::string path_of(const std::string& name) const { return (fs::path(path_) / name).string(); }
  /// The path that is opened.
  std::string opened(const std::string& name) const {
    return fs::is_directory(path_) ? path_of(name) : path_;
  }
  /// Valid until the next call.
  StoredBytes bytes(const std::string& name) {
    if (!fs::is_directory(path_)) return archived_.at(name);
    file_.emplace(path_of(name));
    return file_->bytes();
  }

 private:
  std::string path_;
  std::map<std::string, std::vector<uint8_t>> archived_;
  std::optional<MappedFile> file_;
};

/// Red, green and blue planes to pixels.
void interleave(StoredBytes planes, uint8_t* out) {
  for (size_t i = 0; i < kCifarPlane; ++i)
    for (size_t c = 0; c < 3; ++c) *out++ = planes[c * kCifarPlane + i];
}

struct CifarBatch {
  std::vector<uint8_t> pixels;
  std::vector<int32_t> labels;

  void add(StoredBytes planes, int64_t label) {
    pixels.resize(pixels.size() + kCifarPixels);
    interleave(planes, pixels.data() + pixels.size() - kCifarPixels);
    labels.push_back(static_cast<int32_t>(std::clamp<int64_t>(label, -1, 1'000'000)));
  }
};

void read_binary_batch(StoredBytes bytes, const std::string& path, const CifarForm& form, CifarBatch& batch) {
  const size_t record = form.label_bytes + kCifarPixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    throw DataError(path, "has " + std::to_string(bytes.size()) + " bytes; must be a multiple of " +
                              std::to_string(record) + ": an image and its label");
  }
  for (size_t at = 0; at < bytes.size(); at += record)
    batch.add(bytes.subspan(at + form.label_bytes, kCifarPixels), bytes[at + form.label_at]);
}

const StoredDict& dict_of(const Pickle& pickle) {
  if (pickle.value.dict() == nullptr) throw DataError("has " + pickle.value.str() + "; must be a dict");
  return *pickle.value.dict();
}

void read_python_batch(StoredBytes bytes, const std::string& path, const CifarForm& form,
                       CifarBatch& batch) try {
  const Pickle pickle = read_pickle(bytes);
  const StoredValue* const data = dict_of(pickle).find("data");
  const StoredValue* const labels = dict_of(pickle).find(form.python_labels);
  if (data == nullptr || labels == nullptr)
    throw DataError("has " + pickle.value.str() + "; must have data and " + form.python_labels);
  const StoredArray* const array = data->array();
  const StoredList* const numbers = labels->list();
  const auto images = numbers == nullptr ? 0 : std::ssize(numbers->items);
  const bool fits = array != nullptr && array->dtype == "|u1" && !array->is_fortran && numbers != nullptr &&
                    array->shape == std::vector<int64_t>{images, static_cast<int64_t>(kCifarPixels)};
  if (!fits) {
    throw DataError("has " + data->str() + " and " + labels->str() +
                    "; must be an array |u1 [images, 3072] and a list with a label for each image");
  }
  for (size_t i = 0; i < numbers->items.size(); ++i) {
    const auto label = numbers->items[i].integer();
    if (!label) throw DataError("has " + numbers->items[i].str() + " in place of a label");
    batch.add(array->data.subspan(i * kCifarPixels, kCifarPixels), *label);
  }
} catch (const DataError& error) {
  throw DataError(path, error.what());
}

std::vector<std::string> python_class_names(StoredBytes bytes, const std::string& path, const char* key) try {
  const Pickle pickle = read_pickle(bytes);
  const StoredValue* const found = dict_of(pickle).find(key);
  const StoredList* const list = found == nullptr ? nullptr : found->list();
  if (list == nullptr) throw DataError(std::string("has no list ") + key);
  std::vector<std::string> names;
  for (const StoredValue& name : list->items) names.push_back(valid_utf8(name.text().value_or("")));
  return names;
} catch (const DataError& error) {
  throw DataError(path, error.what());
}

std::vector<std::string> lines_of(StoredBytes bytes) {
  std::vector<std::string> lines;
  for (const std::string& line : split({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, '\n'))
    if (!trim(line).empty()) lines.push_back(valid_utf8(trim(line)));
  return lines;
}

/// Images of CIFAR, 32x32 in colors, from the files for Python or the binary ones. All are kept in memory
/// (150 MB).
class CifarImages : public StoredImages {
 protected:
  CifarImages(CifarForm cifar, Form form, const Ref<Path>& dir)
      : StoredImages(std::move(form)), form_(std::move(cifar)), files_(form_.dataset, dir) {}

  Content load() override {
    const std::string place = files_.find_first(
        places(), archive("binary") + ", " + archive("python") + " or their unpacked files");
    std::vector<std::string> wanted = form_.python;
    wanted.insert(wanted.end(), form_.binary.begin(), form_.binary.end());
    wanted.insert(wanted.end(), {form_.python_names, form_.binary_names});
    const bool is_file_of_folder =
        std::ranges::find(wanted, fs::path(place).filename().string()) != wanted.end();
    CifarFiles files(is_file_of_folder ? fs::path(place).parent_path().string() : place, wanted);
    const bool is_python = files.has(form_.python[0]);
    Content content;
    CifarBatch batch;
    for (const std::string& name : is_python ? form_.python : form_.binary) {
      const std::string path = files.path_of(name);
      if (!files.has(name)) throw DataError(path, "is missing");
      if (is_python)
        read_python_batch(files.bytes(name), path, form_, batch);
      else
        read_binary_batch(files.bytes(name), path, form_, batch);
      content.paths.push_back(files.opened(name));
    }
    check_names(files);
    content.images = Tensor(TensorSpec{DType::kUInt8, {std::ssize(batch.labels), kCifarSide, kCifarSide, 3}});
    std::ranges::copy(batch.pixels, content.images.data<uint8_t>());
    content.labels = std::move(batch.labels);
    return content;
  }

 private:
  /// A file of the split in a folder, before the archives.
  std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (const std::string& folder : form_.containers)
      for (const std::string& file : {form_.python[0], form_.binary[0]}) all.push_back(folder + file);
    all.push_back(archive("binary"));
    all.push_back(archive("python"));
    return all;
  }
  std::string archive(const std::string& version) const {
    return (form_.dataset == "Cifar10" ? "cifar-10-" : "cifar-100-") + version + ".tar.gz";
  }
  /// The names in the files should be those that are published.
  void check_names(CifarFiles& files) {
    const bool is_python = files.has(form_.python_names);
    if (!is_python && !files.has(form_.binary_names)) return;
    const std::string& file = is_python ? form_.python_names : form_.binary_names;
    const std::vector<std::string> names =
        is_python ? python_class_names(files.bytes(file), files.path_of(file), form_.python_names_key)
                  : lines_of(files.bytes(file));
    if (names == classes()) return;
    remark(printable(files.path_of(file)) + " names the classes " + join_first(names) + ", but those of " +
           form_.dataset + ", which are used, are " + join_first(classes()) +
           "; for other images in this format, use ImageFolder or Npz");
  }

  CifarForm form_;
  DatasetFiles files_;
};

struct CifarParams {
  Split split = Split::kTrain;
  std::optional<bool> shuffle = {};
  Ref<Path> dir = {};
};

struct Cifar100Params : CifarParams {
  CifarLabels labels = CifarLabels::kFine;
};

template <class P>
Schema<P> cifar_schema(const std::string& summary) {
  return Schema<P>(summary +
                   " Reads the binary files or those for Python, in a folder or as the published "
                   ".tar.gz.")
      .field("split", static_cast<Split P::*>(&P::split), "train: 50,000 images; test: 10,000")
      .field("shuffle", static_cast<std::optional<bool> P::*>(&P::shuffle),
             "use a new order in each pass; default: true for train only")
      .field("dir", static_cast<Ref<Path> P::*>(&P::dir),
             "folder with the files, or its parent folder; default: TPACK_DATASET");
}

StoredImages::Form form_of(const CifarParams& p, std::vector<std::string> classes) {
  const bool is_train = p.split == Split::kTrain;
  return {.side = kCifarSide,
          .channels = 3,
          .classes = std::move(classes),
          .samples = is_train ? kCifarTrainImages : kCifarTestImages,
          .shuffle = p.shuffle.value_or(is_train)};
}

/// Source: Krizhevsky 2009, "Learning Multiple Layers of Features from Tiny Images".
class Cifar10 final : public CifarImages {
 public:
  using Params = CifarParams;
  static Schema<Params> schema() {
    return cifar_schema<Params>("Photographs of ten kinds of things, 32x32 in colors.")
        .example("Cifar10: {split: test}");
  }
  explicit Cifar10(const Params& p)
      : CifarImages(form(p.split),
                    form_of(p, {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                                "ship", "truck"}),
                    p.dir) {}

 private:
  static CifarForm form(Split split) {
    const bool is_train = split == Split::kTrain;
    CifarForm form{.dataset = "Cifar10",
                   .containers = {"", "cifar-10-batches-py/", "cifar-10-batches-bin/",
                                  "cifar10_data/cifar-10-batches-py/"},
                   .python_names = "batches.meta",
                   .binary_names = "batches.meta.txt"};
    for (int i = 1; is_train && i <= 5; ++i) form.python.push_back("data_batch_" + std::to_string(i));
    if (!is_train) form.python = {"test_batch"};
    for (const std::string& name : form.python) form.binary.push_back(name + ".bin");
    return form;
  }
};

std::vector<std::string> cifar100_classes(CifarLabels labels) {
  constexpr const char* kCoarse =
      "aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices "
      "household_furniture insects large_carnivores large_man-made_outdoor_things "
      "large_natural_outdoor_scenes large_omnivores_and_herbivores medium_mammals non-insect_invertebrates "
      "people reptiles small_mammals trees vehicles_1 vehicles_2";
  constexpr const char* kFine =
      "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly "
      "camel "
      "can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup "
      "dinosaur "
      "dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard "
      "lion "
      "lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter "
      "palm_tree "
      "pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose "
      "sea "
      "seal shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table "
      "tank telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf "
      "woman "
      "worm";
  return split(labels == CifarLabels::kFine ? kFine : kCoarse, ' ');
}

/// Source: as for Cifar10. The 100 classes are in groups of five.
class Cifar100 final : public CifarImages {
 public:
  using Params = Cifar100Params;
  static Schema<Params> schema() {
    return cifar_schema<Params>("Photographs of a hundred kinds of things, 32x32 in colors.")
        .example("Cifar100: {split: test}")
        .field("labels", &Params::labels, "fine: 100 classes; coarse: 20 groups of five classes");
  }
  explicit Cifar100(const Params& p) : CifarImages(form(p), form_of(p, cifar100_classes(p.labels)), p.dir) {}

 private:
  static CifarForm form(const Params& p) {
    const bool is_fine = p.labels == CifarLabels::kFine;
    const std::string split = p.split == Split::kTrain ? "train" : "test";
    return {.dataset = "Cifar100",
            .python = {split},
            .binary = {split + ".bin"},
            .containers = {"", "cifar-100-python/", "cifar-100-binary/", "cifar100_data/cifar-100-python/"},
            .python_labels = is_fine ? "fine_labels" : "coarse_labels",
            .label_bytes = 2,
            .label_at = is_fine ? size_t{1} : size_t{0},
            .python_names = "meta",
            .python_names_key = is_fine ? "fine_label_names" : "coarse_label_names",
            .binary_names = is_fine ? "fine_label_names.txt" : "coarse_label_names.txt"};
  }
};

TPACK_REGISTER(Source, Cifar10, "Cifar10", "CIFAR10");
TPACK_REGISTER(Source, Cifar100, "Cifar100", "CIFAR100");

}  // namespace
}  // namespace tpack
