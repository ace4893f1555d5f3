#include "dataflow/sample_key.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(SampleKey, every_part_of_the_key_changes_the_numbers) {
  const SampleKey base{1, {2, 3, 4}, 5};
  std::set<uint64_t> first;
  first.insert(base.rng().next64());
  first.insert(SampleKey{9, {2, 3, 4}, 5}.rng().next64());
  first.insert(SampleKey{1, {9, 3, 4}, 5}.rng().next64());
  first.insert(SampleKey{1, {2, 9, 4}, 5}.rng().next64());
  first.insert(SampleKey{1, {2, 3, 9}, 5}.rng().next64());
  first.insert(SampleKey{1, {2, 3, 4}, 9}.rng().next64());
  first.insert(base.rng(1).next64());
  EXPECT_EQ(first.size(), 7U);
  EXPECT_EQ(base.rng().next64(), SampleKey(base).rng().next64());
}

TEST(SampleKey, neighboring_samples_are_uncorrelated) {
  double sum = 0;
  constexpr int kSamples = 20000;
  for (int64_t i = 0; i < kSamples; ++i) {
    const double a = SampleKey{1, {0, i, 0}, 7}.rng().uniform();
    const double b = SampleKey{1, {0, i + 1, 0}, 7}.rng().uniform();
    sum += (a - 0.5) * (b - 0.5);
  }
  EXPECT_NEAR(sum / kSamples, 0, 4 / 12.0 / std::sqrt(kSamples));  // four standard deviations
}

TEST(SampleId, prints_what_a_message_needs) {
  EXPECT_EQ((SampleId{2, 17, 0}.str()), "sample 17 of pass 2");
  EXPECT_EQ((SampleId{2, 17, 1}.str()), "sample 17 of pass 2, repetition 1");
}

}  // namespace
}  // namespace tpack
