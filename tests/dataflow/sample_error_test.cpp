#include "dataflow/sample_error.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

template <class Thrown>
SampleError wrapped(const Thrown& thrown) {
  try {
    try {
      throw thrown;
    } catch (...) {
      rethrow_with_sample("flip_0", {1, 5, 0});
    }
  } catch (const SampleError& error) {
    return error;
  }
}

TEST(SampleError, keeps_the_kind_and_adds_stage_and_sample) {
  EXPECT_STREQ(wrapped(DataError("broken")).what(), "flip_0, sample 5 of pass 1: broken");
  EXPECT_EQ(wrapped(ResourceError("full")).kind(), ErrorKind::kResource);
  EXPECT_EQ(wrapped(std::runtime_error("odd")).kind(), ErrorKind::kData);
  EXPECT_EQ(wrapped(std::bad_alloc()).kind(), ErrorKind::kResource);
}

TEST(SampleError, the_innermost_stage_counts) {
  const SampleError inner(ErrorKind::kData, "read_0", {0, 2, 0}, "short");
  EXPECT_STREQ(wrapped(inner).what(), "read_0, sample 2 of pass 0: short");
}

}  // namespace
}  // namespace tpack
