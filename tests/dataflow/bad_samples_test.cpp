#include "dataflow/bad_samples.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(BadSamples, counts_and_calls_back_from_any_thread) {
  BadSamples bad;
  int called = 0;
  bad.on_bad_sample([&](const SampleError& error) { called += error.place().id.index == 7 ? 1 : 100; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) bad.report({ErrorKind::kData, {"x_0", {0, 7, 0}}, "broken"});
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bad.count(), 1) << "the same sample each time";
  EXPECT_EQ(called, 1);
}

TEST(BadSamples, counts_a_sample_once_in_all_passes) {
  BadSamples bad;
  for (int64_t pass = 0; pass < 3; ++pass)
    for (int64_t index = 4; index < 6; ++index)
      bad.report({ErrorKind::kData, {"x_0", {pass, index, 0}, "a.csv"}, "broken"});
  EXPECT_EQ(bad.count(), 2);
}

}  // namespace
}  // namespace tpack
