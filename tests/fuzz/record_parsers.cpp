// Files of records: tar archives, TFRecord, tf.Example, MessagePack, and their sources; the file of
// CacheData.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/digest.h"
#include "dataflow/cache_file.h"
#include "dataflow/datapoint.h"
#include "fuzz/parsers.h"
#include "records/format/msgpack.h"
#include "records/format/pickle_writer.h"
#include "records/record_fields.h"
#include "records/stored_record.h"
#include "records/test_records.h"
#include "remote/remote_protocol.h"
#include "remote/sample_frame.h"
#include "support/temporary_folder.h"

namespace tpack::fuzz {
namespace {

ReadAt reader_of(Input input) {
  return [input](uint64_t offset, void* to, size_t size) -> size_t {
    if (offset >= input.size()) return 0;
    const size_t there = std::min<size_t>(size, input.size() - offset);
    std::memcpy(to, input.data() + offset, there);
    return there;
  };
}

void parse_tar(Input input) {
  TarWalk walk(reader_of(input), "a.tar");
  uint64_t end = 0;
  while (const auto member = walk.next()) {
    if (member->header < end || member->data <= member->header || member->end < member->data + member->size)
      broken_promise("files of an archive that overlap");
    if (member->data + member->size > input.size()) broken_promise("a file beyond the end of its archive");
    end = member->end;
  }
}

void parse_example(Input input) {
  RecordFields fields;
  read_tf_example(input, fields);
  static_cast<void>(fields.describe());
}

void walk_message(const StoredValue& value) {
  static_cast<void>(value.str());
  if (const StoredList* list = value.list()) std::ranges::for_each(list->items, walk_message);
  if (const StoredDict* dict = value.dict())
    for (const auto& [key, entry] : dict->entries) walk_message(entry);
}

const SourceOfFile kTfRecord(
    {"TFRecord: {files: FILE, components: {x: x}}",
     "TFRecord: {files: FILE, check: false, components: {x: {field: x, dtype: int16, shape: [2]}}}"});
const SourceOfFile kTar({"WebDataset: {files: FILE}",
                         "WebDataset: {files: FILE, components: {x: json.x, y: npy}}"});
const SourceOfFile kLmdbData({"LMDBData: {path: FILE}",
                              "LMDBData: {path: FILE, format: raw, components: {x: value}}"});

std::string example_with(const std::string& image) {
  TfExampleWriter example;
  example.add_floats("x", std::vector<float>{1, 2});
  example.add_integers("x/shape", std::vector<int64_t>{1, 2});
  example.add_bytes("image", image);
  return example.finish();
}

std::string archive() {
  return tar_file("0.cls", "1") + tar_file("0.jpg", "GIF89a") + tar_file("0.json", R"({"x": [1, 2]})") +
         tar_file("1." + std::string(120, 'n'), "1") + std::string(2 * kTarBlock, '\0');
}

/// A sample that tensorpack stored or sends, as LMDBData and RemoteData read it.
void parse_stored_record(Input input) {
  RecordFields fields;
  const RecordForm form = form_of_record(input);
  add_stored_record(input, form == RecordForm::kRaw ? RecordForm::kMsgpack : form, fields);
  static_cast<void>(fields.describe());
  static_cast<void>(image_and_label(fields));
}

/// The line and the bytes of a sample, as PipeData and RemoteData read them.
void parse_sample_frame(Input input) {
  const std::string_view text = text_of(input);
  const std::string_view line = text.substr(0, text.find('\n'));
  const SampleFrame frame(line);
  const Input rest = input.subspan(std::min(line.size() + 1, input.size()));
  if (frame.following() > rest.size()) return;
  RecordFields fields;
  frame.add_to(fields, rest.first(frame.following()));
  static_cast<void>(fields.describe());
}

Bytes pickle_seed() {
  PickledList list;
  list.add_bytes("abc");
  return bytes_of(list.finish());
}

std::vector<Bytes> message_seeds() {
  using namespace std::string_literals;
  return texts(
      {"\x94\x01\xa1"
       "a\xc4\x01"
       "b\xcb\0\0\0\0\0\0\0\0"s,
       "\x84\xa2nd\xc3\xa4type\xa3|u1\xa5shape\x91\x01\xa4"
       "data\xc4\x01z"s});
}

const Spec kCached = {{"x", {DType::kFloat32, {Shape::kUnknown, Shape::kUnknown}}},
                      {"k", {DType::kInt64, {}}}};
constexpr const char* kCachedFlow = "a flow";

/// The file of CacheData, and its samples.
void parse_cache(Input input) {
  std::string stale;
  const auto file = CacheFile::open(file_with(input), digest_of(kCachedFlow), stale);
  if (file == nullptr) {
    if (stale.empty()) broken_promise("a cache that is not used for no reason");
    return;
  }
  Datapoint sample;
  for (int64_t i = 0; i < file->size(); ++i) {
    try {
      const auto bytes = file->sample(i);
      if (!bytes) continue;
      read_sample(*bytes, kCached, sample);
      if (sample.tensor(0).bytes() + sample.tensor(1).bytes() > bytes->size())
        broken_promise("a sample larger than its bytes");
    } catch (const DataError&) {
      continue;  // the next one may be whole
    }
  }
}

Bytes cache_with(const std::vector<std::optional<std::string>>& samples) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.cache";
  CacheFile::write(path, digest_of(kCachedFlow), [&](const CacheFile::Add& add) {
    for (const auto& sample : samples) add(sample);
  });
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Bytes> cache_seeds() {
  Datapoint sample;
  sample.resize(2);
  sample.set_tensor(0, Tensor::of<float>({1, 2}, {1, 2}));
  sample.set_tensor(1, Tensor::scalar<int64_t>(7));
  const std::string bytes = sample_bytes(sample, kCached);
  return {cache_with({}), cache_with({bytes}), cache_with({bytes, std::nullopt, bytes})};
}

}  // namespace

std::vector<Parser> record_parsers() {
  return {
      {"tar", parse_tar, [] { return texts({archive()}); }},
      {"web_dataset", kTar, [] { return with_choices(kTar.choices(), texts({archive()})); }},
      {"tf_example", parse_example,
       [] {
         return texts({example_with("GIF89a"), example_with("")});
       }},
      {"tf_record", kTfRecord,
       [] {
         return with_choices(kTfRecord.choices(),
                             texts({framed_record(example_with("abcd")), tf_record_of({{"x", 7}})}));
       }},
      {"msgpack", [](Input input) { walk_message(read_msgpack(input).value); }, message_seeds},
      {"stored_record", parse_stored_record,
       [] {
         std::vector<Bytes> seeds = message_seeds();
         seeds.push_back(pickle_seed());
         return seeds;
       }},
      {"cache", parse_cache, cache_seeds},
      {"sample_frame", parse_sample_frame,
       [] {
         return texts({R"({"x": {"dtype": "uint8", "shape": [2]}, "y": [[1, 2.5]], "t": "a"})"
                       "\nab",
                       R"({"image": {"bytes": 3}, "ok": true})"
                       "\nabc"});
       }},
      {"remote_request", [](Input input) { RemoteRequest::parse(text_of(input)); },
       [] { return texts({RemoteRequest{.kind = RemoteRequest::Kind::kHello}.str()}); }},
      {"remote_answer", [](Input input) { RemoteAnswer::parse(text_of(input)); },
       [] {
         return texts({RemoteAnswer{.kind = RemoteAnswer::Kind::kSpec,
                                    .spec = {.samples = {{"x", {DType::kUInt8, {2, 2, 3}}, true}}}}
                           .str(),
                       RemoteAnswer{.kind = RemoteAnswer::Kind::kItem, .samples = 3}.str()});
       }},
      {"lmdb_data", kLmdbData,
       [] {
         std::map<std::string, Bytes> records;
         records["0"] = pickle_seed();
         records["1"] = message_seeds()[0];
         return with_choices(kLmdbData.choices(), {lmdb_with(records)});
       },
       "-max_len=65536"},
  };
}

}  // namespace tpack::fuzz
