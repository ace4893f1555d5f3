#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace tpack {

/// How the parts of a statistic add up over batches and towers, and what number they make. The parts are the
/// elements of its sum in order, then its weight; zeros at first.
struct Accumulation {
  /// Adds the parts of one more batch.
  void (*add)(std::span<double> total, std::span<const double> batch);
  double (*value)(std::span<const double> total);
};

/// One number divided by the weight; both are added.
extern const Accumulation kRatio;
/// As kRatio, but 0 where the weight is 0: a share of nothing.
extern const Accumulation kShare;

/// A named figure of one batch, which adds up exactly over batches of any size.
struct Statistic {
  std::string name;
  Symbol sum;             // one number for kRatio, any shape otherwise
  Symbol weight;          // one number
  std::string cost = {};  // the cost that this is, or is a term of; empty for a metric
  const Accumulation* accumulation = &kRatio;
};

/// The total of a statistic. Threads: one at a time.
class Tally {
 public:
  explicit Tally(const Statistic& statistic);

  void clear();
  /// Adds what a program fetched for one batch; allocates nothing.
  void add(const Tensor& sum, const Tensor& weight);
  /// Adds the total of the same statistic over other batches.
  void add(const Tally& other);
  /// 0 if nothing was added.
  double weight() const { return total_.back(); }
  /// Of a weight of 0, what the accumulation says of nothing: usually not a number.
  double value() const;
  /// To store the total, and to go on from it.
  const std::vector<double>& parts() const { return total_; }
  /// Ignored if it is of another statistic: it has another number of parts.
  void set_parts(const std::vector<double>& parts);

 private:
  const Accumulation* accumulation_;
  std::vector<double> total_;
  std::vector<double> batch_;
};

}  // namespace tpack
