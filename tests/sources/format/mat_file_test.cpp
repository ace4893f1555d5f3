#include "sources/format/mat_file.h"

#include <random>

#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"

namespace tpack {
namespace {

Bytes example(bool is_packed, bool is_big) {
  const MatWriter mat(is_big);
  const std::string person = mat.structure(
      "", {"Segmentation", "Boundaries"},
      {mat.numbers("", {2, 3}, {1, 2, 3, 4, 5, 6.5}), mat.numbers("", {2, 3}, {0, 1, 0, 0, 1, 1}, true)});
  return mat_file({mat.numbers("x", {1, 1}, {-1e300}),
                   mat.cell("groundTruth", {person, person, mat.numbers("", {0, 0}, {})})},
                  is_packed, is_big);
}

TEST(MatFile, has_the_arrays_that_were_written) {
  for (const bool is_packed : {false, true}) {
    for (const bool is_big : {false, true}) {
      const Bytes bytes = example(is_packed, is_big);
      EXPECT_TRUE(is_mat_file(bytes));
      const MatFile file = read_mat_file(bytes);
      ASSERT_EQ(file.arrays.size(), 2U);
      EXPECT_EQ(file.arrays[0].name, "x");
      EXPECT_EQ(file.arrays[0].str(), "double [1, 1]");
      EXPECT_EQ(file.arrays[0].at(0), -1e300);
      const MatArray& cells = file.arrays[1];
      EXPECT_EQ(cells.str(), "cell [1, 3]");
      ASSERT_EQ(cells.items.size(), 3U);
      EXPECT_EQ(cells.items[1].str(), "struct [1, 1] with Segmentation, Boundaries");
      const MatArray* const edges = cells.items[1].field("Boundaries");
      ASSERT_NE(edges, nullptr);
      EXPECT_EQ(edges->str(), "logical [2, 3]");
      EXPECT_EQ(edges->numbers, 6);
      EXPECT_EQ(edges->at(1), 1);
      EXPECT_EQ(edges->at(2), 0);
      EXPECT_EQ(cells.items[0].field("Segmentation")->at(5), 6.5);
      EXPECT_EQ(cells.items[0].field("Boundary"), nullptr);
      EXPECT_EQ(cells.items[2].numbers, 0);
    }
  }
}

TEST(MatFile, has_the_texts_that_were_written) {
  for (const bool is_big : {false, true}) {
    const MatWriter mat(is_big);
    const Bytes bytes = mat_file(
        {mat.cell("names", {mat.text("", "caf\xe9"), mat.text("", "")}), mat.bytes("b", {1, 2}, {7, 255})},
        false, is_big);
    const MatFile file = read_mat_file(bytes);
    EXPECT_EQ(file.arrays[0].items[0].str(), "char [1, 4]");
    EXPECT_EQ(file.arrays[0].items[0].text, "caf\xc3\xa9");
    EXPECT_EQ(file.arrays[0].items[1].text, "");
    EXPECT_EQ(file.arrays[1].str(), "uint8 [1, 2]");
    EXPECT_EQ(file.arrays[1].at(1), 255);
  }
}

TEST(MatFile, names_what_is_wrong) {
  const auto error = [](Bytes bytes) { return error_of([&] { read_mat_file(bytes); }); };
  Bytes file = example(false, false);
  file.resize(file.size() - 8);
  EXPECT_EQ(error(file), "damaged MAT file: it ends early");
  file = example(true, false);
  file[file.size() - 20] ^= 0xFFU;
  EXPECT_EQ(error(file), "damaged MAT file: invalid compressed data");
  file = example(false, false);
  file[125] = 2;
  EXPECT_EQ(error(file), "a MAT file of version 7.3, which is HDF5; save it with '-v7'");
  EXPECT_EQ(error({1, 2, 3}), "not a MAT file of MATLAB");
  const MatWriter mat;
  std::string deep = mat.numbers("", {1, 1}, {1});
  for (int i = 0; i < 20; ++i) deep = mat.cell("", {deep});
  EXPECT_EQ(error(mat_file({deep})), "a MAT file with arrays nested deeper than 16 levels");
  EXPECT_EQ(error(mat_file({mat.numbers("x", {2, 2}, {1, 2, 3})})), "damaged MAT file: it ends early");
  EXPECT_TRUE(says(error(mat_file({mat.numbers("x", {2, 1}, {1, 2, 3})})), {"damaged MAT file: ", "size"}));
}

TEST(MatFile, that_is_damaged_is_read_or_an_error) {
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    Bytes file = example(i % 2 == 0, i % 3 == 0);
    const size_t changes = 1 + random() % 3;
    for (size_t k = 0; k < changes; ++k) {
      const size_t at = 124 + random() % (file.size() - 124);
      constexpr std::array<uint8_t, 6> kExtremes = {0, 1, 0x7F, 0x80, 0xFF, 14};
      if (random() % 2 == 0)
        file[at] = kExtremes.at(random() % kExtremes.size());
      else
        file[at] ^= static_cast<uint8_t>(1U << (random() % 8));
    }
    if (random() % 8 == 0) file.resize(1 + random() % file.size());
    try {
      for (const MatArray& array : read_mat_file(file).arrays) array.str();
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace tpack
