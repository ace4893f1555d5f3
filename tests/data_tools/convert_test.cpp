#include "data_tools/convert.h"

#include <filesystem>

#include "dataflow/flow_helpers.h"
#include "dataflow/test_images.h"
#include "support/python.h"
#include "system/file_io.h"

namespace tpack {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

/// 70 images of two classes; sizes differ if `sizes` is more than 1.
DataFlow flow_of_images(const TempFolder& folder, int sizes = 1) {
  for (int i = 0; i < 70; ++i) {
    cv::Mat pixels = photo(5 + i % sizes, 4);
    pixels.data[0] = static_cast<uint8_t>(i);
    folder.write(
        std::string("photos/") + (i % 3 == 0 ? "cat" : "dog") + "/" + std::to_string(100 + i) + ".png",
        encode_png(pixels));
  }
  return folder.flow(
      "[ImageFolder: {dir: photos, shuffle: false}, AugmentImageComponent: [{Resize: 8}], BatchData: 8]");
}

DataFlow stored(const TempFolder& folder) {
  return folder.flow("[ImageFolder: {dir: photos, shuffle: false}]");
}

Converted convert_to(const TempFolder& folder, const std::string& name, const DataFlow& flow,
                     size_t workers = 2) {
  return convert_flow(flow, {.out = folder.path(name), .workers = workers});
}

/// The flow of what was written.
DataFlow read_again(const TempFolder& folder, const Converted& converted) {
  const std::string& source = converted.source;
  return folder.flow("[" + source.substr(0, source.size() - 1) + ", shuffle: false}]");
}

TEST(Convert, gives_the_same_samples_in_each_format) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  const Rows rows = samples_of(stored(folder));
  for (const std::string name :
       {"a.lmdb", "a.tfrecord", "a.tar", "a.npz", "a.h5", "part-{0..4}.tar", "part-{0..4}.tfrecord"}) {
    const Converted converted = convert_to(folder, name, flow);
    EXPECT_EQ(converted.samples, 70) << name;
    EXPECT_EQ(converted.continued_at, 0);
    const DataFlow again = read_again(folder, converted);
    EXPECT_EQ(samples_of(again), rows) << name;
    EXPECT_FALSE(fs::exists(folder.path(name + ".partial"))) << name;
    const bool keeps_names = !name.ends_with(".npz") && !name.ends_with(".h5");
    EXPECT_EQ(again.spec()[1].classes, keeps_names ? (Texts{"cat", "dog"}) : Texts{}) << name;
  }
}

TEST(Convert, keeps_the_bytes_of_images_of_any_size) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder, 3);
  const Rows rows = samples_of(stored(folder));
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar"}) {
    const Converted converted = convert_to(folder, name, flow);
    EXPECT_EQ(samples_of(read_again(folder, converted)), rows) << name;
    const std::string bytes = read_whole_file(folder.path(name)).value();
    const std::string image = read_whole_file(folder.path("photos/cat/100.png")).value();
    EXPECT_NE(bytes.find(image), std::string::npos) << name;
  }
  for (const std::string name : {"a.npz", "a.h5"}) {
    EXPECT_THAT(
        [&] { convert_to(folder, name, flow); },
        ThrowsMessage<DataError>(AllOf(HasSubstr("hold samples of one size: write .lmdb, .tfrecord or .tar"),
                                       HasSubstr("--maps"), HasSubstr("photos/"))));
    EXPECT_FALSE(fs::exists(folder.path(name + ".partial"))) << name;
  }
}

TEST(Convert, writes_what_maps_make_if_asked) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder, 3);
  const DataFlow mapped =
      folder.flow("[ImageFolder: {dir: photos, shuffle: false}, AugmentImageComponent: [{Resize: 8}]]");
  const Rows rows = samples_of(mapped);
  for (const std::string name : {"m.lmdb", "m.tfrecord", "m.tar", "m.npz", "m.h5"}) {
    const Converted converted = convert_flow(flow, {.out = folder.path(name), .maps = true, .workers = 2});
    EXPECT_EQ(samples_of(read_again(folder, converted)), rows) << name;
  }
  const DataFlow drops = folder.flow("[ImageFolder: {dir: photos}, Filter: 'label == 1']");
  EXPECT_THAT([&] { convert_flow(drops, {.out = folder.path("d.tar"), .maps = true}); },
              ThrowsMessage<ConfigError>(HasSubstr("leaves samples out")));
}

TEST(Convert, keeps_arrays_of_any_type_and_shape) {
  const TempFolder folder;
  const DataFlow flow = folder.flow(
      "[FakeData: {size: 20, shapes: [[3, 2], [], [2]], dtype: [float32, int32, uint8], domain: [0, 100]}]");
  const Rows rows = samples_of(flow);
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar", "a.npz", "a.h5"}) {
    const DataFlow again = read_again(folder, convert_to(folder, name, flow));
    EXPECT_EQ(samples_of(again), rows) << name;
    EXPECT_EQ(again.spec().str(), flow.spec().str()) << name;
  }
}

TEST(Convert, keeps_what_masks_are) {
  const TempFolder folder;
  const DataFlow flow = folder.flow("[RenderedShapes: {split: test, size: 5}]");
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar"}) {
    const DataFlow again = read_again(folder, convert_to(folder, name, flow));
    again.prepare();
    EXPECT_EQ(again.spec()[1].annotation, Annotation::kMask) << name;
    EXPECT_EQ(again.spec()[1].classes, flow.spec()[1].classes) << name;
    EXPECT_EQ(samples_of(again), samples_of(flow)) << name;
  }
}

TEST(Convert, shuffles_once) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  const Converted converted = convert_flow(flow, {.out = folder.path("a.tar"), .shuffle = 1, .workers = 2});
  Rows rows = samples_of(stored(folder));
  Rows shuffled = samples_of(read_again(folder, converted));
  EXPECT_NE(shuffled, rows);
  std::ranges::sort(rows);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, rows);
}

TEST(Convert, writes_the_same_bytes_with_any_number_of_workers) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  for (const std::string ending : {".lmdb", ".tfrecord", ".tar", ".npz"}) {
    convert_flow(flow, {.out = folder.path("one" + ending), .workers = 1, .save_seconds = 0});
    convert_flow(flow, {.out = folder.path("seven" + ending), .workers = 7, .save_seconds = 0});
    EXPECT_EQ(read_whole_file(folder.path("one" + ending)), read_whole_file(folder.path("seven" + ending)))
        << ending;
  }
}

/// Interrupted by an error between any two chunks, it goes on, and writes what an uninterrupted call writes.
TEST(Convert, goes_on_after_an_interruption) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar", "a.npz", "part-{0..2}.tar"}) {
    const std::string ending = name.substr(name.rfind('.'));
    for (const int64_t stop_at : {1, 30, 33, 60}) {
      ConvertOptions options{.out = folder.path(name), .workers = 3, .save_seconds = 0};
      options.progress = [stop_at](int64_t done) {
        if (done >= stop_at) throw ResourceError("stopped");
      };
      EXPECT_THROW(convert_flow(flow, options), ResourceError);
      EXPECT_FALSE(fs::exists(folder.path(name)));
      const Converted converted = convert_to(folder, name, flow);
      EXPECT_EQ(converted.samples, 70);
      EXPECT_EQ(samples_of(read_again(folder, converted)), samples_of(stored(folder)))
          << name << " " << stop_at;
      EXPECT_GT(converted.continued_at, 0) << name << " " << stop_at;
      for (const auto& entry : fs::directory_iterator(folder.path()))
        if (entry.path().string().ends_with(ending)) fs::remove(entry.path());
    }
  }
}

TEST(Convert, refuses_what_would_be_lost) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  folder.write_text("there.tar", "");
  EXPECT_THAT([&] { convert_to(folder, "there.tar", flow); },
              ThrowsMessage<ConfigError>(HasSubstr("there.tar exists; remove it")));
  EXPECT_THAT([&] { convert_to(folder, "a.parquet", flow); },
              ThrowsMessage<ConfigError>(HasSubstr("must end in .lmdb, .tfrecord, .tar, .npz or .h5")));
  EXPECT_THAT([&] { convert_to(folder, "p-{0..99}.tar", flow); },
              ThrowsMessage<ConfigError>(HasSubstr("70 samples for 100 files")));
  EXPECT_THAT([&] { convert_to(folder, "p-{0..3}.lmdb", flow); },
              ThrowsMessage<ConfigError>(HasSubstr("LMDBData reads one file")));
  EXPECT_THAT(
      [&] {
        convert_to(folder, "a.tar", folder.flow("[FakeData: {size: 4, shapes: [[2]]}, RepeatedData: -1]"));
      },
      testing::Not(testing::Throws<Error>()))
      << "stages do not count";
  fs::create_directory(folder.path("b.tar.partial"));
  folder.write_text("b.tar.partial/conversion", "of other data");
  EXPECT_THAT([&] { convert_to(folder, "b.tar", flow); },
              ThrowsMessage<ConfigError>(HasSubstr("has parts of another conversion")));
  const DataFlow deep = folder.flow("[ImageFolder: {dir: photos, depth: 16}]");
  EXPECT_THAT([&] { convert_to(folder, "c.tar", deep); },
              ThrowsMessage<ConfigError>(
                  HasSubstr("more than 8 bits per channel, which files of records do not keep")));
}

/// The libraries that own the formats read each file.
TEST(Convert, is_read_by_others) {
  const TempFolder folder;
  const DataFlow flow = flow_of_images(folder);
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar", "a.npz", "a.h5"})
    convert_to(folder, name, flow);
  std::string expected;
  for (const Numbers& row : samples_of(stored(folder))) {
    double sum = 0;
    for (size_t i = 0; i + 1 < row.size(); ++i) sum += row[i] * static_cast<double>(i % 7 + 1);
    expected +=
        std::to_string(static_cast<int64_t>(sum)) + " " + std::to_string(static_cast<int>(row.back())) + "\n";
  }
  for (const std::string name : {"a.lmdb", "a.tfrecord", "a.tar", "a.npz", "a.h5"}) {
    const PythonResult read = run_python("python/read_records.py", folder.path(name));
    if (!read.missing.empty()) GTEST_SKIP() << read.missing;
    EXPECT_EQ(read.output, expected) << name;
  }
}

}  // namespace
}  // namespace tpack
