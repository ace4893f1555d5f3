#include "comm/background_reducer.h"

#include <thread>

#include <gmock/gmock-matchers.h>

#include "comm/local_group.h"
#include "core/error.h"

namespace tpack {
namespace {

TEST(BackgroundReducer, sums_in_the_order_of_the_starts_in_round_after_round) {
  constexpr int kMembers = 3;
  LocalGroup group(kMembers);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kMembers; ++rank) {
    threads.emplace_back([&group, rank] {
      const auto comm = group.member(rank);
      BackgroundReducer reducer(*comm);
      for (int round = 0; round < 5; ++round) {
        std::vector<Tensor> arrays;
        for (int64_t i = 1; i <= 100; ++i) {
          const DType type = i % 2 == 0 ? DType::kFloat32 : DType::kFloat64;
          arrays.push_back(
              Tensor::of<double>({i}, std::vector<double>(static_cast<size_t>(i), rank + round)).cast(type));
          reducer.start(arrays.back(), "gradients");
        }
        reducer.wait();
        for (const Tensor& array : arrays) {
          for (int64_t i = 0; i < array.elements(); ++i) EXPECT_EQ(array.at(i), 3 * round + 3);
        }
      }
      reducer.wait();  // nothing was started
    });
  }
}

TEST(BackgroundReducer, passes_on_the_error_of_a_sum) {
  LocalGroup group(2, 0.05);
  const auto comm = group.member(0);
  BackgroundReducer reducer(*comm);
  reducer.start(Tensor::zeros({DType::kFloat32, {4}}), "gradients");
  try {
    reducer.wait();
    FAIL();
  } catch (const DistributedError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 0, gradients: no response from rank 1"));
  }
}

TEST(BackgroundReducer, gives_up_what_is_under_way_when_it_ends) {
  LocalGroup group(2);  // that waits for minutes
  const auto comm = group.member(0);
  const auto other = group.member(1);
  {
    BackgroundReducer reducer(*comm);
    reducer.start(Tensor::zeros({DType::kFloat32, {4}}), "gradients");
  }
  std::vector<float> values(4);
  EXPECT_THROW(other->all_reduce_sum(std::span<float>(values), "gradients"), DistributedError);
}

}  // namespace
}  // namespace tpack
