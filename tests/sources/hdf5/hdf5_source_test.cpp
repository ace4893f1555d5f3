#include <future>
#include <numeric>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5.h"
#include "core/hdf5_mutex.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"
#include "support/python.h"

namespace tpack {
namespace {

using hdf5::Handle;
using testing::ElementsAre;
using testing::HasSubstr;

/// Writes files by libhdf5.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path)
      : lock_(hdf5_mutex()),
        file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {}
  void group(const char* name) const {
    const Handle group(H5Gcreate2(file_.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  }
  /// A dataset of `type` in the file with these numbers; `packed`: in chunks of one row.
  void set(const char* name, hid_t type, const std::vector<hsize_t>& shape, const Numbers& values,
           bool packed = false) const {
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Handle create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (packed) {
      std::vector<hsize_t> chunk = shape;
      chunk[0] = 1;
      H5Pset_chunk(create.get(), static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(create.get(), 6);
    }
    const Handle set(H5Dcreate2(file_.get(), name, type, space.get(), H5P_DEFAULT, create.get(), H5P_DEFAULT),
                     H5Dclose);
    ASSERT_GE(H5Dwrite(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0)
        << name;
  }
  void texts(const char* name) const {
    const hsize_t two = 2;
    const Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
    const Handle type = hdf5::text_type(3);
    const Handle set(
        H5Dcreate2(file_.get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, "catdog");
  }

 private:
  std::lock_guard<std::mutex> lock_;
  Handle file_;
};

DataFlow flow_of_hdf5(const TempFolder& folder, const std::string& params, const std::string& rest = "") {
  return folder.flow("[HDF5: {" + params + "}" + rest + "]");
}
std::string rejection(const TempFolder& folder, const std::string& params) {
  return error_of([&] { flow_of_hdf5(folder, params).prepare(); });
}
Numbers numbers_in(const DataFlow& flow) {
  Numbers all;
  for (const Numbers& sample : samples_of(flow)) all.insert(all.end(), sample.begin(), sample.end());
  return all;
}

TEST(Hdf5, gives_all_numbers_or_those_that_are_chosen) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("x", H5T_STD_U8LE, {2, 1, 3}, {1, 2, 3, 4, 5, 255}, true);
    file.group("targets");
    file.set("targets/y", H5T_STD_I64BE, {2}, {-7, 8});
    file.texts("names");
  }
  const DataFlow all = flow_of_hdf5(folder, "file: a.h5, shuffle: false");
  EXPECT_FALSE(all.knows_spec());
  all.prepare();
  EXPECT_EQ(all.spec().str(), "targets/y int32 [], x uint8 [1, 3, 1]");
  EXPECT_TRUE(all.spec()[1].is_image) << "a gray image";
  EXPECT_EQ(numbers_in(all), (Numbers{-7, 1, 2, 3, 8, 4, 5, 255}));
  EXPECT_THAT(remarks_of(all), ElementsAre("datasets of strings are not read: names"));
  const DataFlow chosen = flow_of_hdf5(folder, "file: a.h5, shuffle: false, arrays: {label: /targets/y}");
  EXPECT_EQ(numbers_in(chosen), (Numbers{-7, 8}));
  EXPECT_EQ(chosen.spec().str(), "label int32 []");
}

TEST(Hdf5, is_read_while_checkpoints_are_written) {
  const TempFolder folder;
  Numbers numbers(300);
  std::iota(numbers.begin(), numbers.end(), 0);
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("x", H5T_IEEE_F32LE, {300}, numbers, true);
  }
  CheckpointContent content;
  for (int i = 0; i < 50; ++i)
    content.tensors["model/w" + std::to_string(i)] = Tensor::of<float>({2}, {1.5F, static_cast<float>(i)});
  const DataFlow flow = flow_of_hdf5(folder, "file: a.h5, shuffle: false");
  flow.prepare();
  const auto save = [&](const std::string& file) {
    for (int i = 0; i < 20; ++i) save_checkpoint(folder.path(file), content);
  };
  auto saving = std::async(std::launch::async, save, "model.h5");
  auto saving_another = std::async(std::launch::async, save, "best.h5");
  do {
    EXPECT_EQ(numbers_in(flow), numbers);
  } while (saving.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  saving.get();
  saving_another.get();
  const CheckpointContent saved = load_checkpoint(folder.path("model.h5"));
  EXPECT_EQ(saved.tensors.size(), 50U);
  EXPECT_EQ(saved.tensors.at("model/w49").at(1), 49);
}

TEST(Hdf5, converts_every_type_of_numbers) {
  const TempFolder folder;
  const Handle half(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
  H5Tset_size(half.get(), 2);
  H5Tset_ebias(half.get(), 15);
  const std::map<std::string, std::pair<hid_t, std::string>> types = {
      {"f2", {half.get(), "float32"}},     {"f4", {H5T_IEEE_F32BE, "float32"}},
      {"f8", {H5T_IEEE_F64LE, "float32"}}, {"u1", {H5T_STD_U8LE, "uint8"}},
      {"i1", {H5T_STD_I8LE, "int32"}},     {"i2", {H5T_STD_I16BE, "int32"}},
      {"i4", {H5T_STD_I32LE, "int32"}},    {"i8", {H5T_STD_I64LE, "int32"}},
      {"u2", {H5T_STD_U16LE, "int32"}},    {"u4", {H5T_STD_U32LE, "int32"}},
      {"u8", {H5T_STD_U64BE, "int32"}}};
  {
    const Hdf5Writer file(folder.path("a.h5"));
    for (const auto& [name, type] : types) file.set(name.c_str(), type.first, {2, 2}, {0, 1, 100, 3});
  }
  for (const auto& [name, type] : types) {
    const DataFlow flow = flow_of_hdf5(folder, "file: a.h5, shuffle: false, arrays: {a: " + name + "}");
    EXPECT_EQ(numbers_in(flow), (Numbers{0, 1, 100, 3})) << name;
    EXPECT_EQ(flow.spec().str(), "a " + type.second + " [2]") << name;
  }
}

TEST(Hdf5, a_number_that_does_not_fit_is_a_bad_sample) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("u4", H5T_STD_U32LE, {2}, {1, 4294967295});
    file.set("i8", H5T_STD_I64LE, {2}, {1, -3000000000});
    file.set("u8", H5T_STD_U64LE, {2}, {1, 3000000000});
    file.set("f8", H5T_IEEE_F64LE, {2}, {1, 1e300});
  }
  const auto error = [&](const std::string& name) {
    return error_of(
        [&] { numbers_in(flow_of_hdf5(folder, "file: a.h5, shuffle: false, arrays: {a: " + name + "}")); });
  };
  EXPECT_TRUE(says(error("u4"), {"hdf5_0, sample 1 of pass 0: ", "a.h5[1]: dataset 'u4'", "4294967295"}));
  EXPECT_THAT(error("i8"), HasSubstr("-3000000000 does not fit into int32"));
  EXPECT_THAT(error("u8"), HasSubstr("3000000000 does not fit into int32"));
  EXPECT_THAT(error("f8"), HasSubstr("1e+300 does not fit into float32"));
}

TEST(Hdf5, says_which_whole_numbers_are_rounded) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("id", H5T_IEEE_F64LE, {3}, {1, 2, 16777217});
    file.set("y", H5T_IEEE_F64LE, {3}, {1, 0.1, 16777218});
  }
  const DataFlow flow = flow_of_hdf5(folder, "file: a.h5");
  flow.prepare();
  EXPECT_TRUE(says(remarks_of(flow).at(0), {"array 'id'", "float32 rounds", "16777217"}));
}

TEST(Hdf5, says_what_does_not_fit) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("x_train", H5T_STD_U8LE, {3}, {1, 2, 3});
    file.set("x_test", H5T_STD_U8LE, {2}, {1, 2});
    file.set("none", H5T_STD_U8LE, {0, 2}, {});
    file.set("number", H5T_STD_U8LE, {}, {1});
    file.texts("names");
  }
  expect_errors(
      [&](const std::string& params) { flow_of_hdf5(folder, params).prepare(); },
      {{"file: a.h5, arrays: {image: x_trian}",
        {"flow.yaml:1:", "'x_trian'; did you mean 'x_train'?", "has names, none, number, x_test, x_train"}},
       {"file: a.h5, arrays: {a: x_train, b: x_test}",
        {"different numbers of samples (x_train 3, x_test 2)"}},
       {"file: a.h5, arrays: {a: none}", {"dataset 'none': has no elements"}},
       {"file: a.h5, arrays: {a: number}", {"dataset 'number': is a single number"}},
       {"file: a.h5, arrays: {a: names}", {"dataset 'names': has texts"}},
       {"file: absent.h5", {"no such file"}}});
  { const Hdf5Writer empty(folder.path("empty.h5")); }
  EXPECT_THAT(rejection(folder, "file: empty.h5"), HasSubstr("empty.h5: has no datasets of numbers"));
  folder.write("b.h5", {'a', ',', 'b', '\n'});
  EXPECT_THAT(rejection(folder, "file: b.h5"), HasSubstr("b.h5: is text, not an HDF5 file"));
  std::filesystem::resize_file(folder.path("a.h5"), 700);
  EXPECT_THAT(rejection(folder, "file: a.h5"), HasSubstr("a.h5: cannot be read as HDF5: "));
}

TEST(Hdf5, keeps_rows_together_with_any_workers_and_after_a_resume) {
  const TempFolder folder;
  Numbers rows;
  for (int row = 0; row < 20; ++row) rows.push_back(row);
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("v", H5T_IEEE_F32LE, {20}, rows, true);
    file.set("c", H5T_STD_I32LE, {20}, rows);
  }
  const DataFlow flow = flow_of_hdf5(folder, "file: a.h5", ", BatchData: {batch_size: 3, remainder: true}");
  const auto read = [&](size_t workers, const DataPosition& from) {
    return numbers_of(*flow.stream({.seed = 5, .workers = workers, .position = from, .passes = 2}));
  };
  const Numbers all = read(1, {});
  EXPECT_EQ(all.size(), 80U);
  EXPECT_EQ(read(4, {}), all);
  EXPECT_EQ(read(3, {0, 2}), (Numbers{all.begin() + 12, all.end()}));
  Numbers pass;
  const auto stream = flow.stream({.seed = 5, .workers = 3, .passes = 1});
  while (const auto batch = stream->next()) {
    for (int64_t i = 0; i < batch->tensor(0).shape()[0]; ++i) {
      EXPECT_EQ(batch->tensor(0).at(i), batch->tensor(1).at(i));
      pass.push_back(batch->tensor(0).at(i));
    }
  }
  EXPECT_NE(pass, rows) << "it is shuffled";
  std::sort(pass.begin(), pass.end());
  EXPECT_EQ(pass, rows);
}

TEST(Hdf5, reads_what_h5py_writes) {
  const TempFolder folder;
  const PythonResult written = run_python("python/write_hdf5.py", folder.path());
  if (!written.missing.empty()) GTEST_SKIP() << written.missing;
  ASSERT_EQ(written.exit_code, 0) << written.output;
  const DataFlow flow =
      flow_of_hdf5(folder, "file: a.h5, shuffle: false, arrays: {b: flags, h: half, g: group/packed}");
  EXPECT_EQ(numbers_in(flow), (Numbers{1, 0.5, 0, 1, 0, -2, 2, 3, 1, 65504, 4, 5}));
  EXPECT_EQ(flow.spec().str(), "b bool [], h float32 [], g float32 [2]");
}

/// Two groups with a dataset for each sample: images of two sizes, and numbers.
TEST(Hdf5, reads_groups_of_one_dataset_for_each_sample) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    for (const char* group : {"x", "y", "other"}) file.group(group);
    file.set("x/a", H5T_STD_U8LE, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
    file.set("x/b", H5T_STD_U8LE, {1, 1, 3}, {7, 8, 9});
    file.set("y/a", H5T_STD_I32LE, {}, {10});
    file.set("y/b", H5T_STD_I32LE, {}, {20});
    file.set("other/a", H5T_STD_I32LE, {}, {1});
    file.set("other/c", H5T_IEEE_F32LE, {}, {2});
  }
  const DataFlow flow = flow_of_hdf5(folder, "file: a.h5, shuffle: false, arrays: {image: x, label: /y/}");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2, 3, 4, 5, 6, 10}, {7, 8, 9, 20}}));
  EXPECT_EQ(flow.spec().str(), "image uint8 [1, ?, 3], label int32 []");
  EXPECT_TRUE(flow.spec()[0].is_image);
  EXPECT_THAT(rejection(folder, "file: a.h5, arrays: {a: x, b: other}"),
              HasSubstr("dataset 'other/c' is float32 []; others of its group are int32 []"));
  {
    const Hdf5Writer file(folder.path("b.h5"));
    for (const char* group : {"x", "y"}) file.group(group);
    file.set("x/a", H5T_STD_I32LE, {}, {1});
    file.set("y/b", H5T_STD_I32LE, {}, {2});
  }
  EXPECT_THAT(
      rejection(folder, "file: b.h5, arrays: {a: x, b: y}"),
      HasSubstr("group 'y' has 'b', where group 'x' has 'a'; groups of samples must have the same names"));
}

TEST(Hdf5, has_no_field_without_effect) {
  const live::Build build = [](const std::string& source) {
    const TempFolder folder;
    for (const std::string name : {"train", "other"}) {
      const Hdf5Writer file(folder.path(name + ".h5"));
      const double first = name == "train" ? 5 : 6;
      file.set("train_set_x", H5T_STD_U8LE, {4, 1}, {first, 7, 8, 9});
      file.set("train_set_y", H5T_STD_U8LE, {4}, {1, 2, 3, first});
    }
    return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
  };
  const live::Component component = {.values = {{"file", "other.h5"}, {"arrays", "{image: train_set_y}"}}};
  const ComponentInfo* info = Registry<Source>::table().find("HDF5");
  ASSERT_NE(info, nullptr);
  const live::Scene scene{build};
  const live::Probe probe(*info, component, scene);
  EXPECT_EQ(probe.base_error(), "");
  EXPECT_TRUE(probe.repeats());
  for (const FieldInfo& field : info->fields())
    EXPECT_TRUE(field.name == "other_files" || probe.is_live(field))
        << probe.dead(field);  // that has a test of its own
}

TEST(Hdf5, notices_a_file_that_becomes_shorter) {
  const TempFolder folder;
  {
    const Hdf5Writer file(folder.path("a.h5"));
    file.set("x", H5T_IEEE_F32LE, {100, 1000}, Numbers(100'000, 1));
  }
  const DataFlow flow = flow_of_hdf5(folder, "file: a.h5, shuffle: false");
  const auto cursor = flow.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  std::filesystem::resize_file(folder.path("a.h5"), 4000);
  const auto read_rest = [&] {
    while (cursor->next(d)) EXPECT_EQ(d.tensor(0).at(999), 1);
  };
  EXPECT_TRUE(fails(read_rest, {"a.h5", "became shorter while it was read"}));
}

TEST(Hdf5, reads_other_files_only_if_that_is_allowed) {
  const TempFolder folder;
  folder.write("secret", Bytes(8, 5));
  {
    const std::lock_guard lock(hdf5_mutex());
    const Handle file(H5Fcreate(folder.path("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      H5Fclose);
    const hsize_t size = 8;
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Handle create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    ASSERT_GE(H5Pset_external(create.get(), folder.path("secret").c_str(), 0, size), 0);
    const Handle set(
        H5Dcreate2(file.get(), "x", H5T_STD_U8LE, space.get(), H5P_DEFAULT, create.get(), H5P_DEFAULT),
        H5Dclose);
    ASSERT_GE(set.get(), 0);
  }
  EXPECT_THAT(rejection(folder, "file: a.h5"), HasSubstr("dataset 'x': has its numbers in other files"));
  EXPECT_EQ(numbers_in(flow_of_hdf5(folder, "file: a.h5, other_files: true")), Numbers(8, 5));
}

}  // namespace
}  // namespace tpack
