#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tpack {

/// The part of each sample, by number. Shares sum to 1; part 0 is for training. Every sample is in one part,
/// the same on any machine.

/// The samples of a stratum (a class) are spread over the parts in their shares, in random order. The first
/// sample of each stratum is in part 0 if `keeps_first`, so that training has all classes.
std::vector<size_t> stratified_parts(const std::vector<int32_t>& strata, const std::vector<double>& shares,
                                     uint64_t seed, bool keeps_first);

/// Samples of one group are in one part. Large groups are assigned first, each to the part that is furthest
/// below its share.
std::vector<size_t> grouped_parts(const std::vector<std::string>& groups, const std::vector<double>& shares,
                                  uint64_t seed);

/// Texts as numbers with the same order: their values, or the seconds of dates and times (table/date_text.h).
/// Errors: DataError for a text that is neither.
std::vector<double> order_values(const std::vector<std::string>& order);

/// Part 0 gets the first samples of the order, the last part the last ones. `order`: a text for each sample:
/// numbers, or dates and times (table/date_text.h). Samples of equal order stay in one part: the later one.
/// Errors: DataError for a text that is neither.
std::vector<size_t> ordered_parts(const std::vector<std::string>& order, const std::vector<double>& shares);

/// The part of a sample depends only on its key and the seed, so that it does not change when samples are
/// added. Sizes match the shares only approximately.
std::vector<size_t> hashed_parts(const std::vector<std::string>& keys, const std::vector<double>& shares,
                                 uint64_t seed);

}  // namespace tpack
