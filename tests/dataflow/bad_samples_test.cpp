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
  EXPECT_EQ(bad.count(), 200);
  EXPECT_EQ(called, 200);
}

}  // namespace
}  // namespace tpack
