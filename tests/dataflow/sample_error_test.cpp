#include "dataflow/sample_error.h"

#include <thread>
#include <vector>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "dataflow/bad_samples.h"

namespace tpack {
namespace {

template <class Thrown>
SampleError wrapped(const Thrown& thrown) {
  try {
    try {
      throw thrown;
    } catch (...) {
      rethrow_with_sample({"flip_0", {1, 5, 0}, "a/1.png"});
    }
  } catch (const SampleError& error) {
    return error;
  }
}

TEST(SampleError, keeps_the_kind_and_adds_stage_and_sample) {
  EXPECT_STREQ(wrapped(DataError("broken")).what(), "flip_0, sample 5 of pass 1: a/1.png: broken");
  EXPECT_THAT(wrapped(FileError("b.png", "broken")).what(),
              testing::StartsWith("flip_0, sample 5 of pass 1: b.png: broken; to skip such files, "));
  EXPECT_EQ(wrapped(ResourceError("full")).kind(), ErrorKind::kResource);
  EXPECT_EQ(wrapped(std::runtime_error("odd")).kind(), ErrorKind::kData);
  EXPECT_EQ(wrapped(std::bad_alloc()).kind(), ErrorKind::kResource);
}

TEST(SampleError, begins_with_the_position_of_the_part_or_the_component) {
  const auto file = std::make_shared<const std::string>("train.yaml");
  const auto text = [&](const auto& thrown) -> std::string {
    try {
      try {
        throw thrown;
      } catch (...) {
        rethrow_with_sample({"flip_0", {0, 5, 0}, "", {file, 7, 3}});
      }
    } catch (const SampleError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(text(DataError("broken")), "train.yaml:7:3: flip_0, sample 5 of pass 0: broken");
  EXPECT_EQ(text(PartError({file, 9, 11}, "a/1.png", "small")),
            "train.yaml:9:11: flip_0, sample 5 of pass 0: a/1.png: small");
}

TEST(SampleError, the_innermost_stage_counts) {
  const SampleError inner(ErrorKind::kData, {"read_0", {0, 2, 0}}, "short");
  EXPECT_STREQ(wrapped(inner).what(), "read_0, sample 2 of pass 0: short");
}

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
