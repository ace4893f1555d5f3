#pragma once

#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/comm.h"

namespace tpack {

/// Numbers whose sum depends on the order: large ones that cancel next to small ones.
template <class T>
std::vector<T> values_of(int rank, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) {
    const T large = rank == 0 ? T(1e8) : (rank == 1 ? T(-1e8) : T(0));
    values[i] = large + T(0.1) * static_cast<T>(i % 97) + static_cast<T>(rank) / T(3);
  }
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void check_sum(Comm& comm, size_t count) {
  std::vector<T> expected = values_of<T>(0, count);
  for (int rank = 1; rank < comm.size(); ++rank) {
    const std::vector<T> values = values_of<T>(rank, count);
    for (size_t i = 0; i < count; ++i) expected[i] += values[i];
  }
  std::vector<T> own = values_of<T>(comm.rank(), count);
  comm.all_reduce_sum(std::span<T>(own), "gradients");
  EXPECT_TRUE(same_bits(own, expected)) << count << " elements on rank " << comm.rank();
}

/// Sums of whole numbers, which are exact in any order.
inline void check_exact_sum(Comm& comm, size_t count) {
  std::vector<float> own(count);
  std::vector<float> expected(count);
  for (size_t i = 0; i < count; ++i) {
    own[i] = static_cast<float>(i % 31 + static_cast<size_t>(comm.rank()));
    expected[i] = static_cast<float>(i % 31 * static_cast<size_t>(comm.size()) +
                                     static_cast<size_t>(comm.size() * (comm.size() - 1) / 2));
  }
  comm.all_reduce_sum(std::span<float>(own), "gradients");
  EXPECT_TRUE(same_bits(own, expected)) << count << " elements on rank " << comm.rank();
}

/// The first member of each process, of `threads` members, has the sum.
inline void check_sum_of_first(Comm& comm, size_t count, int threads) {
  std::vector<float> floats(count, static_cast<float>(comm.rank() + 1));
  std::vector<double> doubles(count, comm.rank() + 1);
  comm.reduce_sum(std::span<float>(floats), "gradients");
  comm.reduce_sum(std::span<double>(doubles), "gradients");
  if (comm.rank() % threads != 0) return;
  const int sum = comm.size() * (comm.size() + 1) / 2;
  EXPECT_EQ(floats, std::vector<float>(count, static_cast<float>(sum))) << "on rank " << comm.rank();
  EXPECT_EQ(doubles, std::vector<double>(count, sum)) << "on rank " << comm.rank();
}

/// Arrays of many sizes, types and stages, which each member gives at moments of its own.
inline void check_sums_that_overlap(Comm& comm) {
  constexpr size_t kSums = 24;
  std::vector<std::vector<float>> floats(kSums);
  std::vector<std::vector<double>> doubles(kSums);
  size_t given = 0;
  int asked = 0;
  const auto next = [&]() -> std::optional<Sum> {
    // Somewhere in the middle a member has nothing to give, which is not the end.
    if (given == kSums || (given > 0 && ++asked % (2 + comm.rank()) != 0)) return std::nullopt;
    const size_t number = given++;
    const size_t count = 1 + (number * 76543) % 400009;
    const char* const stage = number % 8 < 5 ? "gradients" : "statistics";
    const auto value = static_cast<double>(number) + comm.rank();
    if (number % 3 == 1) {
      doubles[number].assign(count, value);
      return Sum{std::span<double>(doubles[number]), stage, Compression::kFp16};  // of floats: means nothing
    }
    floats[number].assign(count, static_cast<float>(value));
    floats[number].back() = 1;
    return Sum{std::span<float>(floats[number]), stage,
               number % 3 == 2 ? Compression::kFp16 : Compression::kNone};
  };
  while (given < kSums) comm.all_reduce_sums(next);
  for (size_t number = 0; number < kSums; ++number) {
    const int sum = comm.size() * static_cast<int>(number) + comm.size() * (comm.size() - 1) / 2;
    for (const double value : doubles[number]) ASSERT_EQ(value, sum) << "array " << number;
    for (size_t i = 0; i + 1 < floats[number].size(); ++i)
      ASSERT_EQ(floats[number][i], static_cast<float>(sum)) << "element " << i << " of array " << number;
    if (!floats[number].empty()) {
      ASSERT_EQ(floats[number].back(), static_cast<float>(comm.size())) << "array " << number;
    }
  }
}

enum class SumOrder : uint8_t { kOfRanks, kFixed };

/// Checks what every kind of group must do.
inline void check_operations(Comm& comm, SumOrder order = SumOrder::kOfRanks) {
  for (const size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 1000U, 100003U}) {
    check_exact_sum(comm, count);
    check_sum_of_first(comm, count, comm.size());
    if (order == SumOrder::kFixed) continue;
    check_sum<float>(comm, count);
    check_sum<double>(comm, count);
  }
  check_sums_that_overlap(comm);
  for (int root = 0; root < comm.size(); ++root) {
    std::vector<int> plan(1000, comm.rank() == root ? 7 + root : -1);
    comm.broadcast(std::as_writable_bytes(std::span(plan)), root, "plan");
    EXPECT_EQ(plan, std::vector<int>(1000, 7 + root));
  }
  comm.broadcast({}, 0, "nothing");
  EXPECT_EQ(comm.agree_max(comm.rank() == comm.size() / 2 ? 5 : -3, "stop"), comm.size() > 0 ? 5 : 0);
  const std::vector<std::string> all =
      comm.all_gather(std::string(static_cast<size_t>(comm.rank()) * 3, 'x'), "hash");
  ASSERT_EQ(all.size(), static_cast<size_t>(comm.size()));
  for (size_t rank = 0; rank < all.size(); ++rank) EXPECT_EQ(all[rank], std::string(rank * 3, 'x'));
  comm.agree_max(0, "end");
}

}  // namespace tpack
