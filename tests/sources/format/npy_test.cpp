#include "sources/format/npy.h"

#include <cmath>

#include "core/error.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"

namespace tpack {
namespace {

NpyArray array_of(const Bytes& file) {
  const auto owner = std::make_shared<const Bytes>(file);
  return {OwnedBytes{*owner, owner}, "x.npy"};
}

Numbers numbers_in(const NpyArray& array) {
  Numbers all;
  for (int64_t i = 0; i < array.samples(); ++i) {
    const Tensor sample(array.spec());
    array.get(i, sample);
    for (int64_t e = 0; e < sample.elements(); ++e) all.push_back(sample.at(e));
  }
  return all;
}

std::string rejection(const Bytes& file) {
  return error_of([&] { numbers_in(array_of(file)); });
}

TEST(NpyArray, converts_types_to_those_of_networks) {
  const NpyArray bytes = array_of(npy_file("|u1", "(2, 2)", {1, 2, 3, 255}));
  EXPECT_EQ(bytes.spec().str(), "uint8 [2]");
  EXPECT_EQ(numbers_in(bytes), (Numbers{1, 2, 3, 255}));
  const NpyArray longs = array_of(npy_file("<i8", "(1,)", {0xFE, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(longs.spec().str(), "int32 []");
  EXPECT_EQ(numbers_in(longs), (Numbers{-2}));
  const NpyArray bools = array_of(npy_file("|b1", "(3,)", {0, 1, 7}));
  EXPECT_EQ(bools.spec().str(), "bool []");
  EXPECT_EQ(numbers_in(bools), (Numbers{0, 1, 1}));
}

/// The table of IEEE 754: 1, -2, the largest, the smallest normal and denormal, infinity, NaN.
TEST(NpyArray, reads_half_precision) {
  const NpyArray halves =
      array_of(npy_file("<f2", "(7,)", {0, 0x3C, 0, 0xC0, 0xFF, 0x7B, 0, 0x04, 1, 0, 0, 0x7C, 0, 0x7E}));
  EXPECT_EQ(halves.spec().str(), "float32 []");
  const Numbers numbers = numbers_in(halves);
  EXPECT_EQ((Numbers{numbers.begin(), numbers.begin() + 5}),
            (Numbers{1, -2, 65504, std::ldexp(1, -14), std::ldexp(1, -24)}));
  EXPECT_TRUE(std::isinf(numbers[5]) && std::isnan(numbers[6]));
}

TEST(NpyArray, brings_fortran_order_to_c_order) {
  // x[i, j, k] = 100 i + 10 j + k of shape (2, 2, 3), with i fastest
  Bytes elements;
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 2; ++i) elements.push_back(static_cast<uint8_t>(100 * i + 10 * j + k));
    }
  }
  const NpyArray array = array_of(npy_file("|u1", "(2, 2, 3)", elements, true));
  EXPECT_EQ(numbers_in(array), (Numbers{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}));
}

TEST(NpyArray, rejects_numbers_that_do_not_fit) {
  EXPECT_TRUE(says(rejection(npy_file("<i8", "(1,)", {0, 0, 0, 0, 1, 0, 0, 0})), {"4294967296", "int32"}));
  EXPECT_TRUE(says(rejection(npy_file("<u4", "(1,)", {255, 255, 255, 255})), {"4294967295", "int32"}));
}

TEST(NpyArray, says_what_it_does_not_read) {
  EXPECT_EQ(rejection({1, 2, 3}), "x.npy: is not an array of NumPy (.npy)");
  EXPECT_THAT(rejection(npy_file("|O", "(1,)", {1})), testing::HasSubstr("type '|O' (objects of Python)"));
  EXPECT_THAT(rejection(npy_file("<U5", "(1,)", {1})), testing::HasSubstr("type '<U5'"));
  EXPECT_THAT(rejection(npy_file(">f4", "(1,)", {1, 2, 3, 4})), testing::HasSubstr("big-endian"));
  EXPECT_THAT(rejection(npy_file("<f4", "()", {1, 2, 3, 4})), testing::HasSubstr("single number"));
  EXPECT_THAT(rejection(npy_file("<f4", "(0, 3)", {})), testing::HasSubstr("has no elements"));
  EXPECT_TRUE(says(rejection(npy_file("<f4", "(2, 3)", {1, 2, 3, 4})), {"x.npy: ", "4 bytes", "24"}));
  EXPECT_THAT(rejection(npy_file("|u1", "(1, 1)", {1, 2})), testing::HasSubstr("too long"));
}

TEST(NpyArray, a_lying_header_costs_no_memory) {
  for (const char* shape :
       {"(9223372036854775807, 9223372036854775807)", "(4294967296, 4294967296)", "(99999999999999999999,)",
        "(-1,)", "(1e9,)", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "(1", "1", "(,)", "(a,)"})
    EXPECT_THROW(array_of(npy_file("|u1", shape, {1})), DataError) << shape;
}

TEST(NpyArray, survives_damage_anywhere) {
  const Bytes good = npy_file("<i4", "(2, 1)", {1, 0, 0, 0, 2, 0, 0, 0});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_THROW(array_of({good.begin(), good.begin() + static_cast<long>(size)}), DataError) << size;
  for (size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bad = good;
      bad[at] = static_cast<uint8_t>(value);
      try {
        EXPECT_LE(numbers_in(array_of(bad)).size(), 8U);
      } catch (const DataError&) {
      }
    }
  }
}

}  // namespace
}  // namespace tpack
