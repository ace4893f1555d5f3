#include "parallel/tower_threads.h"

#include <atomic>
#include <set>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "system/machine.h"

namespace tpack {
namespace {

using testing::ElementsAre;

const std::function<void(size_t)> kNoErrors = [](size_t /*tower*/) {};

TEST(TowerThreads, run_the_work_of_each_tower_side_by_side) {
  TowerThreads threads({{}, {}, {}});
  std::atomic<int> here = 0;
  std::vector<std::thread::id> ids(3);
  threads.run(
      [&](size_t k) {
        ++here;
        while (here < 3) std::this_thread::yield();  // ends only if all run at the same time
        ids[k] = std::this_thread::get_id();
      },
      kNoErrors);
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3U);
}

TEST(TowerThreads, a_tower_stays_on_its_thread) {
  TowerThreads threads({{}, {}});
  std::vector<std::thread::id> first(2);
  std::vector<std::thread::id> later(2);
  threads.run([&](size_t k) { first[k] = std::this_thread::get_id(); }, kNoErrors);
  for (int i = 0; i < 100; ++i)
    threads.run([&](size_t k) { later[k] = std::this_thread::get_id(); }, kNoErrors);
  EXPECT_EQ(first, later);
}

TEST(TowerThreads, a_tower_runs_on_its_own_processors) {
  const std::vector<int> all = allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "this machine gives one processor";
  TowerThreads threads(divide_processors(all, 2));
  std::vector<std::vector<int>> where(2);
  threads.run([&](size_t k) { where[k] = allowed_cpus(); }, kNoErrors);
  EXPECT_EQ(where, divide_processors(all, 2));
  EXPECT_EQ(allowed_cpus(), all);  // the caller's stay
}

TEST(TowerThreads, one_tower_needs_no_thread) {
  TowerThreads threads(std::vector<std::vector<int>>(1));
  std::thread::id id;
  threads.run([&](size_t) { id = std::this_thread::get_id(); }, kNoErrors);
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(TowerThreads, the_first_error_is_thrown_once_all_are_done) {
  TowerThreads threads({{}, {}});
  std::atomic<bool> failed = false;
  const auto work = [&](size_t k) {
    if (k == 1) throw DataError("broken");
    while (!failed) std::this_thread::yield();  // waits for the other, as in an all-reduce
    throw DistributedError("the other failed");
  };
  EXPECT_THROW(threads.run(work, [&](size_t) { failed = true; }), DataError);
  int count = 0;
  const auto count_first = [&](size_t k) {
    if (k == 0) ++count;
  };
  threads.run(count_first, kNoErrors);  // and they work again
  EXPECT_EQ(count, 1);
}

TEST(DivideProcessors, gives_each_tower_as_many_of_its_own) {
  EXPECT_THAT(divide_processors({0, 2, 4}, 2), ElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_THAT(divide_processors({0, 1, 2, 3, 6, 7, 8}, 3),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(6, 7)));
  EXPECT_THAT(divide_processors({5, 9}, 1), ElementsAre(ElementsAre(5, 9)));
}

TEST(DivideProcessors, rejects_more_towers_than_processors) {
  EXPECT_THROW(divide_processors({0, 1}, 3), ResourceError);
}

TEST(ThreadsOfEachTower, are_as_many_as_the_smallest_share_and_at_least_one) {
  EXPECT_EQ(threads_of_each_tower(3, 2), 1);
  EXPECT_EQ(threads_of_each_tower(64, 1), 64);
  EXPECT_EQ(threads_of_each_tower(2, 2), 1);  // a quota of two of 64 processors
  EXPECT_EQ(threads_of_each_tower(1, 4), 1);
}

}  // namespace
}  // namespace tpack
