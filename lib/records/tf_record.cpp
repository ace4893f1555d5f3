#include "records/format/tf_record.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "records/format/tf_example.h"
#include "records/record_layouts.h"
#include "records/sharded_source.h"

namespace tpack {
namespace {

std::vector<uint64_t> find_tf_records(const ReadAt& read, uint64_t size, const std::string& path) {
  std::vector<uint64_t> offsets{0};
  const auto where = [&] {
    return "record " + with_thousands(std::ssize(offsets) - 1) + " (at byte " +
           with_thousands(static_cast<int64_t>(offsets.back())) + ")";
  };
  while (offsets.back() < size) {
    std::array<uint8_t, kTfRecordHeader> header{};
    const bool is_there = read(offsets.back(), header.data(), header.size()) == header.size();
    uint64_t length = 0;
    try {
      if (is_there) length = tf_record_length(header);
    } catch (const DataError& error) {
      throw DataError(path, offsets.size() == 1
                                ? "is not a TFRecord file (compressed ones must be unpacked first)"
                                : where() + ": " + error.what());
    }
    const uint64_t left = size - offsets.back();
    const bool fits =
        left >= kTfRecordHeader + kTfRecordFooter && length <= left - kTfRecordHeader - kTfRecordFooter;
    if (!is_there || !fits)
      throw DataError(path,
                      "ends within " + where() + "; copy it again, or wait until it is written completely");
    offsets.push_back(offsets.back() + kTfRecordHeader + length + kTfRecordFooter);
  }
  return offsets;
}

struct TfRecordParams : RecordParams {
  FilePatterns files;
  bool check = true;
};

/// Source: tensorflow/core/lib/io/record_reader.h; tensorpack dataflow/serialize.py, TFRecordSerializer.
class TfRecord final : public ShardedSource {
 public:
  using Params = TfRecordParams;
  static Schema<Params> schema() {
    return with_records(
        Schema<Params>("Reads files of TensorFlow with a tf.Example, or a tf.SequenceExample, in each "
                       "record. A feature is "
                       "a field: one text or image, or numbers.")
            .example("TFRecord: {files: train.tfrecord, components: {image: image/encoded, label: "
                     "image/class/label}}")
            .field("files", &Params::files,
                   "one or several; `train-{000..127}.tfrecord` and `train-*.tfrecord` name many")
            .required()
            .shorthand()
            .field("check", &Params::check,
                   "compare the checksum of each record; false: only that of its length"));
  }
  explicit TfRecord(const Params& p) : ShardedSource("TFRecord", p, p.files, kTfRecords), check_(p.check) {}

 protected:
  void read(int64_t index, RecordFields& fields) const override {
    const std::span<const uint8_t> bytes = shards().read(shards().locate(index), fields.buffer());
    if (bytes.size() < kTfRecordHeader + kTfRecordFooter) throw DataError("its index is damaged");
    const uint64_t length = tf_record_length(bytes.first<kTfRecordHeader>());
    if (length != bytes.size() - kTfRecordHeader - kTfRecordFooter) throw DataError("its index is damaged");
    const auto content = bytes.subspan(kTfRecordHeader, length);
    if (check_ && !is_tf_record_whole(content, bytes.last<kTfRecordFooter>()))
      throw DataError("the checksum of its bytes is wrong: the file is damaged");
    read_tf_example(content, fields);
  }
  /// The names of TensorFlow's own scripts for images.
  std::vector<ComponentOfField> guess(const RecordFields& first) const override {
    if (first.find("image/encoded") == nullptr || first.find("image/class/label") == nullptr) return {};
    return {{.component = "image", .field = "image/encoded"},
            {.component = "label", .field = "image/class/label"}};
  }

 private:
  bool check_;
};

TPACK_REGISTER(Source, TfRecord, "TFRecord", "TFRecordData", "TFRecordDataset", "TFRecordSerializer");

}  // namespace

const RecordLayout kTfRecords{"a TFRecord file", 1, find_tf_records};

}  // namespace tpack
