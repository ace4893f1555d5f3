#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tpack {

/// Which part each sample is in, by number. Shares sum to 1; part 0 is that of the training. Every sample is
/// in one part, on any machine the same.

/// The samples of a stratum (a class) are spread over the parts in their shares, in random order. The first
/// sample of each stratum is in part 0 if `keeps_first`, so that training has all classes.
std::vector<size_t> stratified_parts(const std::vector<int32_t>& strata, const std::vector<double>& shares,
                                     uint64_t seed, bool keeps_first);

/// Samples of one group are in one part. Large groups find their part first, each the part that lacks most.
std::vector<size_t> grouped_parts(const std::vector<std::string>& groups, const std::vector<double>& shares,
                                  uint64_t seed);

/// Texts as numbers that have their order: their values, or the seconds of dates and times
/// (format/date_text.h). Errors: DataError for a text that is neither.
std::vector<double> order_values(const std::vector<std::string>& order);

/// Part 0 has the first samples of the order, the last part the last. `order`: a text for each sample:
/// numbers, or dates and times (format/date_text.h). Samples of equal order stay in one part: the later
/// one. Errors: DataError for a text that is neither.
std::vector<size_t> ordered_parts(const std::vector<std::string>& order, const std::vector<double>& shares);

/// The part of a sample follows from its key and the seed alone, so that it stays where it is when others
/// come. Sizes are near the shares only.
std::vector<size_t> hashed_parts(const std::vector<std::string>& keys, const std::vector<double>& shares,
                                 uint64_t seed);

}  // namespace tpack
