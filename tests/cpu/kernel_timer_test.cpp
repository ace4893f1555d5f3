#include "backend/engine/kernel_timer.h"

#include <string>

#include <gtest/gtest.h>

#include "cpu/library.h"
#include "cpu/team.h"
#include "graph/builder.h"
#include "ops/convolution.h"

namespace tpack::cpu {
namespace {

class KernelTimerTest : public testing::Test {
 protected:
  KernelRequest convolution_of(int64_t images, int64_t channels, int64_t size, const char* algorithm,
                               Layout layout, int pieces = 1) {
    const std::string number = std::to_string(graph_.size());
    const Symbol x = b_.input("x" + number, {DType::kFloat32, {images, channels, size, size}});
    const Symbol w = b_.input("w" + number, {DType::kFloat32, {channels, channels, 3, 3}});
    return {*convolution(b_, x, w, {.padding = {1, 1, 1, 1}}).node, layout, algorithm, pieces};
  }
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Team team_{1};
  std::unique_ptr<KernelLibrary> library_ = make_library();
  KernelTimer timer_{*library_, host_memory()};
};

TEST_F(KernelTimerTest, runs_kernels) {
  auto timed = timer_.prepare(convolution_of(2, 32, 8, "direct", Layout::kNhwc), team_);
  ASSERT_TRUE(timed);
  EXPECT_GT(timed->run().seconds, 0);
  EXPECT_EQ(timed->share, 1);
}

TEST_F(KernelTimerTest, has_no_way_that_this_cpu_lacks) {
  EXPECT_FALSE(timer_.prepare(convolution_of(2, 32, 8, "winograd", Layout::kNhwc), team_));
}

TEST_F(KernelTimerTest, runs_a_part_of_a_large_batch) {
  const KernelRequest large = convolution_of(64, 16, 224, "direct", Layout::kNhwc);
  auto timed = timer_.prepare(large, team_);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->share, static_cast<double>(images_to_time(large)) / 64);
  EXPECT_LT(timed->share, 1);
  EXPECT_GT(timed->run().seconds, 0);
}

/// 2 * 9 * 16 * 16 * 224 * 224 FLOPs are 0.23e9 for an image: 9 of them for 2e9, and so many for each thread.
TEST_F(KernelTimerTest, takes_as_many_images_for_each_thread) {
  EXPECT_EQ(images_to_time(convolution_of(64, 16, 224, "direct", Layout::kNhwc)), 2);
  EXPECT_EQ(images_to_time(convolution_of(64, 16, 224, "direct", Layout::kNhwc, 4)), 8);
  EXPECT_EQ(images_to_time(convolution_of(4, 16, 224, "direct", Layout::kNhwc, 4)), 4) << "the whole batch";
}

/// Weights of 9.4 MB, images of 0.05 MB: what is done once with the weights would look too expensive.
TEST_F(KernelTimerTest, takes_more_images_where_weights_are_large) {
  const double for_work = 4e8 / (2.0 * 9 * 512 * 512 * 5 * 5);  // 3
  const double for_weights = 9 * 512 / (2.0 * 5 * 5);           // as many bytes of images: 92
  ASSERT_GT(for_weights, for_work);
  const int64_t images = images_to_time(convolution_of(4096, 512, 5, "direct", Layout::kNhwc));
  EXPECT_NEAR(static_cast<double>(images), for_weights, 2) << "the next even number";
}

}  // namespace
}  // namespace tpack::cpu
