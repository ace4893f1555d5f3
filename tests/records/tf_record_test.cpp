#include "records/format/tf_record.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "dataflow/flow_helpers.h"
#include "dataflow/sample_error.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "records/format/tf_example.h"
#include "records/record_layouts.h"
#include "records/record_source.h"
#include "records/test_records.h"
#include "support/live_fields.h"
#include "system/file_io.h"

namespace tpack {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string example_of(int64_t label, const std::vector<float>& x = {1, 2}) {
  TfExampleWriter example;
  example.add_integers("label", std::vector<int64_t>{label});
  example.add_floats("x", x);
  return example.finish();
}

/// `n` records with the labels 0, 1, ...
std::string numbered_records(int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += framed_record(example_of(i));
  return all;
}

/// Rows of the components x and label.
DataFlow flow_of_records(const TempFolder& folder, const std::string& files,
                         const std::string& more = "shuffle: false") {
  return folder.flow("[TFRecord: {files: " + files + ", components: {x: x, label: label}, " + more + "}]");
}

/// The checksum of RFC 3720, B.4, for 32 bytes of 0, masked.
TEST(TfRecord, has_the_checksum_of_tensorflow) {
  const TfRecordFrame frame = tf_record_frame(std::string(32, '\0'));
  constexpr uint32_t kCrc = 0x8a9136aa;
  constexpr uint32_t kMasked = ((kCrc >> 15U) | (kCrc << 17U)) + 0xa282ead8;
  uint32_t stored = 0;
  std::memcpy(&stored, frame.footer.data(), sizeof stored);
  EXPECT_EQ(stored, kMasked);
}

TEST(TfRecord, gives_numbers_and_vectors) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(3));
  const DataFlow flow = flow_of_records(folder, "a.tfrecord");
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [2], label int32 []");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2, 0}, {1, 2, 1}, {1, 2, 2}}));
  EXPECT_EQ(describe(flow.facts()), "3 records");
}

TEST(TfRecord, reads_several_files_in_order) {
  const TempFolder folder;
  for (const std::string name : {"a-00.tfrecord", "a-01.tfrecord", "a-02.tfrecord"})
    folder.write_text(name, framed_record(example_of(name[3] - '0')));
  for (const std::string files :
       {"'a-{00..02}.tfrecord'", "'a-*.tfrecord'", "[a-00.tfrecord, 'a-{01,02}.tfrecord']"})
    EXPECT_EQ(samples_of(flow_of_records(folder, files)), (Rows{{1, 2, 0}, {1, 2, 1}, {1, 2, 2}})) << files;
  EXPECT_THAT([&] { flow_of_records(folder, "'a-{00..04}.tfrecord'").prepare(); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("2 of the 5 files"), HasSubstr("a-03.tfrecord"))));
  EXPECT_THAT([&] { flow_of_records(folder, "['a-*.tfrecord', a-01.tfrecord]").prepare(); },
              ThrowsMessage<ConfigError>(HasSubstr("is listed twice")));
  EXPECT_THAT([&] { flow_of_records(folder, "'.'").prepare(); },
              ThrowsMessage<ConfigError>(HasSubstr("is a folder; name its files")));
  folder.write_text("a-00.tfrecord.components.json", "{}");
  folder.write_text("a-01.tfrecord.tpack-index", "");
  EXPECT_EQ(samples_of(flow_of_records(folder, "'a-*'")).size(), 3U) << "without what lies beside them";
}

/// The three forms of lists in the wire format, written by hand: floats and integers one by one.
TEST(TfRecord, reads_lists_that_are_not_packed) {
  const auto bytes = [](const std::vector<int>& values) { return std::string(values.begin(), values.end()); };
  // Feature {float_list: {1.0}}: field 2, 5 bytes; tag 0x0d, little-endian float
  const std::string one = bytes({0x12, 0x05, 0x0d, 0, 0, 0x80, 0x3f});
  const std::string integers = bytes({0x1a, 0x04, 0x08, 0x07, 0x08, 0x09});  // 7, 9
  const auto entry = [&](const std::string& name, const std::string& feature) {
    const std::string content = bytes({0x0a, static_cast<int>(name.size())}) + name +
                                bytes({0x12, static_cast<int>(feature.size())}) + feature;
    return bytes({0x0a, static_cast<int>(content.size())}) + content;
  };
  const std::string features = entry("x", one) + entry("n", integers) + entry("none", "");
  const std::string example = bytes({0x0a, static_cast<int>(features.size())}) + features;
  RecordFields fields;
  read_tf_example({reinterpret_cast<const uint8_t*>(example.data()), example.size()}, fields);
  EXPECT_EQ(fields.describe(), "x (float32 []), n (int64 [2]), none (nothing)");
}

TEST(TfRecord, gives_the_steps_of_sequence_examples) {
  // SequenceExample {feature_lists: {feature_list: {key: "s" value: {feature: {int64_list: 4} feature:
  // {int64_list: 5}}}}}
  const std::string step = {0x0a, 0x05, 0x1a, 0x03, 0x0a, 0x01, 0x04};
  std::string steps = step + step;
  steps.back() = 5;
  const std::string entry = std::string("\x0a\x01s\x12") + static_cast<char>(steps.size()) + steps;
  const std::string lists = std::string("\x0a") + static_cast<char>(entry.size()) + entry;
  const std::string example = std::string("\x12") + static_cast<char>(lists.size()) + lists;
  const TempFolder folder;
  folder.write_text("a.tfrecord", framed_record(example));
  const DataFlow flow = folder.flow("[TFRecord: {files: a.tfrecord, components: {s: s}}]");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "s int32 [2]");
  EXPECT_EQ(samples_of(flow), (Rows{{4, 5}}));
}

TEST(TfRecord, decodes_images_and_raw_bytes) {
  const TempFolder folder;
  const Bytes png = encode_png(photo(4, 3));
  TfExampleWriter example;
  example.add_bytes("image", {reinterpret_cast<const char*>(png.data()), png.size()});
  example.add_bytes("raw", std::string("\1\2\3\4\5\6", 6));
  example.add_bytes("name", "dog");
  folder.write_text("a.tfrecord", framed_record(example.finish()));
  const DataFlow flow = folder.flow(
      "[TFRecord: {files: a.tfrecord, components: {image: image, raw: {field: raw, shape: [2, 3]}, "
      "halves: {field: raw, dtype: int16}, label: {field: name, classes: [cat, dog]}}}]");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(),
            "image uint8 [3, 4, 3], raw uint8 [2, 3, 1], halves int32 [3], label int32 []");
  const Rows rows = samples_of(flow);
  ASSERT_EQ(rows[0].size(), 36U + 6 + 3 + 1);
  EXPECT_EQ(Numbers(rows[0].end() - 10, rows[0].end()), (Numbers{1, 2, 3, 4, 5, 6, 513, 1027, 1541, 1}));
}

TEST(TfRecord, names_the_record_that_is_damaged) {
  const TempFolder folder;
  std::string records = numbered_records(3);
  const size_t length = records.size() / 3;
  records[length + kTfRecordHeader + 3] ^= 1;  // a byte of the second record
  folder.write_text("a.tfrecord", records);
  const DataFlow flow = flow_of_records(folder, "a.tfrecord");
  EXPECT_THAT([&] { samples_of(flow); },
              ThrowsMessage<SampleError>(
                  AllOf(HasSubstr("a.tfrecord[1]"), HasSubstr("the checksum of its bytes is wrong"))));
  EXPECT_EQ(samples_of(folder.flow("{on_error: skip, flow: [TFRecord: {files: a.tfrecord, shuffle: false, "
                                   "components: {label: label}}]}")),
            (Rows{{0}, {2}}));
}

TEST(TfRecord, reports_files_that_are_cut_and_other_files) {
  const TempFolder folder;
  const std::string records = numbered_records(2);
  folder.write_text("cut.tfrecord", records.substr(0, records.size() - 3));
  folder.write_text("header.tfrecord", records.substr(0, records.size() / 2 + 5));
  folder.write_text("other.tfrecord", "this is no such file, but a text");
  folder.write_text("empty.tfrecord", "");
  const auto prepare = [&](const std::string& name) {
    return [&folder, name] { flow_of_records(folder, name).prepare(); };
  };
  EXPECT_THAT(prepare("cut.tfrecord"), ThrowsMessage<DataError>(HasSubstr("ends within record 1 (at byte")));
  EXPECT_THAT(prepare("header.tfrecord"),
              ThrowsMessage<DataError>(HasSubstr("ends within record 1 (at byte")));
  EXPECT_THAT(prepare("other.tfrecord"), ThrowsMessage<DataError>(HasSubstr("is not a TFRecord file")));
  EXPECT_THAT(prepare("empty.tfrecord"), ThrowsMessage<DataError>(HasSubstr("is empty")));
}

TEST(TfRecord, says_what_can_be_components) {
  const TempFolder folder;
  const Bytes png = encode_png(photo(4, 3));
  TfExampleWriter example;
  example.add_integers("class/label", std::vector<int64_t>{1});
  example.add_bytes("data", {reinterpret_cast<const char*>(png.data()), png.size()});
  example.add_bytes("name", "dog");
  folder.write_text("a.tfrecord", framed_record(example.finish()));
  const auto prepare = [&](const std::string& components) {
    return
        [&folder, components] { folder.flow("[TFRecord: {files: a.tfrecord" + components + "}]").prepare(); };
  };
  EXPECT_THAT(prepare(""), ThrowsMessage<ConfigError>(
                               HasSubstr("set 'components', such as {image: data, label: class/label}; ")));
  EXPECT_THAT(prepare(", components: {x: nam}"),
              ThrowsMessage<DataError>(HasSubstr(
                  "has no field 'nam'; it has class/label (int64 []), data (PNG 4x3), name (text 'dog')")));
  EXPECT_THAT(
      prepare(", components: {x: name}"),
      ThrowsMessage<DataError>(HasSubstr(
          "field 'name' is text 'dog'; for labels that are texts, write x: {field: name, classes: [...]}")));
  EXPECT_NO_THROW(prepare(", components: {x: {field: name, classes: [cat, bird]}}")())
      << "the sample is bad, not the file";
  EXPECT_THAT(prepare(", components: {x: {field: name, dtype: int}}"),
              ThrowsMessage<ConfigError>(HasSubstr("unknown type 'int'")));
  EXPECT_THAT(prepare(", components: {x: {field: name, shape: [2, 2]}}"),
              ThrowsMessage<DataError>(HasSubstr("has 3 elements of uint8; its shape [2, 2] has 4")));
}

TEST(TfRecord, labels_must_be_classes) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(3));
  const DataFlow flow = folder.flow(
      "[TFRecord: {files: a.tfrecord, shuffle: false, components: {label: {field: label, classes: [cat, "
      "dog]}}}]");
  EXPECT_THAT([&] { samples_of(flow); },
              ThrowsMessage<SampleError>(HasSubstr("is class 2; there are 2 classes")));
}

TEST(TfRecord, has_another_order_in_each_pass_with_each_sample_once) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(100));
  for (const std::string more : {"block: 1", "block: 7", "block: 64"}) {
    const DataFlow flow = flow_of_records(folder, "a.tfrecord", more);
    std::vector<Numbers> orders;
    for (int64_t pass = 0; pass < 2; ++pass) {
      Numbers labels;
      const auto cursor = flow.open({.seed = 3, .pass = pass});
      for (Datapoint d; cursor->next(d);) labels.push_back(d.to_tensor(1).at(0));
      orders.push_back(labels);
      std::ranges::sort(labels);
      ASSERT_EQ(labels.size(), 100U);
      for (size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(labels[i], static_cast<double>(i)) << more;
    }
    EXPECT_NE(orders[0], orders[1]) << more;
  }
}

/// Two blocks of one record each would be next to one another only by chance.
TEST(TfRecord, reads_blocks_of_records_together) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(4096));
  const DataFlow flow = flow_of_records(folder, "a.tfrecord", "block: 8");
  const auto cursor = flow.open({.seed = 1, .pass = 0});
  std::set<int64_t> blocks;
  Datapoint d;
  for (int i = 0; i < 256 && cursor->next(d); ++i)
    blocks.insert(static_cast<int64_t>(d.to_tensor(1).at(0)) / 8);
  EXPECT_LE(blocks.size(), 33U);  // 32 of 512, or 33 if they begin within one
  EXPECT_GE(blocks.size(), 32U);
}

TEST(TfRecord, uses_its_index_and_notices_one_of_another_file) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(3));
  EXPECT_EQ(index_records(folder.path("a.tfrecord")), 3);
  const Rows rows{{1, 2, 0}, {1, 2, 1}, {1, 2, 2}};
  EXPECT_EQ(samples_of(flow_of_records(folder, "a.tfrecord")), rows);
  // An index of two records, with the size and the ends of this file, is used: it says where records are.
  std::string index = read_whole_file(folder.path("a.tfrecord.tpack-index")).value();
  folder.write_text("a.tfrecord.tpack-index",
                    index.substr(0, 24) + std::string("\2\0\0\0\0\0\0\0", 8) + index.substr(32, 56));
  EXPECT_EQ(samples_of(flow_of_records(folder, "a.tfrecord")).size(), 2U);
  folder.write_text("a.tfrecord.tpack-index", index);
  folder.write_text("a.tfrecord", numbered_records(4));  // another size
  EXPECT_EQ(samples_of(flow_of_records(folder, "a.tfrecord")).size(), 4U);
  for (size_t i = 64; i < index.size(); ++i) {  // offsets that are wrong
    folder.write_text("a.tfrecord", numbered_records(3));
    std::string wrong = index;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x11);
    folder.write_text("a.tfrecord.tpack-index", wrong);
    EXPECT_THROW(samples_of(flow_of_records(folder, "a.tfrecord")), Error) << i;
  }
}

TEST(TfRecord, notices_a_file_that_changes) {
  const TempFolder folder;
  folder.write_text("a.tfrecord", numbered_records(3));
  const DataFlow flow = flow_of_records(folder, "a.tfrecord");
  EXPECT_EQ(samples_of(flow).size(), 3U);
  const auto cursor = flow.open({.pass = 1});
  folder.write_text("a.tfrecord", numbered_records(1));
  Datapoint d;
  EXPECT_THAT(
      [&] {
        while (cursor->next(d)) continue;
      },
      ThrowsMessage<SampleError>(HasSubstr("changed since it was opened")));
}

std::string content_with_records(const std::string& source) {
  const TempFolder folder;
  folder.write_text("train.tfrecord", numbered_records(300));
  folder.write_text("other.tfrecord", numbered_records(3));
  std::string damaged;
  for (int i = 0; i < 300; ++i) {
    damaged += framed_record(example_of(i));
    if (i % 2 == 1) damaged.back() ^= 1;  // in the checksum
  }
  folder.write_text("damaged.tfrecord", damaged);
  return content_of_flow("{on_error: skip, flow: [" + source + "]}", folder.path("flow.yaml"));
}

const live::Fields kTfRecordData(
    "source", "TFRecord",
    {.base = "{files: damaged.tfrecord, components: {x: label}}",
     .values = {{"files", "other.tfrecord"}, {"components", "{y: x}"}, {"block", "4"}},
     .build = content_with_records});

/// Whatever changes later is noticed, also in the second of several files.
TEST(RecordSources, notice_files_that_change) {
  const TempFolder folder;
  const auto add = [&](const std::string& name) {
    std::ofstream(folder.path(name), std::ios::app) << std::string(1024, '\0');
  };
  const auto tar = [](const std::string& key) { return tar_archive({{key + ".x", "1"}, {key + ".y", "2"}}); };
  folder.write_text("a-0.tfrecord", framed_record(example_of(1)));
  folder.write_text("a-1.tfrecord", framed_record(example_of(2)));
  folder.write_text("a-0.tar", tar("k"));
  folder.write_text("a-1.tar", tar("l"));
  write_lmdb(folder.path("db"), {{"0", Bytes(4, 1)}});
  const std::vector<std::pair<std::string, std::string>> sources = {
      {"TFRecord: {files: 'a-*.tfrecord', components: {label: label}}", "a-1.tfrecord"},
      {"WebDataset: {files: 'a-*.tar', components: {x: x, y: y}}", "a-1.tar"},
      {"LMDBData: {path: db, components: {x: {field: value, dtype: uint8, shape: [4]}}}", "db/data.mdb"}};
  for (const auto& [source, file] : sources) {
    const std::string yaml = "[" + source + "]";
    const DataFlow flow = folder.flow(yaml);
    flow.prepare();
    const std::string before = flow.fingerprint();
    EXPECT_NO_THROW(flow.open({})) << source;
    add(file);
    EXPECT_TRUE(fails([&] { flow.open({}); }, {file, "changed since it was opened"})) << source;
    EXPECT_NE(flow.fingerprint(), before) << source;
  }
}

}  // namespace
}  // namespace tpack
