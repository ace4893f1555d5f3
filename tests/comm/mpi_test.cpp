// ctest runs these tests as ranks under mpirun (see CMakeLists.txt); without it they are skipped.
#include "comm/mpi.h"

#include <cstdlib>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include "comm/checks.h"
#include "core/error.h"
#include "support/mpi_world.h"
#include "support/temporary_folder.h"
#include "system/log.h"

namespace tpack {
namespace {

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!started_by_mpirun()) GTEST_SKIP() << "not started by mpirun (or built without MPI)";
  }
};

TEST_F(Mpi, does_every_operation) {
  EXPECT_EQ(std::to_string(MpiWorld::comm().size()), std::getenv("OMPI_COMM_WORLD_SIZE"));
  check_operations(MpiWorld::comm());
}

TEST_F(Mpi, reduces_more_than_one_block) {
  check_sum<double>(MpiWorld::comm(), (size_t{16} << 20U) / 8 + 12345);
}

TEST_F(Mpi, gives_the_same_bits_in_every_run_and_on_every_rank) {
  std::vector<float> first;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<float> values = values_of<float>(MpiWorld::comm().rank(), 5000);
    MpiWorld::comm().all_reduce_sum(values, "gradients");
    if (repeat == 0) first = values;
    EXPECT_TRUE(same_bits(values, first));
  }
  const std::string bytes(reinterpret_cast<const char*>(first.data()), first.size() * sizeof(float));
  for (const std::string& other : MpiWorld::comm().all_gather(bytes, "compare")) EXPECT_EQ(other, bytes);
}

TEST_F(Mpi, sends_half_of_the_bytes_if_they_are_compressed) {
  Comm& comm = MpiWorld::comm();
  constexpr size_t kCount = (size_t{16} << 20U) / 4 + 12345;  // more than one block
  for (const Compression compression : {Compression::kNone, Compression::kFp16, Compression::kBf16}) {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i)
      values[i] = static_cast<float>(i % 7) + static_cast<float>(comm.rank());
    const uint64_t before = comm.bytes_sent();
    comm.all_reduce_sum(std::span<float>(values), "gradients", compression);
    const auto ranks = static_cast<double>(comm.size());
    const double element = compression == Compression::kNone ? 4 : 2;
    EXPECT_NEAR(static_cast<double>(comm.bytes_sent() - before), 2 * (ranks - 1) / ranks * element * kCount,
                1000);
    for (size_t i = 0; i < kCount; ++i) {  // small whole numbers are exact in 16 bits
      const float expected = static_cast<float>(comm.size()) * static_cast<float>(i % 7) +
                             static_cast<float>(comm.size() * (comm.size() - 1) / 2);
      ASSERT_EQ(values[i], expected) << i;
    }
  }
}

TEST_F(Mpi, gives_all_ranks_the_same_rounded_sum) {
  for (const Compression compression : {Compression::kFp16, Compression::kBf16}) {
    std::vector<float> values(5000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1.0F / static_cast<float>(i + 1 + static_cast<size_t>(MpiWorld::comm().rank()));
    MpiWorld::comm().all_reduce_sum(std::span<float>(values), "gradients", compression);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    for (const std::string& other : MpiWorld::comm().all_gather(bytes, "compare")) EXPECT_EQ(other, bytes);
    float expected = 0;
    for (int rank = 0; rank < MpiWorld::comm().size(); ++rank)
      expected += 1.0F / static_cast<float>(1000 + rank + 1);
    EXPECT_NEAR(values[1000], expected, 0.01 * expected);
  }
}

TEST_F(Mpi, cannot_be_started_twice) {
  MpiWorld::comm();
  EXPECT_THROW(make_mpi_comm(1), DistributedError);
}

/// Ends all ranks after the error, as the program does: the others may still be waiting.
void expect_error_and_end(const std::function<void()>& act) {
  try {
    act();
    std::cout << "no error" << std::endl;
  } catch (const DistributedError& error) {
    std::cout << error.what() << std::endl;
  }
  abort_world(static_cast<int>(ErrorKind::kDistributed));
}

TEST(SilentRank, DISABLED_is_named_after_the_time_out) {
  Comm& comm = MpiWorld::comm(5);  // long enough for the others to arrive if processors are few
  comm.agree_max(0, "start");
  if (comm.rank() == 2) return;
  expect_error_and_end([&] { comm.agree_max(0, "lonely"); });
}

TEST(BusyRank, DISABLED_is_waited_for) {
  Comm& comm = MpiWorld::comm(5);
  const TemporaryFolder folder;
  const std::string log = comm.all_gather(folder / "log.txt", "start")[0];
  if (comm.rank() == 0) log::to_file(log);
  comm.agree_max(0, "begin");
  comm.set_timeout(2);
  if (comm.rank() == 2) {
    const ScopedActivity busy(comm, "a long save");
    while (content_of(log).find("rank 2 is still busy with a long save; still waiting") == std::string::npos)
      std::this_thread::yield();
  }
  EXPECT_EQ(comm.agree_max(comm.rank(), "stop"), 2);
  for (int i = 0; i < 100; ++i) const ScopedActivity busy(comm, "short ones");
  std::vector<float> values(1000, 1);
  comm.all_reduce_sum(values, "gradients");
  EXPECT_EQ(values[999], 3);
  log::close_file();
}

TEST(Disagreement, DISABLED_is_found_by_the_sizes) {
  Comm& comm = MpiWorld::comm(5);
  std::vector<float> values(comm.rank() == 0 ? 64 : 32);
  if (comm.rank() == 0) {
    expect_error_and_end([&] { comm.all_reduce_sum(values, "gradients"); });
  }
  EXPECT_THROW(comm.all_reduce_sum(values, "gradients"), DistributedError);
}

TEST(Disagreement, DISABLED_is_found_by_the_stages) {
  Comm& comm = MpiWorld::comm(5);
  const char* stage = comm.rank() == 0 ? "the next batch" : "the stop signal";
  if (comm.rank() == 0) expect_error_and_end([&] { comm.agree_max(0, stage); });
  EXPECT_THROW(comm.agree_max(0, stage), DistributedError);
}

// One rank waits for an array, the others vote: none of these messages meet.
TEST(Disagreement, DISABLED_is_found_by_asking) {
  Comm& comm = MpiWorld::comm(5);
  std::vector<float> values(64);
  if (comm.rank() == 0)
    expect_error_and_end([&] { comm.all_reduce_sum(std::span<float>(values), "gradients"); });
  EXPECT_THROW(comm.agree_max(0, "the stop signal"), DistributedError);
}

}  // namespace
}  // namespace tpack
