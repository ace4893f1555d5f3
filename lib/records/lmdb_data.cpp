#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/file_stamp.h"
#include "records/record_source.h"
#include "records/stored_record.h"
#include "sources/format/caffe_datum.h"
#include "sources/format/lmdb.h"

namespace tpack {
namespace {

struct LmdbDataParams : RecordParams {
  Ref<Path> path;
  RecordForm format = RecordForm::kAuto;
};

/// Entries such as tensorpack's `__keys__` are no samples.
bool is_no_record(std::string_view key) { return key.starts_with("__") && key.ends_with("__"); }

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
    form_ = p_.format == RecordForm::kAuto ? form_of_record(database_->value(records_[0])) : p_.format;
  }
  uint64_t bytes() const override { return bytes_; }
  std::string first_file() const override { return path_; }
  void read(int64_t index, RecordFields& fields) const override {
    const int64_t record = records_[static_cast<size_t>(index)];
    const std::span<const uint8_t> value = database_->value(record);
    const std::string_view key = database_->key(record);
    add_stored_record(value, form_, fields);
    fields.add("key", {.kind = RecordValue::Kind::kText,
                       .bytes = {reinterpret_cast<const uint8_t*>(key.data()), key.size()}});
  }
  std::vector<ComponentOfField> guess(const RecordFields& first) const override {
    std::vector<ComponentOfField> known = image_and_label(first);
    if (known.empty() && is_of_caffe())
      throw ConfigError("LMDBData: " + path_ + " has Caffe's records: write CaffeLMDB: " + p_.path.name);
    return known;
  }

 private:
  bool is_of_caffe() const {
    try {
      read_caffe_datum(database_->value(records_[0]));
      return true;
    } catch (const DataError&) {
      return false;
    }
  }

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
