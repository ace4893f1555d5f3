#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "records/format/msgpack.h"
#include "records/format/pickle_writer.h"
#include "sources/format/pickle.h"
#include "support/live_fields.h"
#include "support/python.h"

namespace tpack {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

Tensor integers_of(const std::vector<int32_t>& values, const Shape& shape) {
  Tensor tensor(TensorSpec{DType::kInt32, shape});
  std::ranges::copy(values, tensor.data<int32_t>());
  return tensor;
}

TEST(PickledList, is_read_again) {
  PickledList list;
  list.add(integers_of({7}, {}));
  list.add(integers_of({1, 2, 3, 4, 5, 6}, {2, 3}));
  list.add_bytes("abc");
  Tensor half(TensorSpec{DType::kFloat32, {}});
  *half.data<float>() = 0.5F;
  list.add(half);
  const std::string text = list.finish();
  const Pickle pickle = read_pickle({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  ASSERT_NE(pickle.value.list(), nullptr);
  const std::vector<StoredValue>& items = pickle.value.list()->items;
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].integer(), 7);
  ASSERT_NE(items[1].array(), nullptr);
  EXPECT_EQ(items[1].array()->dtype, "<i4");
  EXPECT_EQ(items[1].array()->shape, (Integers{2, 3}));
  EXPECT_EQ(items[1].array()->data[20], 6);
  EXPECT_EQ(items[2].array()->dtype, "|u1");
  EXPECT_EQ(items[3].number(), 0.5);
}

TEST(Msgpack, reads_values_and_arrays) {
  // [1, -2, 0.5, "text", bytes, {nd: true, type: "<i2", kind: "", shape: [2], data: 2 numbers}, {"a": nil}]
  std::string text = "\x97\x01\xfe\xcb\x3f\xe0";
  text += std::string(6, '\0') + "\xa4text\xc4\x02";
  text += std::string("\x01\x02", 2) + "\x85\xc4\x02nd\xc3\xc4\x04type\xa3<i2\xc4\x04kind\xc4";
  text += std::string(1, '\0') +
          "\xc4\x05shape\x91\x02\xc4\x04"
          "data\xc4\x04";
  text += std::string("\x05\0\x06\0", 4) +
          "\x81\xa1"
          "a\xc0";
  const Bytes bytes = bytes_of_text(text);
  const PackedMessage message = read_msgpack(bytes);
  ASSERT_NE(message.value.list(), nullptr);
  const std::vector<StoredValue>& items = message.value.list()->items;
  ASSERT_EQ(items.size(), 7U);
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].integer(), -2);
  EXPECT_EQ(items[2].number(), 0.5);
  EXPECT_EQ(items[3].text(), "text");
  EXPECT_EQ(items[4].bytes()->size(), 2U);
  ASSERT_NE(items[5].array(), nullptr);
  EXPECT_EQ(items[5].array()->dtype, "<i2");
  EXPECT_EQ(items[5].array()->data[2], 6);
  ASSERT_NE(items[6].dict(), nullptr);
  EXPECT_TRUE(items[6].dict()->find("a")->is_none());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_msgpack(StoredBytes(bytes).first(size)), DataError) << size;
}

TEST(Msgpack, limits_depth_and_declared_sizes) {
  EXPECT_THAT([] { read_msgpack(Bytes(1000, 0x91)); },
              ThrowsMessage<DataError>(HasSubstr("nested deeper than 100")));
  EXPECT_THROW(read_msgpack(Bytes{0xdd, 0xff, 0xff, 0xff, 0xff, 1}), DataError);  // 4 G elements
  EXPECT_THROW(read_msgpack(Bytes{0xc6, 0xff, 0xff, 0xff, 0xff, 1}), DataError);  // 4 GB of bytes
  EXPECT_THROW(read_msgpack(Bytes{0xc1}), DataError);                             // never used
  EXPECT_THROW(read_msgpack(Bytes{0x01, 0x02}), DataError);                       // two values
  EXPECT_THROW(read_msgpack(Bytes{0xd4, 0x01, 0x02}), DataError);                 // ext
}

/// A record [image, label] as tensorpack's users store it, with a JPEG as an array of bytes.
Bytes pickled_pair(const Bytes& image, int label) {
  PickledList list;
  list.add_bytes({reinterpret_cast<const char*>(image.data()), image.size()});
  list.add(integers_of({label}, {}));
  return bytes_of_text(list.finish());
}

TEST(LmdbData, reads_pickles_of_images_and_labels) {
  const TempFolder folder;
  const Bytes png = encode_png(photo(3, 2));
  write_lmdb(
      folder.path("db"),
      {{"00000000", pickled_pair(png, 4)}, {"00000001", pickled_pair(png, 5)}, {"__keys__", Bytes{1}}});
  const DataFlow flow = folder.flow("[LMDBData: {path: db, shuffle: false}]");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [2, 3, 3], label int32 []");
  EXPECT_TRUE(flow.spec()[0].is_image);
  EXPECT_EQ(flow.size(), 2);
  EXPECT_EQ(samples_of(flow)[1].back(), 5);
}

TEST(LmdbData, reads_raw_values_and_keys) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"cat", encode_png(photo(3, 2))}, {"dog", encode_png(photo(3, 2))}});
  const DataFlow flow = folder.flow(
      "[LMDBData: {path: db, shuffle: false, components: {image: value, label: {field: key, classes: [dog, "
      "cat]}}}]");
  const Rows rows = samples_of(flow);
  EXPECT_EQ(rows[0].back(), 1);
  EXPECT_EQ(rows[1].back(), 0);
}

TEST(LmdbData, names_the_record_that_is_damaged) {
  const TempFolder folder;
  const Bytes whole = pickled_pair(encode_png(photo(3, 2)), 4);
  write_lmdb(folder.path("db"), {{"a", whole}, {"b", Bytes(whole.begin(), whole.end() - 9)}, {"c", whole}});
  const DataFlow flow = folder.flow("[LMDBData: {path: db, shuffle: false}]");
  EXPECT_THAT([&] { samples_of(flow); }, ThrowsMessage<SampleError>(HasSubstr("db, key 'b': ")));
}

/// Databases that tensorpack's own LMDBSerializer wrote, with pickle and with msgpack.
TEST(LmdbData, reads_what_tensorpack_wrote) {
  const TempFolder folder;
  const PythonResult written = run_python("python/write_tensorpack_lmdb.py", folder.path());
  if (!written.missing.empty()) GTEST_SKIP() << written.missing;
  ASSERT_EQ(written.exit_code, 0) << written.output;
  for (const std::string name : {"pickle.lmdb", "msgpack.lmdb"}) {
    const DataFlow flow =
        folder.flow("[LMDBData: {path: " + name + ", shuffle: false, components: {x: 0, label: 1, t: 2}}]");
    flow.prepare();
    EXPECT_EQ(flow.spec().str(), "x float32 [2, 3], label int32 [], t int32 [2, 2]") << name;
    EXPECT_EQ(samples_of(flow), (Rows{{0, 1, 2, 3, 4, 5, 0, 0, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 0, 1, 2, 3}}))
        << name;
  }
}

/// The flow of a source in a folder with two databases.
std::string content_with_lmdbs(const std::string& source) {
  const TempFolder folder;
  for (const std::string name : {"train.lmdb", "other.lmdb"}) {
    std::map<std::string, Bytes> records;
    for (int i = 0; i < 300; ++i)
      records["k" + std::to_string(i)] = pickled_pair(encode_png(photo(3, 2)), name == "other.lmdb" ? 9 : i);
    write_lmdb(folder.path(name), records);
  }
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kLmdbData("source", "LMDBData",
                             {.base = "{path: train.lmdb, components: {x: {field: '1;value', dtype: uint8}}}",
                              .values = {{"path", "other.lmdb"},
                                         {"components", "{y: {field: '1;value', dtype: uint8}}"},
                                         {"block", "4"},
                                         {"format", "raw"}},
                              .build = content_with_lmdbs});

TEST(LmdbData, names_the_source_of_caffe_s_records) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"0", pixel_datum(1, 2, 2, {1, 2, 3, 4}, 7)}});
  EXPECT_THAT([&] { folder.flow("[LMDBData: {path: db}]").prepare(); },
              ThrowsMessage<ConfigError>(HasSubstr("has Caffe's records: write CaffeLMDB: db")));
}

}  // namespace
}  // namespace tpack
