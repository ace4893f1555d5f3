#include "image/pixel_memory.h"

#include <thread>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>

#include "support/allocation_counter.h"

namespace tpack {
namespace {

TEST(PixelMemory, is_used_again_by_the_same_thread) {
  const void* first = pooled_mat(100, 100, CV_8UC3).data;
  EXPECT_EQ(pooled_mat(100, 90, CV_8UC3).data, first);
}

TEST(PixelMemory, work_on_one_image_after_the_other_asks_for_nothing_large) {
  if (!allocations_are_counted()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  const auto work = [] {
    cv::Mat a = pooled_mat(300, 200, CV_8UC3);
    a.setTo(7);
    cv::Mat b = pooled_mat();
    cv::flip(a, b, 1);
    a = b(cv::Rect(10, 10, 100, 100));
  };
  work();
  reset_allocations();
  for (int i = 0; i < 10; ++i) work();
  EXPECT_EQ(allocations().large, 0);
}

TEST(PixelMemory, images_outlive_the_thread_that_made_them) {
  cv::Mat made;
  std::thread([&] {
    made = pooled_mat(50, 50, CV_8U);
    made.setTo(9);
  }).join();
  EXPECT_EQ(made.at<uint8_t>(49, 49), 9);
  made.release();
}

TEST(PixelMemory, steps_and_type_are_those_of_opencv) {
  const cv::Mat mat = pooled_mat(3, 5, CV_8UC3);
  EXPECT_EQ(mat.step[0], 15U);
  EXPECT_TRUE(mat.isContinuous());
  EXPECT_EQ(mat.total(), 15U);
}

}  // namespace
}  // namespace tpack
