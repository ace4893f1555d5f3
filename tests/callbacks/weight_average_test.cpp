#include "callbacks/weight_average.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

Tensor numbers(std::initializer_list<float> values) {
  Tensor tensor(DType::kFloat32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.span<float>().begin());
  return tensor;
}

TEST(WeightAverage, is_the_plain_mean) {
  WeightAverage average;
  average.add({{"w", numbers({1, -2})}});
  average.add({{"w", numbers({2, 0})}});
  average.add({{"w", numbers({6, 5})}});
  EXPECT_EQ(average.count(), 3);
  EXPECT_FLOAT_EQ(average.values().at("w").span<float>()[0], 3);
  EXPECT_FLOAT_EQ(average.values().at("w").span<float>()[1], 1);
}

TEST(WeightAverage, does_not_change_with_what_it_was_given) {
  WeightAverage average;
  Tensor w = numbers({1});
  average.add({{"w", w}});
  w.span<float>()[0] = 100;
  EXPECT_EQ(average.values().at("w").at(0), 1);
}

TEST(WeightAverage, takes_the_newest_of_integers) {
  WeightAverage average;
  Tensor count(DType::kInt64, {1});
  for (const int64_t value : {4, 9}) {
    count.span<int64_t>()[0] = value;
    average.add({{"count", count}});
  }
  EXPECT_EQ(average.values().at("count").at(0), 9);
}

TEST(WeightAverage, continues_bit_exactly_from_its_state) {
  WeightAverage average;
  for (const float value : {0.1F, 0.7F, 1e-9F}) average.add({{"w", numbers({value})}});
  State state;
  average.save(state);
  WeightAverage other;
  other.load(state);
  for (WeightAverage* one : {&average, &other}) one->add({{"w", numbers({0.3F})}});
  EXPECT_TRUE(bit_equal(average.values().at("w"), other.values().at("w")));
}

}  // namespace
}  // namespace tpack
