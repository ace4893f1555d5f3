#include "comm/grouped_comm.h"

#include <thread>

#include <gmock/gmock-matchers.h>

#include "comm/checks.h"
#include "comm/local_group.h"
#include "core/error.h"

namespace tpack {
namespace {

/// Runs the function as each thread of each process; the processes are threads here, too. What each threw.
std::vector<std::string> run(int processes, int threads, const std::function<void(Comm&)>& act) {
  LocalGroup world(processes);
  std::vector<std::unique_ptr<LocalGroup>> groups;
  std::vector<std::unique_ptr<Comm>> of_process;
  for (int rank = 0; rank < processes; ++rank) {
    groups.push_back(std::make_unique<LocalGroup>(threads));
    of_process.push_back(world.member(rank));
  }
  std::vector<std::string> errors(static_cast<size_t>(processes * threads));
  std::vector<std::jthread> running;
  for (int i = 0; i < processes * threads; ++i) {
    running.emplace_back([&, i] {
      const auto process = static_cast<size_t>(i / threads);
      try {
        const auto local = groups[process]->member(i % threads);
        const auto comm = make_grouped_comm(*local, *of_process[process]);
        EXPECT_EQ(comm->rank(), i);
        act(*comm);
      } catch (const DistributedError& error) {
        errors[static_cast<size_t>(i)] = error.what();
      }
    });
  }
  running.clear();
  return errors;
}

TEST(GroupedComm, does_every_operation) {
  for (const auto& [processes, threads] : {std::pair{2, 2}, {1, 3}, {3, 1}, {2, 3}}) {
    const auto errors = run(processes, threads, [in_process = threads](Comm& comm) {
      check_operations(comm, SumOrder::kFixed);
      check_sum_of_first(comm, 1000, in_process);
    });
    EXPECT_EQ(errors, std::vector<std::string>(static_cast<size_t>(processes * threads)));
  }
}

TEST(GroupedComm, gives_the_same_bits_in_every_run_and_on_every_member) {
  constexpr size_t kCount = 5000;
  std::vector<std::vector<float>> results;
  std::mutex mutex;
  for (int repeat = 0; repeat < 5; ++repeat) {
    run(2, 2, [&](Comm& comm) {
      std::vector<float> values(kCount);
      for (size_t i = 0; i < kCount; ++i)
        values[i] = 1.0F / static_cast<float>(i + 1 + static_cast<size_t>(comm.rank()) * kCount);
      comm.all_reduce_sum(values, "gradients");
      const std::lock_guard lock(mutex);
      results.push_back(values);
    });
  }
  ASSERT_EQ(results.size(), 20U);
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace tpack
