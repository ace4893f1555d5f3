#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"
#include "evaluation/sample_losses.h"

namespace tpack {

/// The samples of a flow with the highest losses of the first target of an evaluator. Pass `see` to
/// Evaluator::run_part; of equal losses, the first ones count.
class WorstSamples {
 public:
  /// Errors: ConfigError if no term of the cost compares samples.
  WorstSamples(const Evaluator& evaluator, size_t count);

  void see(int64_t batch, std::span<const TargetBatch> compared);
  /// Reads the samples again, from the evaluator's pass, and finds their files. Call after the pass.
  void find(const DataFlow& flow, uint64_t seed);

  /// A table for a terminal: file or number, loss, truth and prediction.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  /// Writes the images as a contact sheet, the worst first, with truth and prediction below. For masks, the
  /// image, the true mask over it, and the predicted one are side by side, with a legend of the classes; for
  /// images, the image, truth and prediction are side by side, and truth and prediction share one range.
  /// After `find`. Errors: ConfigError if the flow has none.
  void write_images(const std::string& path) const;

 private:
  struct Entry {
    int64_t place = 0;  // of the pass: batch * batch size + row
    ComparedSample sample;
    std::string actual;
    std::string predicted;
    std::string name = {};  // file, or "sample 17"
    Tensor image = {};
    Tensor truth =
        {};  // masks [H, W] if the model predicts classes of pixels; images [H, W, C] if it makes images
    Tensor answer = {};
  };
  std::string text_of(const Tensor& values, int64_t row, bool predicted) const;
  void keep_pictures(Entry& entry, const TargetBatch& of, int64_t row) const;
  bool has_texts() const;

  size_t count_;
  PredictionTarget target_;
  std::vector<std::string> classes_;
  int64_t batch_size_;
  std::vector<Entry> entries_;  // a heap during the pass, then the worst first
};

}  // namespace tpack
