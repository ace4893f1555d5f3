#pragma once

#include <optional>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "core/rng.h"
#include "core/schema.h"
#include "dataflow/map.h"

namespace tpack {

/// Parameters of all maps that mix the samples of a batch.
struct BatchMixParams {
  std::optional<ComponentRef> label;
  std::optional<int64_t> classes;
  double prob = 1;
};

template <std::derived_from<BatchMixParams> P>
Schema<P> with_batch_mix(Schema<P> schema) {
  return schema
      .field("label", static_cast<std::optional<ComponentRef> P::*>(&P::label),
             "the labels: class numbers become probabilities of all classes, float32 [N, classes]; floats "
             "are mixed directly; default: label, if there is one")
      .field("classes", static_cast<std::optional<int64_t> P::*>(&P::classes), between(2, 1 << 24),
             "number of classes; default: the number of class names of the labels")
      .field("prob", static_cast<double P::*>(&P::prob), between(0.0, 1.0),
             "probability that a batch is mixed; labels become probabilities in any case");
}

/// One of the samples that make up a new one.
struct MixPart {
  int64_t sample = 0;  // of the batch
  double weight = 1;   // the weights of a sample add up to 1
  cv::Rect from = {};  // pixels of it,
  cv::Rect to = {};    // the target; the same size, or smaller if shrunk
};

/// Maps of batches that combine several samples into one, and their labels in proportion. Random draws depend
/// only on the batch and the seed. In predictions nothing is mixed.
class BatchMix : public Map {
 public:
  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override;
  Spec bind(const Spec& in) override;
  bool apply(Datapoint& d, const SampleKey& key) const override;

 protected:
  /// `owner`: "map CutMix".
  BatchMix(BatchMixParams common, std::string owner) : common_(std::move(common)), owner_(std::move(owner)) {}

  /// The parts of the sample `row` of `samples`. `size`: size of the images.
  virtual std::vector<MixPart> draw(int64_t row, int64_t samples, cv::Size size, Rng& rng) const = 0;
  /// False for maps that blend images, which cannot blend the class numbers of masks.
  virtual bool pastes() const { return true; }
  /// Any other sample of the batch; the same one if it is alone.
  static int64_t other_sample(int64_t row, int64_t samples, Rng& rng);
  /// A draw from Beta(alpha, alpha), from 0 to 1.
  static double beta(double alpha, Rng& rng);

 private:
  using Parts = std::vector<std::vector<MixPart>>;  // of each sample

  void mix_labels(Datapoint& d, const Parts& parts) const;
  void blend(Datapoint& d, size_t index, const Parts& parts) const;
  void paste(Datapoint& d, size_t index, const Parts& parts) const;

  BatchMixParams common_;
  std::string owner_;
  std::vector<size_t> images_;
  std::vector<size_t> masks_;
  std::optional<size_t> label_;
  int64_t classes_ = 0;  // 0: labels are floats
};

}  // namespace tpack
