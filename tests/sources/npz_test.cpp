#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "support/live_fields.h"
#include "support/python.h"

namespace tpack {
namespace {

DataFlow flow_of_npz(const TempFolder& folder, const std::string& params) {
  return folder.flow("[{Npz: {shuffle: false, " + params + "}}]");
}

/// The numbers of the first component.
Numbers first_numbers(const DataFlow& flow, const Pass& pass = {}) {
  Numbers all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);)
    for (int64_t e = 0; e < d.tensor(0).elements(); ++e) all.push_back(d.tensor(0).at(e));
  return all;
}

Bytes two_arrays() {
  Bytes images(std::size_t{3 * 2 * 2});
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<uint8_t>(i);
  return zip_file({{"x.npy", npy_file("|u1", "(3, 2, 2)", images), true},
                   {"y.npy", npy_file("<i2", "(3,)", {1, 0, 2, 0, 3, 0})}});
}

TEST(Npz, names_the_kind_of_another_file) {
  const TempFolder folder;
  const std::string hdf5 = folder.write("a.npz", {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n', 0});
  folder.write_text("b.npz", "a,b\n");
  expect_errors(
      [&](const std::string& file) { flow_of_npz(folder, "file: " + file).prepare(); },
      {{"a.npz", {hdf5 + ": is an HDF5 file", "numpy.savez"}}, {"b.npz", {"is text", "source CSV"}}});
}

TEST(Npz, gives_all_arrays_or_those_that_are_chosen) {
  const TempFolder folder;
  folder.write("a.npz", two_arrays());
  const DataFlow all = flow_of_npz(folder, "file: a.npz");
  EXPECT_FALSE(all.knows_spec());
  all.prepare();
  EXPECT_EQ(all.spec().str(), "x uint8 [2, 2, 1], y int32 []");
  EXPECT_TRUE(all.spec()[0].is_image) << "a gray image";
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(first_numbers(all), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const DataFlow chosen = flow_of_npz(folder, "file: a.npz, arrays: {label: y, image: x}");
  chosen.prepare();
  EXPECT_EQ(chosen.spec().str(), "label int32 [], image uint8 [2, 2, 1]");
  EXPECT_EQ(first_numbers(chosen), (Numbers{1, 2, 3}));
  EXPECT_EQ(first_numbers(chosen, {.position = 1}), (Numbers{2, 3}));
}

TEST(Npz, reads_npy_files_under_their_own_name) {
  const TempFolder folder;
  folder.write("points.npy", npy_file("<f4", "(2, 1)", {0, 0, 128, 63, 0, 0, 0, 64}));
  const DataFlow flow = flow_of_npz(folder, "file: points.npy");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "points float32 [1]");
  EXPECT_EQ(first_numbers(flow), (Numbers{1, 2}));
}

TEST(Npz, says_what_does_not_fit) {
  const TempFolder folder;
  folder.write("a.npz", two_arrays());
  folder.write("b.npz", zip_file({{"x_train.npy", npy_file("|u1", "(3,)", {1, 2, 3})},
                                  {"x_test.npy", npy_file("|u1", "(2,)", {1, 2})}}));
  folder.write("c.npz", zip_file({{"x.npy", npy_file("|O", "(1,)", {1})}}));
  folder.write("none.npz", zip_file({}));
  expect_errors([&](const std::string& params) { flow_of_npz(folder, "file: " + params).prepare(); },
                {{"a.npz, arrays: {image: xs}", {"flow.yaml:1:", "'xs'; did you mean 'x'?", "has x, y"}},
                 {"b.npz", {"different numbers of samples (x_train 3, x_test 2)"}},
                 {"c.npz", {"c.npz: array 'x': has elements of type '|O'"}},
                 {"none.npz", {"has no arrays"}},
                 {"absent.npz", {"no such file"}}});
}

TEST(Npz, a_number_that_does_not_fit_is_a_bad_sample) {
  const TempFolder folder;
  Bytes numbers(16, 0);
  numbers[12] = 1;  // the second one is 2^32
  folder.write("y.npy", npy_file("<i8", "(2,)", numbers));
  const DataFlow flow = flow_of_npz(folder, "file: y.npy");
  EXPECT_TRUE(fails([&] { first_numbers(flow); },
                    {"npz_0, sample 1 of pass 0: " + folder.path("y.npy") + "[1]: array 'y'", "4294967296"}));
}

/// 1,700,000,001 as double is 41 D9 54 FC 40 40 00 00.
TEST(Npz, says_which_whole_numbers_are_rounded) {
  const TempFolder folder;
  folder.write("t.npy", npy_file("<f8", "(1,)", {0, 0, 0x40, 0x40, 0xFC, 0x54, 0xD9, 0x41}));
  const DataFlow flow = flow_of_npz(folder, "file: t.npy");
  EXPECT_THAT(first_numbers(flow), testing::ElementsAre(testing::Not(1700000001.0)));
  EXPECT_TRUE(says(remarks_of(flow).at(0), {"array 't'", "1700000001", "subtract an offset"}));
  folder.write("t.npy", npy_file("<f8", "(1,)", {0, 0, 0, 0, 0, 0, 0x70, 0x41}));  // 2^24
  const DataFlow exact = flow_of_npz(folder, "file: t.npy");
  exact.prepare();
  EXPECT_THAT(remarks_of(exact), testing::IsEmpty());
}

TEST(Npz, reads_what_numpy_writes) {
  const TempFolder folder;
  const PythonResult written = run_python("python/write_npz.py", folder.path());
  if (!written.missing.empty()) GTEST_SKIP() << written.missing;
  ASSERT_EQ(written.exit_code, 0) << written.output;
  Numbers count(24);
  for (size_t i = 0; i < count.size(); ++i) count[i] = static_cast<double>(i);
  for (const std::string file : {"stored.npz", "packed.npz"}) {
    const DataFlow all = flow_of_npz(folder, "file: " + file);
    all.prepare();
    EXPECT_EQ(all.spec().size(), 14U);
    for (const ComponentSpec& component : all.spec()) {
      const DataFlow one = flow_of_npz(folder, "file: " + file + ", arrays: {a: " + component.name + "}");
      Numbers expected = count;
      if (component.name == "labels") expected = {3, -1, 2, 0};
      if (component.name == "bool")
        for (size_t i = 0; i < 24; ++i) expected[i] = static_cast<double>(i % 2);
      EXPECT_EQ(first_numbers(one), expected) << file << " " << component.name;
    }
  }
  EXPECT_EQ(first_numbers(flow_of_npz(folder, "file: plain.npy")), count);
  EXPECT_EQ(first_numbers(flow_of_npz(folder, "file: version2.npy")), count);
  Numbers transposed;
  for (int column = 0; column < 4; ++column)
    for (int row = 0; row < 6; ++row) transposed.push_back(4 * row + column);
  EXPECT_EQ(first_numbers(flow_of_npz(folder, "file: transposed.npy")), transposed);
}

/// The flow of a source in a folder with two archives.
std::string content_with_arrays(const std::string& source) {
  const TempFolder folder;
  for (const std::string name : {"mnist", "other"}) {
    const uint8_t first = name == "mnist" ? 5 : 6;
    folder.write(name + ".npz", zip_file({{"x_train.npy", npy_file("|u1", "(4, 1)", {first, 7, 8, 9})},
                                          {"y_train.npy", npy_file("|u1", "(4,)", {1, 2, 3, first})}}));
  }
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kNpz("source", "Npz",
                        {.values = {{"file", "other.npz"}, {"arrays", "{image: y_train}"}},
                         .build = content_with_arrays});

TEST(Npz, names_of_arrays_are_unique) {
  const TempFolder folder;
  const Bytes array = npy_file("|u1", "(2,)", {1, 2});
  const std::string file = folder.write("a.npz", zip_file({{"x.npy", array}, {"x.npy", array}}));
  EXPECT_THAT(error_of([&] { flow_of_npz(folder, "file: a.npz").prepare(); }),
              testing::HasSubstr(file + ": has two arrays named 'x'"));
}

TEST(Npz, notices_a_file_that_changes) {
  const TempFolder folder;
  const std::string file = folder.write("a.npy", npy_file("|u1", "(90000, 2)", Bytes(180'000, 7)));
  const DataFlow flow = flow_of_npz(folder, "file: a.npy");
  EXPECT_EQ(first_numbers(flow), Numbers(180'000, 7));
  const std::string next = folder.write("next.npy", npy_file("|u1", "(90000, 2)", Bytes(180'000, 8)));
  std::filesystem::rename(next, folder.path("b.npy"));
  const DataFlow replaced = flow_of_npz(folder, "file: b.npy");
  replaced.prepare();
  folder.write("next.npy", npy_file("|u1", "(3, 2)", Bytes(6, 9)));
  std::filesystem::rename(next, folder.path("b.npy"));
  EXPECT_EQ(first_numbers(replaced, {.pass = 1}), Numbers(180'000, 8)) << "the old file is still open";
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds(5));
  EXPECT_TRUE(fails([&] { first_numbers(flow, {.pass = 1}); }, {file + ": changed since it was opened"}));
  EXPECT_TRUE(fails([&] { first_numbers(flow); }, {file + ": changed since it was opened"}))
      << "validations read pass 0 again";
  EXPECT_TRUE(fails([&] { flow.stream({}); }, {file + ": changed since it was opened"}));

  const DataFlow again = flow_of_npz(folder, "file: a.npy");
  const auto cursor = again.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  std::filesystem::resize_file(file, 4096);  // the rest of a page would be zeros
  const auto read_rest = [&] {
    while (cursor->next(d)) EXPECT_EQ(d.tensor(0).at(0), 7);
  };
  EXPECT_TRUE(fails(read_rest, {file + ": changed while it was read"}));
}

}  // namespace
}  // namespace tpack
