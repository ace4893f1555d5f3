#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/count_classes.h"
#include "dataflow/file_stamp.h"
#include "dataflow/fitted_data.h"
#include "dataflow/sample_error.h"
#include "dataflow/source.h"
#include "sources/first_images.h"
#include "sources/image_file.h"
#include "sources/mirror_pairs.h"
#include "system/log.h"
#include "system/mapped_file.h"
#include "table/csv.h"
#include "table/csv_columns.h"
#include "table/csv_labels.h"
#include "table/csv_missing.h"
#include "table/csv_rows.h"
#include "table/csv_values.h"
#include "table/text_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// A part of the config for source CSV.
template <class T>
struct FieldOfCsv {
  ConfigNode node = ConfigNode::map({});
};

}  // namespace

template <class T>
struct Codec<FieldOfCsv<T>> {
  static FieldType type() { return Codec<T>::type(); }
  static std::optional<FieldOfCsv<T>> parse(const ConfigNode& node, Reader& reader) {
    return Codec<T>::parse(node, reader) ? std::optional(FieldOfCsv<T>{node}) : std::nullopt;
  }
  static ConfigNode dump(const FieldOfCsv<T>& field) { return field.node; }
};

/// A column may have a number as its name. An empty name means no column.
template <>
struct Codec<ColumnRef> {
  static FieldType type() { return FieldType::text(); }
  static std::optional<ColumnRef> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_string() || node.kind() == ConfigNode::Kind::kInt)
      return ColumnRef{node.text(), node.position()};
    reader.wrong_type(node, "the name of a column");
    return std::nullopt;
  }
  static ConfigNode dump(const ColumnRef& ref) { return ref.name; }
};

namespace {

struct ImageListParams : ImageFileFields {
  Ref<Path> file;
  ColumnRef path;
  FieldOfCsv<std::vector<LabelColumn>> labels;
  FieldOfCsv<std::vector<NumberColumns>> columns;
  FieldOfCsv<MissingRules> missing;
  std::vector<std::string> points;
  std::vector<std::vector<int64_t>> mirror_pairs;
  std::string delimiter = CsvForm().delimiter;
  DecimalSign decimal = DecimalSign::kPoint;
  bool header = true;
  Ref<Path> root;
};

/// Images stay encoded until a map needs their pixels. If the list is a table, source CSV reads the other
/// components. Missing files are found when the list is opened.
class ImageList final : public RandomAccessSource,
                        public SourceFiles,
                        public LearnedValues,
                        public SampleFacts,
                        public TableRows {
 public:
  using Params = ImageListParams;
  static Schema<Params> schema() {
    return with_image_files(
        Schema<Params>("Reads images (JPEG, PNG, GIF, BMP, TIFF, WebP or PNM) from a list: a text file with "
                       "`path class` in each line, as in Caffe, or, if `path` is set, a CSV table with paths "
                       "and classes, numbers or sets of labels. Provides `image` and `label`, or the "
                       "components of `labels` and `columns`.")
            .example("ImageList: {file: train.csv, path: photo, labels: {label: species}}")
            .field(
                "file", &Params::file,
                "the list; in a text file, the class is the part after the last space, so paths may contain "
                "spaces; labels are int32, from 0, in the order of the sorted classes of data.train")
            .required()
            .shorthand()
            .field("path", &Params::path,
                   "column of the paths in a CSV table; default: the list is a text file")
            .field("labels", &Params::labels,
                   "columns of class names or sets of labels by component, as in source CSV")
            .field("columns", &Params::columns, "columns of numbers by component, as in source CSV")
            .field("missing", &Params::missing,
                   "replacement for missing numbers, as in source CSV: a number, mean or median of "
                   "data.train, or one per column")
            .field("points", &Params::points,
                   "components of `columns` that are points in the image, in pixels, x and y alternating: "
                   "they become [points, 2], and augmentors move them with the image, for example {columns: "
                   "{eyes: [x0, y0, x1, y1]}, points: [eyes]}. (0, 0) is the upper left corner of the first "
                   "pixel, whose center is (0.5, 0.5)")
            .field("mirror_pairs", &Params::mirror_pairs,
                   "for each component of `points`, pairs of points, numbered from 0, to swap when an "
                   "augmentor mirrors the image: with [[0, 1]] for a left and a right eye, the first point "
                   "is always the left one")
            .field("delimiter", &Params::delimiter, CsvForm::kDelimiterDoc)
            .field("decimal", &Params::decimal, kDecimalDoc)
            .field("header", &Params::header,
                   "true: the first row of a CSV table has the names of the columns; false: their names are "
                   "0, 1, 2, ...")
            .field("root", &Params::root, "base folder of relative paths; default: the folder of the list"));
  }
  explicit ImageList(Params p)
      : p_(std::move(p)),
        list_(resolved_path(p_.file)),
        root_(p_.root.empty() ? fs::path(list_).parent_path() : fs::path(resolved_path(p_.root))) {
    if (p_.points.empty() && !p_.mirror_pairs.empty())
      throw ConfigError("ImageList: 'mirror_pairs' needs 'points'; add the component to 'points'");
    is_table_ = !p_.path.name.empty();
    if (is_table_) {
      table_ = make_table();
      return;
    }
    const Params plain;
    if (p_.labels.node.size() + p_.columns.node.size() + p_.points.size() + p_.mirror_pairs.size() > 0 ||
        p_.delimiter != plain.delimiter || p_.decimal != plain.decimal || !p_.header)
      throw ConfigError(
          "ImageList: 'labels', 'columns', 'points', 'mirror_pairs', 'delimiter', 'decimal' and 'header' "
          "apply only to a CSV table; set 'path' to its column of paths, such as {file: train.csv, path: "
          "photo, labels: {label: species}}");
  }

  bool knows_spec() const override { return is_table_ && (table_ == nullptr || table_->knows_spec()); }
  std::optional<ComponentSpec> declared_image() const override { return image_of_files(p_); }
  Spec spec() const override {
    std::vector<ComponentSpec> components = {image_of_files(p_)};
    if (has_label())
      components.push_back(
          {kLabel, {DType::kInt32, {}}, false, labels_ ? labels_->classes() : std::vector<std::string>{}});
    if (table_ != nullptr)
      for (const ComponentSpec& component : table_->spec()) components.push_back(with_points(component));
    return Spec(std::move(components));
  }
  const char* path_field() const override { return "file"; }
  int64_t size() const override { return std::ssize(paths_); }
  bool shuffled() const override { return p_.shuffle; }
  std::string file_of(int64_t index) const override { return file(static_cast<size_t>(index)); }
  std::string fingerprint() const override { return fingerprint_; }
  bool is_bad(int64_t index) const override {
    const auto row = static_cast<size_t>(index);
    return bad_.contains(row) || is_bad_in_table(row);
  }
  std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const override {
    return table_ == nullptr ? labels_->values() : table_->part<SampleFacts>().class_numbers(component);
  }
  std::vector<std::string> column(const std::string& name) const override {
    if (!is_table_) return TableRows::column(name);
    std::vector<std::string> texts;
    size_t at = 0;
    CsvRows({{p_.file}}, form(), "ImageList")
        .read(
            [&](const CsvHeader& header) {
              at = header.find({name, {}}).front();
            },
            [&](const CsvRow& row) {
              texts.emplace_back(at < row.fields.size() ? trim(row.fields[at]) : std::string_view());
            });
    return texts;
  }
  std::string id_column() const override {
    return table_ == nullptr ? "" : table_->part<TableRows>().id_column();
  }
  std::optional<std::string> stable_name(int64_t index) const override {
    return paths_[static_cast<size_t>(index)];
  }
  /// Another list of images, without unused components.
  std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                  const std::vector<std::string>& components) const override {
    const auto is_needed = [&](const std::string& name) {
      return std::find(components.begin(), components.end(), name) != components.end();
    };
    Params p = p_;
    p.file = {path, {}};
    p.shuffle = false;
    for (ConfigNode* fields : {&p.labels.node, &p.columns.node}) {
      for (const auto& [component, value, position] : ConfigNode(*fields).entries())
        if (!is_needed(component)) *fields = fields->without(component);
    }
    std::erase_if(p.points, [&](const std::string& name) { return !is_needed(name); });
    if (p.points.empty()) p.mirror_pairs.clear();
    auto reader = std::make_shared<ImageList>(std::move(p));
    reader->is_reader_ = true;
    reader->reads_label_ = is_needed(kLabel);
    reader->follow_as(*this);
    return reader;
  }
  void learn_from(const std::vector<int64_t>& samples) override {
    if (table_ != nullptr) table_->part<LearnedValues>().learn_from(samples);
  }

  SourceFacts facts() const override {
    SourceFacts facts = table_ == nullptr ? SourceFacts{} : table_->facts();
    facts.samples = size();
    facts.unit = "images";
    facts.bad += further_bad_;
    if (labels_) {
      facts.classes = count_classes(labels_->classes(), labels_->values());
      facts.classes_of[kLabel] = facts.classes;
    }
    if (!bad_.empty()) {
      const auto& [row, why] = *bad_.begin();
      facts.remarks.push_back(with_thousands(std::ssize(bad_)) +
                              (bad_.size() == 1 ? " bad image: " : " bad images; the first one is ") +
                              "line " + std::to_string(lines_[row]) + ": " + why);
    }
    for (const auto& remarks :
         {first_.remarks(), remarks_on_points(fitted(), p_.points, !p_.mirror_pairs.empty())})
      facts.remarks.insert(facts.remarks.end(), remarks.begin(), remarks.end());
    return facts;
  }
  std::vector<FittedComponent> fitted() const override {
    if (!is_table_) return {{name(), kLabel, {}, labels_ ? labels_->classes() : std::vector<std::string>{}}};
    if (table_ == nullptr) return {};
    std::vector<FittedComponent> all = table_->part<LearnedValues>().fitted();
    for (FittedComponent& one : all) one.source = name();
    return all;
  }

  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    const auto row = static_cast<size_t>(index);
    if (const auto bad = bad_.find(row); bad != bad_.end())
      throw FileError(list_ + ":" + std::to_string(lines_[row]), bad->second);
    if (has_label()) {
      *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = labels_->values()[row];
    } else if (table_ != nullptr) {
      Datapoint& others = out.child(0);
      others.resize(out.size() - 1);
      get_of_table(index, key, others);
      for (size_t i = 0; i < others.size(); ++i) out.swap_component(i + 1, others, i);
      for (const size_t i : points_) out.set_tensor(i, as_points(out.tensor(i)));
    }
    read_image_file(file(row), p_, out.renew_image(0));
  }

 protected:
  void prepare() override {
    if (is_table_ && table_ == nullptr && !is_reader_)
      throw ConfigError(
          p_.file.position,
          "ImageList: no columns; name some with 'labels' or 'columns', such as {label: species}");
    require_path("ImageList", p_.file);
    if (!p_.root.empty()) require_folder("ImageList", p_.root);
    paths_.clear();
    lines_.clear();
    bad_.clear();
    further_bad_ = 0;
    if (is_table_)
      read_table();
    else
      read_list();
    if (bad_.size() == paths_.size())
      throw DataError(list_ + ":" + std::to_string(lines_[0]),
                      bad_.at(0) + "; all " + with_thousands(size()) + " lines are bad" + table_hint());
    look_at_files();
  }

 private:
  static constexpr const char* kLabel = "label";
  static constexpr const char* kImage = "image";

  bool has_label() const { return !is_table_ && reads_label_; }

  /// The source of the other components; null if there are none.
  std::shared_ptr<RandomAccessSource> make_table() const {
    if (p_.labels.node.size() + p_.columns.node.size() == 0) return nullptr;
    for (const ConfigNode* fields : {&p_.labels.node, &p_.columns.node}) {
      for (const auto& [component, value, position] : fields->entries())
        if (component == kImage)
          throw ConfigError(position,
                            "ImageList: the component 'image' is reserved for the image; use another name");
    }
    const ConfigNode params({{"file", fs::absolute(list_.empty() ? "." : list_).string()},
                             {"labels", p_.labels.node},
                             {"columns", p_.columns.node},
                             {"missing", p_.missing.node},
                             {"delimiter", p_.delimiter},
                             {"decimal", Codec<DecimalSign>::dump(p_.decimal)},
                             {"header", p_.header},
                             {"shuffle", false}});
    return std::dynamic_pointer_cast<RandomAccessSource>(
        std::shared_ptr<Source>(Registry<Source>::make("CSV", params)));
  }

  ComponentSpec with_points(ComponentSpec component) const {
    if (!are_points(component.name)) return component;
    const Shape& shape = component.tensor.shape;
    if (shape.rank() != 1 || shape[0] % 2 != 0 || component.tensor.dtype != DType::kFloat32)
      throw ConfigError("ImageList: points need columns of x and y alternating, but '" + component.name +
                        "' is " + component.tensor.str());
    component.annotation = Annotation::kPoints;
    component.mirror_pairs =
        mirror_pairs_of("ImageList, points '" + component.name + "'", p_.mirror_pairs, shape[0] / 2);
    component.tensor.shape = Shape{shape[0] / 2, 2};
    return component;
  }
  bool are_points(const std::string& component) const {
    return std::ranges::find(p_.points, component) != p_.points.end();
  }
  static Tensor as_points(const Tensor& numbers) { return numbers.reshaped({numbers.elements() / 2, 2}); }

  CsvForm form() const { return {.delimiter = p_.delimiter, .header = p_.header}; }
  std::string file(size_t row) const { return (root_ / paths_[row]).string(); }
  void add(const std::string& path, int64_t line, const std::string& why) {
    if (!why.empty()) bad_[paths_.size()] = why;
    std::string own = portable_path(root_, path);
    const bool had_backslash = own != path && path.find('\\') != std::string::npos;
    if (had_backslash && slashed_.empty()) slashed_ = "'" + printable(path) + "' as '" + printable(own) + "'";
    paths_.push_back(std::move(own));
    lines_.push_back(line);
  }

  /// Each line is a path, spaces, and a class.
  void read_list() {
    const MappedFile file(list_);
    const auto bytes = file.bytes();
    std::string_view text =
        require_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, list_, "a list of images");
    has_commas_ = text.substr(0, text.find('\n')).find(',') != std::string_view::npos;
    using From = CsvLabels::From;
    const auto train = opened_fit(kLabel);
    const bool is_known = train && !train->classes.empty();
    if (has_label())
      labels_.emplace(1, is_known ? train->classes : std::vector<std::string>{},
                      is_known ? From::kTrain : From::kFile);
    int64_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = trim(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      if (!line.empty()) add_line(line, number);
    }
    if (paths_.empty()) throw DataError(list_, "lists no images");
    if (!has_label()) return;
    const std::string lack = labels_->compare_with_train(list_, {kLabel, p_.file.position}, "ImageList");
    if (!lack.empty()) log::warning(lack);
    labels_->number();
    reject_numbers();
  }
  void add_line(std::string_view line, int64_t number) {
    if (!has_label()) return add(std::string(path_of_line(line)), number, "");
    const size_t space = line.find_last_of(" \t");
    const std::string_view label = space == std::string_view::npos ? "" : line.substr(space + 1);
    std::string why;
    if (label.empty())
      why = "has no class after the path: '" + printable(line.substr(0, 100)) + "'";
    else if (first_invalid_utf8(label))
      why = "class '" + printable(label) + "' is not UTF-8";
    else if (!is_missing_in_csv(label))
      why = labels_->complaint_of(label, kLabel);
    if (why.empty())
      labels_->add(label);
    else
      labels_->add_bad();
    add(std::string(trim(line.substr(0, space))), number, why);
  }
  /// For a line whose class is not read and may be missing.
  std::string_view path_of_line(std::string_view line) const {
    const size_t space = line.find_last_of(" \t");
    std::error_code failure;
    const bool is_whole = space == std::string_view::npos || fs::exists(root_ / std::string(line), failure);
    return is_whole ? line : trim(line.substr(0, space));
  }
  /// Errors: DataError if the classes are measurements.
  void reject_numbers() const {
    const auto is_fraction = [](const std::string& name) {
      const auto number = csv_number(name);
      return number && *number != std::trunc(*number);
    };
    const auto found = std::find_if(labels_->classes().begin(), labels_->classes().end(), is_fraction);
    if (found == labels_->classes().end()) return;
    throw DataError(list_, "has the class '" + *found +
                               "'; if these are numbers, not classes, write a CSV table, such as {file: "
                               "train.csv, path: photo, columns: {y: price}}");
  }
  std::string table_hint() const {
    if (is_table_ || !has_commas_) return "";
    return "; if it is a CSV table, set 'path' to its column of paths";
  }

  void read_table() {
    const CsvRows rows({{p_.file}}, form(), "ImageList");
    size_t column = 0;
    const auto find = [&](const CsvHeader& header) {
      const std::vector<size_t> columns = header.find(p_.path);
      if (columns.size() > 1)
        throw ConfigError(p_.path.position, "ImageList: 'path' is '" + p_.path.name + "', which matches " +
                                                std::to_string(columns.size()) + " columns; name one");
      column = columns[0];
    };
    rows.read(find, [&](const CsvRow& row) {
      const std::string_view path = column < row.fields.size() ? trim(row.fields[column]) : "";
      add(std::string(path), row.line, path.empty() ? "has no path" : "");
    });
    points_.clear();
    if (table_ == nullptr) return;
    table_->follow_as(*this);
    table_->prepare_once({});
    for (const std::string& name : p_.points)
      points_.push_back(spec().index(name.c_str(), "ImageList: 'points'"));
    if (table_->size() != size()) throw DataError(list_, "changed while it was being read");
  }
  /// Errors: DataError with the line of the list.
  void get_of_table(int64_t row, const SampleKey& key, Datapoint& out) const {
    try {
      table_->get(row, key, out);
    } catch (const DataError& error) {
      throw DataError(table_->file_of(row) + ": " + error.what());
    }
  }
  bool is_bad_in_table(size_t row) const {
    return table_ != nullptr && table_->part<SampleFacts>().is_bad(static_cast<int64_t>(row));
  }

  /// Finds missing files, and makes the fingerprint: of the list and the sizes of its files.
  void look_at_files() {
    Digest digest;
    digest.add(file_stamp(list_));
    if (!slashed_.empty()) log::info(list_ + ": backslashes in paths are treated as slashes, " + slashed_);
    size_t missing = 0;
    size_t first_missing = 0;
    for (size_t row = 0; row < paths_.size(); ++row) {
      if (bad_.contains(row)) continue;
      std::error_code failure;
      const uintmax_t bytes = fs::file_size(file(row), failure);
      digest.add(paths_[row] + "\n" + (failure ? "none" : std::to_string(bytes)) + "\n");
      if (!failure) continue;
      if (missing++ == 0) first_missing = row;
      bad_[row] = "no such file '" + printable(file(row)) + "'";
    }
    if (missing > 0 && bad_.size() == paths_.size())
      throw DataError(list_ + ":" + std::to_string(lines_[first_missing]),
                      bad_.at(first_missing) +
                          "; none of its files exist; set 'root' to the base folder of the paths (default: "
                          "the folder of the list)");
    for (const auto& [row, why] : bad_) further_bad_ += is_bad_in_table(row) ? 0 : 1;
    look_at_first();
    fingerprint_ = digest.text();
  }
  void look_at_first() {
    first_.start(kFirstImages);
    for (size_t row = 0; row < paths_.size(); ++row)
      if (!bad_.contains(row)) first_.look_at(file(row), paths_[row]);
  }

  Params p_;
  std::string list_;
  fs::path root_;
  bool is_table_ = false;
  bool is_reader_ = false;                     // for another list than in the config
  bool reads_label_ = true;                    // of a text
  std::shared_ptr<RandomAccessSource> table_;  // for a table; null if only its paths are read
  std::vector<size_t> points_;                 // components
  std::optional<CsvLabels> labels_;            // of a text
  std::vector<std::string> paths_;             // as in the file
  std::vector<int64_t> lines_;                 // of each path
  std::map<size_t, std::string> bad_;          // reasons of bad rows, besides those of the table
  int64_t further_bad_ = 0;                    // rows in bad_ that the table does not count
  FirstImages first_{p_, "ImageList", p_.points.empty() ? "" : "'points'"};
  std::string slashed_;      // the first path whose backslashes became slashes, and the result
  bool has_commas_ = false;  // the first line of a text file
  std::string fingerprint_;
};

TPACK_REGISTER(Source, ImageList, "ImageList");

}  // namespace
}  // namespace tpack
