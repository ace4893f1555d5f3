#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/file_stamp.h"
#include "image/format/image_formats.h"
#include "records/format/msgpack.h"
#include "records/record_source.h"
#include "sources/format/lmdb.h"
#include "sources/format/pickle.h"

namespace tpack {
namespace {

enum class RecordForm : uint8_t { kAuto, kPickle, kMsgpack, kRaw };

}  // namespace

template <>
struct EnumNames<RecordForm> {
  static constexpr std::array<std::pair<const char*, RecordForm>, 4> kNames = {
      {{"auto", RecordForm::kAuto},
       {"pickle", RecordForm::kPickle},
       {"msgpack", RecordForm::kMsgpack},
       {"raw", RecordForm::kRaw}}};
};

namespace {

struct LmdbDataParams : RecordParams {
  Ref<Path> path;
  RecordForm format = RecordForm::kAuto;
};

/// Entries such as tensorpack's `__keys__` are no samples.
bool is_no_record(std::string_view key) { return key.starts_with("__") && key.ends_with("__"); }

RecordForm form_of(std::span<const uint8_t> value) {
  if (image_format_of(value) != nullptr) return RecordForm::kRaw;  // a PNG begins like a map of MessagePack
  constexpr uint8_t kProtocol = 0x80;
  constexpr uint8_t kLastProtocol = 5;
  if (value.size() >= 2 && value[0] == kProtocol && value[1] > 0 && value[1] <= kLastProtocol)
    return RecordForm::kPickle;
  const uint8_t first = value.empty() ? 0 : value[0];
  const bool is_list = (first >= 0x90 && first <= 0x9f) || first == 0xdc || first == 0xdd;
  const bool is_map = (first > 0x80 && first <= 0x8f) || first == 0xde || first == 0xdf;
  return is_list || is_map ? RecordForm::kMsgpack : RecordForm::kRaw;
}

/// A number, with memory of the fields.
template <class T>
RecordValue scalar(T number, RecordFields& fields) {
  std::vector<uint8_t>& bytes = fields.bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return {.kind = RecordValue::Kind::kArray,
          .bytes = bytes,
          .type = npy_type(std::is_same_v<T, double> ? "<f8" : "<i8")};
}

/// A list of numbers as an array; nothing if it has anything else.
std::optional<RecordValue> array_of_list(const StoredList& list, RecordFields& fields) {
  const bool are_numbers =
      std::ranges::all_of(list.items, [](const StoredValue& v) { return v.number().has_value(); });
  if (!are_numbers || list.items.empty()) return std::nullopt;
  const bool are_integers =
      std::ranges::all_of(list.items, [](const StoredValue& v) { return v.integer().has_value(); });
  std::vector<uint8_t>& bytes = fields.bytes(list.items.size() * sizeof(double));
  for (size_t i = 0; i < list.items.size(); ++i) {
    const int64_t integer = are_integers ? *list.items[i].integer() : 0;
    const double number = *list.items[i].number();
    std::memcpy(bytes.data() + i * sizeof number, are_integers ? static_cast<const void*>(&integer) : &number,
                sizeof number);
  }
  return RecordValue{.kind = RecordValue::Kind::kArray,
                     .bytes = bytes,
                     .type = npy_type(are_integers ? "<i8" : "<f8"),
                     .shape = Shape({std::ssize(list.items)})};
}

RecordValue value_of_stored(const StoredValue& stored, RecordFields& fields) {
  if (const auto integer = stored.integer()) return scalar(*integer, fields);
  if (const auto number = stored.number()) return scalar(*number, fields);
  if (const auto bytes = stored.bytes()) return {.kind = RecordValue::Kind::kBytes, .bytes = *bytes};
  if (const auto text = stored.text())
    return {.kind = RecordValue::Kind::kText,
            .bytes = {reinterpret_cast<const uint8_t*>(text->data()), text->size()}};
  const StoredArray* array = stored.array();
  if (const NpyType* type = array == nullptr ? nullptr : npy_type(array->dtype);
      type != nullptr && array->shape.size() <= Shape::kMaxRank)
    return {.kind = RecordValue::Kind::kArray,
            .bytes = array->data,
            .type = type,
            .shape = Shape(array->shape),
            .is_fortran = array->is_fortran};
  if (stored.list() != nullptr)
    if (auto numbers = array_of_list(*stored.list(), fields)) return std::move(*numbers);
  return {.what = stored.str()};
}

/// The elements of a list by their number, of a dict by their key.
void add_stored(const StoredValue& stored, RecordFields& fields) {
  if (const StoredList* list = stored.list()) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      std::string& name = fields.text();
      name = std::to_string(i);
      fields.add(name, value_of_stored(list->items[i], fields));
    }
  } else if (const StoredDict* dict = stored.dict()) {
    for (const auto& [key, value] : dict->entries)
      if (const auto name = key.text()) fields.add(*name, value_of_stored(value, fields));
  } else {
    fields.add("value", value_of_stored(stored, fields));
  }
}

/// Source: tensorpack dataflow/serialize.py, LMDBSerializer; dataflow/format.py, LMDBData.
class LmdbData final : public RecordSource {
 public:
  using Params = LmdbDataParams;
  static Schema<Params> schema() {
    return with_records(
        Schema<Params>("Reads an LMDB with one sample in each record: a list or dict that tensorpack's "
                       "LMDBSerializer stored "
                       "(as a pickle, of which nothing is run, or as MessagePack), or bytes. The elements of "
                       "a list are the "
                       "fields 0, 1, ..., those of a dict have its keys, bytes are the field `value`; `key` "
                       "is the key of the "
                       "record.")
            .example("LMDBData: {path: train.lmdb, components: {image: 0, label: 1}}")
            .field("path", &Params::path, "the file, or the folder with data.mdb")
            .required()
            .shorthand()
            .field("format", &Params::format, "how records are stored; auto: by the first one"));
  }
  explicit LmdbData(Params p)
      : RecordSource("LMDBData", p), p_(std::move(p)), path_(resolved_path(p_.path)) {}

  const char* path_field() const override { return "path"; }
  int64_t size() const override { return std::ssize(records_); }
  std::string fingerprint() const override { return file_stamp(lmdb_file(path_)); }
  std::optional<OpenFile> open_file() const override {
    return OpenFile{lmdb_file(path_), database_->stamp()};
  }
  std::string file_of(int64_t index) const override {
    return path_ + ", key '" + printable(database_->key(records_[static_cast<size_t>(index)])) + "'";
  }

 protected:
  void open() override {
    require_path("LMDBData", p_.path, "folder or file");
    database_ = std::make_unique<LmdbReader>(path_);
    records_.clear();
    bytes_ = 0;
    for (int64_t i = 0; i < database_->size(); ++i) {
      if (is_no_record(database_->key(i))) continue;
      records_.push_back(i);
      bytes_ += database_->value(i).size();
    }
    if (records_.empty()) throw DataError(path_, "has no records");
    form_ = p_.format == RecordForm::kAuto ? form_of(database_->value(records_[0])) : p_.format;
  }
  uint64_t bytes() const override { return bytes_; }
  std::string first_file() const override { return path_; }
  void read(int64_t index, RecordFields& fields) const override {
    const int64_t record = records_[static_cast<size_t>(index)];
    const std::span<const uint8_t> value = database_->value(record);
    const std::string_view key = database_->key(record);
    if (form_ == RecordForm::kPickle) {
      const auto pickle = std::make_shared<Pickle>(read_pickle(value));
      fields.keep(pickle);
      add_stored(pickle->value, fields);
    } else if (form_ == RecordForm::kMsgpack) {
      const auto message = std::make_shared<PackedMessage>(read_msgpack(value));
      fields.keep(message);
      add_stored(message->value, fields);
    } else {
      fields.add("value", {.kind = RecordValue::Kind::kBytes, .bytes = value});
    }
    fields.add("key", {.kind = RecordValue::Kind::kText,
                       .bytes = {reinterpret_cast<const uint8_t*>(key.data()), key.size()}});
  }
  /// [image, label], as in tensorpack's examples.
  std::vector<ComponentOfField> guess(const RecordFields& first) const override {
    const RecordValue* image = first.find("0");
    const RecordValue* label = first.find("1");
    const bool is_label =
        label != nullptr && label->kind == RecordValue::Kind::kArray && label->shape.rank() == 0;
    const bool is_pair = first.all().size() == 3;  // with the key
    if (image == nullptr || !is_label || !is_pair) return {};
    return {{.component = "image", .field = "0"}, {.component = "label", .field = "1"}};
  }

 private:
  Params p_;
  std::string path_;
  std::unique_ptr<LmdbReader> database_;
  std::vector<int64_t> records_;  // in the database
  uint64_t bytes_ = 0;
  RecordForm form_ = RecordForm::kRaw;
};

TPACK_REGISTER(Source, LmdbData, "LMDBData", "LMDBDataDecoder", "LMDBDataPoint", "LMDBSerializer");

}  // namespace
}  // namespace tpack
