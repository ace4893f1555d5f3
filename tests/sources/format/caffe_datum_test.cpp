#include "sources/format/caffe_datum.h"

#include "core/error.h"
#include "core/rng.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"

namespace tpack {
namespace {

std::string rejection_of_datum(const Bytes& record) {
  return error_of([&] { read_caffe_datum(record); });
}

TEST(CaffeDatum, is_an_array_of_bytes) {
  const Bytes record = pixel_datum(3, 1, 2, {1, 2, 3, 4, 5, 255}, 7);
  const CaffeDatum datum = read_caffe_datum(record);
  EXPECT_EQ(datum.kind, CaffeDatum::Kind::kBytes);
  EXPECT_EQ((Integers{datum.channels, datum.height, datum.width}), (Integers{3, 1, 2}));
  EXPECT_EQ(datum.label, 7);
  EXPECT_EQ((Bytes{datum.bytes.begin(), datum.bytes.end()}), (Bytes{1, 2, 3, 4, 5, 255}));
}

TEST(CaffeDatum, is_an_array_of_floats) {
  const Bytes record = DatumWriter()
                           .number(1, 2)
                           .number(2, 1)
                           .number(3, 1)
                           .floats(6, {0.5F, -3})
                           .number(5, ~uint64_t{0})
                           .record();
  const CaffeDatum datum = read_caffe_datum(record);
  EXPECT_EQ(datum.kind, CaffeDatum::Kind::kFloats);
  EXPECT_EQ((std::vector<float>{datum.floats.begin(), datum.floats.end()}), (std::vector<float>{0.5F, -3}));
  EXPECT_EQ(datum.label, -1);
}

TEST(CaffeDatum, is_an_encoded_image_of_any_size) {
  const CaffeDatum datum = read_caffe_datum(encoded_datum({0xFF, 0xD8}, 3));
  EXPECT_EQ(datum.kind, CaffeDatum::Kind::kEncoded);
  EXPECT_EQ(datum.bytes.size(), 2U);
}

TEST(CaffeDatum, has_as_many_values_as_its_sizes_say) {
  EXPECT_TRUE(says(rejection_of_datum(pixel_datum(3, 2, 2, {1, 2}, 0)), {"[3, 2, 2]", "with 2 values"}));
  EXPECT_THAT(rejection_of_datum(pixel_datum(1, 0, 2, {1}, 0)), testing::HasSubstr("an array of [1, 0, 2]"));
  EXPECT_EQ(rejection_of_datum({}), "a record without data");
  EXPECT_TRUE(says(rejection_of_datum({'h', 'e', 'l', 'l', 'o'}), {"5 bytes", "damaged"}));
  EXPECT_NE(rejection_of_datum(pixel_datum(2147483647, 2147483647, 2147483647, {1}, 0)), "no error");
  EXPECT_NE(rejection_of_datum(pixel_datum(1 << 16, 1 << 16, 1 << 16, {}, 0)), "no error");
}

/// Whatever the bytes are, a record is read, or rejected with a DataError; what it gives lies in its memory.
TEST(CaffeDatum, survives_any_damage) {
  const std::vector<Bytes> good = {
      pixel_datum(3, 2, 2, Bytes(12, 9), 5), encoded_datum(Bytes(20, 7), 1),
      DatumWriter().number(1, 4).number(2, 1).number(3, 1).floats(6, {1, 2, 3, 4}).record()};
  Rng rng(1, 2);
  const auto below = [&rng](size_t bound) { return size_t{rng.below(static_cast<uint32_t>(bound))}; };
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes record = good[below(good.size())];
    for (size_t changes = below(4); changes-- > 0;)
      record[below(record.size())] = static_cast<uint8_t>(below(256));
    if (below(4) == 0) record.resize(below(record.size()));
    try {
      const CaffeDatum datum = read_caffe_datum(record);
      const auto elements = static_cast<size_t>(datum.channels * datum.height * datum.width);
      const bool is_encoded = datum.kind == CaffeDatum::Kind::kEncoded;
      EXPECT_TRUE(is_encoded || elements == datum.bytes.size() + datum.floats.size());
      EXPECT_LE(datum.bytes.size(), record.size());
      EXPECT_LE(datum.floats.size() * 4, record.size());
      ++read;
    } catch (const DataError&) {
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace tpack
