#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/field.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace tpack {

/// Whether lower or higher values of a statistic are better.
enum class Goal : uint8_t { kMin, kMax };
template <>
struct EnumNames<Goal> {
  static constexpr std::array<std::pair<const char*, Goal>, 2> kNames = {
      {{"min", Goal::kMin}, {"max", Goal::kMax}}};
};
/// "min" and "max".
const char* goal_name(Goal goal);
/// "lower values of 'cost' are better".
std::string goal_text(Goal goal, const std::string& statistic);
/// True if `a` is better than `b`. NaN is worse than every number.
bool is_better(double a, double b, Goal goal);

/// Statistics by name, each with its goal where that is known.
using StatisticGoals = std::map<std::string, std::optional<Goal>>;
std::vector<std::string> names_of(const StatisticGoals& statistics);

/// How the parts of a statistic add up over batches and towers, and how its number is computed. The parts are
/// the elements of its sum in order, then its weight; zeros at first. Threads: const.
class Accumulation {
 public:
  virtual ~Accumulation() = default;
  /// Adds the parts of other batches; by default element by element.
  virtual void add(std::span<double> total, std::span<const double> more) const;
  virtual double value(std::span<const double> total) const = 0;
  /// False if there is nothing to measure, so that `value` is only a convention: a training step then has no
  /// value.
  virtual bool has_value(std::span<const double> total) const { return total.back() != 0; }
  /// True: the sum is a row of values for each sample [N, ...], and its weight N. Rows are appended instead
  /// of added, so the parts are those of all samples (8 bytes for each value), then their number; empty at
  /// first. `value` must not depend on the order of the rows.
  virtual bool gathers() const { return false; }
};

/// One number divided by the weight.
std::shared_ptr<const Accumulation> ratio();
/// As ratio, but 0 if the weight is 0.
std::shared_ptr<const Accumulation> share();
/// The sum of several means over different numbers of losses. The sum has all numerators, then all
/// denominators; a mean over no losses adds 0.
std::shared_ptr<const Accumulation> sum_of_means();

/// A named figure of one batch, which adds up exactly over batches of any size.
struct Statistic {
  std::string name;
  Symbol sum;             // one number for a ratio, any shape otherwise
  Symbol weight;          // one number
  std::string cost = {};  // the cost that this is, or is a term of; empty for a metric
  std::shared_ptr<const Accumulation> accumulation = ratio();
  std::optional<Goal> goal = {};  // of a metric, if known
  std::string form = {};          // the meaning of its number, for a metric with several definitions in use

  /// A cost is minimized.
  std::optional<Goal> known_goal() const { return cost.empty() ? goal : Goal::kMin; }
};

/// The total of a statistic. Threads: one at a time.
class Tally {
 public:
  explicit Tally(const Statistic& statistic);
  /// A number of counts, which add up element by element and have no value.
  explicit Tally(size_t counts);

  void clear();
  /// Adds what a program fetched for one batch; allocates nothing, unless the statistic gathers rows.
  void add(const Tensor& sum, const Tensor& weight);
  /// Adds counts.
  std::span<double> counts() { return total_; }
  /// Adds the total of the same statistic over other batches.
  void add(const Tally& other);
  /// 0 if nothing was added.
  double weight() const { return total_.back(); }
  /// For a weight of 0, the accumulation decides: usually not a number.
  double value() const;
  /// False if there was nothing to measure.
  bool has_value() const { return accumulation_->has_value(total_); }
  /// To store the total, and to continue from it.
  const std::vector<double>& parts() const { return total_; }
  /// Ignored if it has a different number of parts, so is from another statistic.
  void set_parts(const std::vector<double>& parts);

 private:
  void append(std::span<const double> rows, double count);

  std::shared_ptr<const Accumulation> accumulation_;
  size_t row_ = 0;  // values of each sample, if rows are gathered
  std::vector<double> total_;
  std::vector<double> batch_;
};

}  // namespace tpack
