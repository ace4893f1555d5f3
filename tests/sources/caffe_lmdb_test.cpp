#include <cstdlib>
#include <sstream>

#include <libdeflate.h>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "sources/format/lmdb.h"
#include "support/live_fields.h"
#include "support/python.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// A flow that starts with the database `db` of the folder; `rest`: further items.
DataFlow flow_of_database(const TempFolder& folder, const std::string& params = "",
                          const std::string& rest = "", const std::string& on_error = "stop") {
  return folder.flow("{on_error: " + on_error + ", flow: [{CaffeLMDB: {path: db, shuffle: false, " + params +
                     "}}" + rest + "]}");
}

/// Two pixels: in planes blue 1 2, green 3 4, red 5 6.
const Bytes kPlanes = {1, 2, 3, 4, 5, 6};

TEST(CaffeLmdb, gives_pixels_in_rgb_order_and_labels) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"00000001", pixel_datum(3, 1, 2, kPlanes, 4)},
                                 {"00000000", pixel_datum(3, 1, 2, {9, 9, 9, 9, 9, 9}, 2)}});
  const DataFlow flow = flow_of_database(folder);
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [1, 2, 3], label int32 []");
  EXPECT_TRUE(flow.spec()[0].is_image);
  EXPECT_EQ(describe(flow.facts()), "2 records");
  EXPECT_EQ(samples_of(flow), (Rows{{9, 9, 9, 9, 9, 9, 2}, {5, 3, 1, 6, 4, 2, 4}}));
  EXPECT_EQ(samples_of(flow_of_database(folder, "stored_order: rgb"))[1], (Numbers{1, 3, 5, 2, 4, 6, 4}));
  // 0.299 R + 0.587 G + 0.114 B
  EXPECT_EQ(samples_of(flow_of_database(folder, "color: gray"))[1], (Numbers{3, 4, 4}));
}

TEST(CaffeLmdb, gives_arrays_of_any_number_of_channels_and_floats) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"a", pixel_datum(2, 1, 2, {1, 2, 3, 4}, 0)}});
  const DataFlow bytes = flow_of_database(folder);
  EXPECT_EQ(samples_of(bytes)[0], (Numbers{1, 3, 2, 4, 0}));
  EXPECT_FALSE(bytes.spec()[0].is_image);
  const TempFolder with_floats;
  write_lmdb(
      with_floats.path("db"),
      {{"a", DatumWriter().number(1, 2).number(2, 1).number(3, 2).floats(6, {1, 2, 3, 4.5F}).record()}});
  const DataFlow floats = flow_of_database(with_floats);
  EXPECT_EQ(samples_of(floats)[0], (Numbers{1, 3, 2, 4.5, 0}));
  EXPECT_EQ(floats.spec()[0].tensor.str(), "float32 [1, 2, 2]");
}

TEST(CaffeLmdb, decodes_encoded_images) {
  const TempFolder folder;
  const cv::Mat pixels = photo(12, 10);
  write_lmdb(folder.path("db"),
             {{"a", encoded_datum(encode_png(pixels), 3)}, {"b", encoded_datum(encode_jpeg(pixels), 5)}});
  const DataFlow flow = flow_of_database(folder);
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [10, 12, 3], label int32 []");
  const auto cursor = flow.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  EXPECT_TRUE(d.image(0).encoded()) << "nothing needed pixels yet";
  EXPECT_EQ(largest_difference(d.image(0).pixels(), pixels), 0);
  ASSERT_TRUE(cursor->next(d));
  EXPECT_LT(largest_difference(d.image(0).pixels(), pixels), 60);
  EXPECT_EQ(d.tensor(1).at(0), 5);
  EXPECT_EQ(samples_of(flow_of_database(folder, "color: gray"))[0].size(), 121U);
}

TEST(CaffeLmdb, images_of_different_sizes_have_an_unknown_size) {
  const TempFolder folder;
  write_lmdb(folder.path("db"),
             {{"a", pixel_datum(1, 2, 2, {1, 2, 3, 4}, 0)}, {"b", pixel_datum(1, 2, 1, {1, 2}, 1)}});
  const DataFlow flow = flow_of_database(folder);
  flow.prepare();
  EXPECT_EQ(flow.spec()[0].tensor.str(), "uint8 [2, ?, 1]");
  const DataFlow resized =
      flow_of_database(folder, "", ", {AugmentImageComponent: [{Resize: 3}]}, {BatchData: {batch_size: 2}}");
  EXPECT_EQ(samples_of(resized)[0].size(), 2U * 9 + 2);
  EXPECT_TRUE(fails([&] { flow_of_database(folder, "", ", {BatchData: 2}").prepare(); }, {"[{Resize"}));
}

TEST(CaffeLmdb, damaged_records_follow_on_error) {
  const TempFolder folder;
  auto cut = encode_png(photo(2, 2));
  cut.resize(cut.size() - 20);
  write_lmdb(folder.path("db"), {{"a", {'n', 'o', '!'}},
                                 {"b", pixel_datum(3, 1, 2, kPlanes, 1)},
                                 {std::string("c\0\xFF", 3), pixel_datum(3, 1, 2, {1}, 1)},
                                 {"d", pixel_datum(1, 1, 2, {1, 2}, 1)},
                                 {"e", encoded_datum(cut, 1)},
                                 {"f", pixel_datum(3, 1, 2, kPlanes, 6)}});
  const std::string where = "caffe_lmdb_0, sample 0 of pass 0: " + folder.path("db") + ", key 'a': ";
  EXPECT_TRUE(fails([&] { samples_of(flow_of_database(folder)); },
                    {"flow.yaml:1:", where + "a record of 3 bytes", "on_error"}));
  const DataFlow skipping =
      flow_of_database(folder, "", ", {AugmentImageComponent: [{Resize: [1, 2]}]}", "skip");
  Texts errors;
  skipping.bad_samples().on_bad_sample([&](const SampleError& error) { errors.emplace_back(error.what()); });
  const auto read = samples_of(skipping);
  EXPECT_EQ(read.size(), 2U);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_THAT(errors[1], HasSubstr(", key 'c\\x00\\xff': a record of [3, 1, 2] (channels, height, width)"));
  EXPECT_THAT(errors[2], HasSubstr("a record with 1 channels of uint8; the first one has 3 of uint8"));
  EXPECT_THAT(errors[3], HasSubstr("key 'e': "));
}

TEST(CaffeLmdb, a_database_without_a_good_record_is_rejected) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"a", {'n', 'o', '!'}}});
  EXPECT_TRUE(fails([&] { flow_of_database(folder).prepare(); }, {"key 'a': a record of 3 bytes"}));
  const TempFolder empty;
  EXPECT_TRUE(fails([&] { flow_of_database(empty).prepare(); }, {"CaffeLMDB: no such folder or file"}));
}

/// The databases of Caffe in TPACK_DATASET; none without it.
Texts real_databases() {
  const char* const datasets = std::getenv("TPACK_DATASET");
  const std::string folder = datasets == nullptr ? "" : std::string(datasets) + "/lmdb";
  Texts databases;
  if (!std::filesystem::is_directory(folder)) return databases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename() == "data.mdb") databases.push_back(entry.path().parent_path().string());
  return databases;
}

/// py-lmdb and tpack find the same records; in the databases of TPACK_DATASET too.
TEST(CaffeLmdb, finds_the_records_that_py_lmdb_finds) {
  const TempFolder folder;
  std::map<std::string, Bytes> records;
  for (int i = 0; i < 50; ++i) records["key" + std::to_string(i)] = Bytes(static_cast<size_t>(i * i * 7), 3);
  write_lmdb(folder.path("db"), records);
  Texts databases = real_databases();
  databases.push_back(folder.path("db"));
  for (const std::string& database : databases) {
    const PythonResult python = run_python("python/lmdb_of_caffe.py", database);
    if (!python.missing.empty()) GTEST_SKIP() << python.missing;
    std::string ours;
    const LmdbReader reader(database);
    for (int64_t i = 0; i < reader.size(); ++i) {
      const auto value = reader.value(i);
      ours += std::string(reader.key(i)) + " " + std::to_string(value.size()) + " " +
              std::to_string(libdeflate_crc32(0, value.data(), value.size())) + "\n";
    }
    EXPECT_EQ(python.output, ours) << database;
  }
}

/// tensorpack's own reader gives the same samples, in the order that is stored.
TEST(CaffeLmdb, gives_what_tensorpack_gives) {
  const TempFolder folder;
  write_lmdb(folder.path("db"), {{"b", pixel_datum(3, 1, 2, kPlanes, 4)},
                                 {"a", pixel_datum(1, 3, 2, {9, 8, 7, 6, 5, 4}, 2)},
                                 {"c", pixel_datum(2, 1, 2, {1, 2, 3, 4}, 0)}});
  const PythonResult own = run_python("python/caffe_lmdb_of_tensorpack.py", folder.path("db"));
  if (!own.missing.empty()) GTEST_SKIP() << own.missing;
  const auto first = std::to_string(libdeflate_crc32(0, Bytes{9, 8, 7, 6, 5, 4}.data(), 6));
  EXPECT_TRUE(own.output.starts_with("2 (3, 2, 1) " + first + "\n4 (1, 2, 3) ")) << own.output;
  for (const std::string& database : real_databases()) {
    const DataFlow flow =
        yaml_flow("[CaffeLMDB: {path: " + database + ", shuffle: false, stored_order: rgb}]");
    std::string ours;
    const auto cursor = flow.open({});
    for (Datapoint d; cursor->next(d);) {
      const Tensor& image = d.to_tensor(0);
      const Shape& shape = image.shape();
      ours += std::to_string(static_cast<int>(d.to_tensor(1).at(0))) + " (" + std::to_string(shape[0]) +
              ", " + std::to_string(shape[1]) + ", " + std::to_string(shape[2]) + ") " +
              std::to_string(libdeflate_crc32(0, image.raw(), image.bytes())) + "\n";
    }
    EXPECT_EQ(run_python("python/caffe_lmdb_of_tensorpack.py", database).output, ours) << database;
  }
}

TEST(CaffeLmdb, reads_databases_that_caffe_wrote) {
  const Texts databases = real_databases();
  if (databases.empty()) GTEST_SKIP() << "TPACK_DATASET has no lmdb/";
  for (const std::string& database : databases) {
    const DataFlow flow = yaml_flow("[CaffeLMDB: " + database + ", BatchData: 1]");
    int64_t batches = 0;
    const auto stream = flow.stream({.seed = 1, .workers = 2, .slots = 3, .passes = 1});
    while (stream->next()) ++batches;
    EXPECT_EQ(batches, flow.size()) << database;
  }
}

/// The flow of a source in a folder with two databases.
std::string content_with_databases(const std::string& source) {
  const TempFolder folder;
  for (const std::string name : {"train_lmdb", "other_lmdb"}) {
    std::map<std::string, Bytes> records;
    for (uint8_t i = 0; i < 5; ++i) {
      const uint8_t first = name == "other_lmdb" ? 100 : i;
      records["key" + std::to_string(i)] = pixel_datum(3, 1, 2, {first, i, 3, 4, 50, 60}, i);
    }
    write_lmdb(folder.path(name), records);
  }
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kCaffeLmdb("source", "CaffeLMDB",
                              {.values = {{"path", "other_lmdb"}, {"color", "gray"}, {"stored_order", "rgb"}},
                               .build = content_with_databases});

}  // namespace
}  // namespace tpack
