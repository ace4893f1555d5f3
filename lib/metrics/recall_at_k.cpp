#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "layers/embeddings.h"
#include "ops/concat.h"

namespace tpack {
namespace {

/// The nearness of two embeddings.
enum class Nearness : uint8_t { kCosine, kEuclidean };

}  // namespace

template <>
struct EnumNames<Nearness> {
  static constexpr std::array<std::pair<const char*, Nearness>, 2> kNames = {
      {{"cosine", Nearness::kCosine}, {"euclidean", Nearness::kEuclidean}}};
};

namespace {

struct RecallAtKParams {
  Ref<LayerOutput> embeddings;
  Ref<LayerOutput> labels;
  int64_t k = 1;
  Nearness distance = Nearness::kCosine;
};

/// Embeddings by columns, so that the nearness of a row to all others is a sum of columns, with the same
/// rounding for equal rows.
class EmbeddingTable {
 public:
  /// Rows of `size` numbers and a label.
  EmbeddingTable(std::span<const double> rows, size_t size, Nearness nearness)
      : count_(rows.size() / (size + 1)), size_(size), columns_(count_ * size), nearness_(nearness) {
    for (size_t i = 0; i < count_; ++i) {
      const std::span<const double> row = rows.subspan(i * (size + 1), size);
      double squares = 0;
      for (const double x : row) squares += x * x;
      const double scale = nearness == Nearness::kCosine ? 1 / std::max(std::sqrt(squares), 1e-12) : 1;
      for (size_t d = 0; d < size; ++d) columns_[d * count_ + i] = row[d] * scale;
      labels_.push_back(rows[i * (size + 1) + size]);
    }
  }
  size_t count() const { return count_; }
  double label(size_t i) const { return labels_[i]; }
  bool has_nan() const {
    return std::any_of(columns_.begin(), columns_.end(), [](double x) { return std::isnan(x); });
  }
  /// The nearness of row i to each row: the cosine, or minus the squared distance.
  void nearness(size_t i, std::vector<double>& all) const {
    all.assign(count_, 0);
    for (size_t d = 0; d < size_; ++d) {
      const double* column = &columns_[d * count_];
      const double x = column[i];
      if (nearness_ == Nearness::kCosine) {
        for (size_t j = 0; j < count_; ++j) all[j] += x * column[j];
      } else {
        for (size_t j = 0; j < count_; ++j) all[j] -= (x - column[j]) * (x - column[j]);
      }
    }
  }

 private:
  size_t count_;
  size_t size_;
  std::vector<double> columns_;
  std::vector<double> labels_;
  Nearness nearness_;
};

class RecallAccumulation final : public Accumulation {
 public:
  RecallAccumulation(size_t size, int64_t k, Nearness nearness)
      : size_(size), k_(static_cast<size_t>(k)), nearness_(nearness) {}

  bool gathers() const override { return true; }
  bool has_value(std::span<const double> total) const override { return !std::isnan(value(total)); }
  double value(std::span<const double> total) const override {
    const EmbeddingTable table(total.first(total.size() - 1), size_, nearness_);
    if (table.count() <= k_ || table.has_nan()) return std::numeric_limits<double>::quiet_NaN();
    size_t hits = 0;
    size_t queries = 0;
    std::vector<double> nearness;
    for (size_t i = 0; i < table.count(); ++i) {
      table.nearness(i, nearness);
      double own = -std::numeric_limits<double>::infinity();
      bool is_alone = true;
      for (size_t j = 0; j < table.count(); ++j) {
        if (j == i || table.label(j) != table.label(i)) continue;
        own = std::max(own, nearness[j]);
        is_alone = false;
      }
      if (is_alone) continue;
      size_t before = 0;  // others at least as near as the nearest of the class
      for (size_t j = 0; j < table.count(); ++j)
        before += table.label(j) != table.label(i) && nearness[j] >= own ? 1 : 0;
      hits += before < k_ ? 1 : 0;
      ++queries;
    }
    return static_cast<double>(hits) / static_cast<double>(queries);  // 0 / 0 if no class has two samples
  }

 private:
  size_t size_;
  size_t k_;
  Nearness nearness_;
};

/// The share of samples with a same-class sample among their k nearest neighbors. In ties, samples of other
/// classes come first, so that a network with equal embeddings for all samples has 0. Samples that are alone
/// in their class do not count. Shapes: embeddings [N, D], labels integers [N] -> ([N, D + 1], N). Source: Oh
/// Song et al. 2016, "Deep metric learning via lifted structured feature embedding".
class RecallAtK final : public Metric {
 public:
  using Params = RecallAtKParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Retrieval: the share of samples with a same-class sample among their k nearest neighbors. It "
               "is exact over all samples, for any batches: it keeps all embeddings, 8 bytes for each "
               "number, and compares all pairs, in 1 s for 8,000 samples of 32 numbers. NaN if there are at "
               "most k samples, or no two of a class; a training step then has no value.")
        .example("RecallAtK: {embeddings: face, labels: person}")
        .field("embeddings", &Params::embeddings, "vectors [N, size]: the output of the network")
        .required()
        .field("labels", &Params::labels, "class numbers, integers [N]")
        .required()
        .field("k", &Params::k, at_least(1), "number of nearest neighbors")
        .field("distance", &Params::distance,
               "distance: cosine (angle) or euclidean; the order is the same for embeddings of length 1");
  }
  explicit RecallAtK(Params p) : p_(std::move(p)) {}

  std::optional<Goal> goal() const override { return Goal::kMax; }
  SumAndWeight build(const ModelView& model) const override {
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "recall_at_k", p_.embeddings.position);
    const Symbol x = embeddings_of(model, p_.embeddings, false, kOwner);
    const int64_t samples = x.shape()[0];
    const Symbol labels = b.reshape(b.to_float(model.class_numbers(p_.labels, x)), {samples, 1});
    return {concat(b, std::vector{x, labels}, 1), b.constant(static_cast<double>(samples)),
            std::make_shared<const RecallAccumulation>(static_cast<size_t>(x.shape()[1]), p_.k, p_.distance)};
  }

 private:
  static constexpr const char* kOwner = "metric RecallAtK";
  Params p_;
};

TPACK_REGISTER(Metric, RecallAtK, "RecallAtK");

}  // namespace
}  // namespace tpack
