#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "infer/infer_files.h"
#include "infer/prediction_writer.h"
#include "predict/predictor.h"

namespace tpack {

/// Writes FOLDER/NUMBER-STEM-OUTPUT.png (with the stem of the file that was read) and returns its path.
std::string write_picture(const std::string& folder, int64_t number, const std::string& file,
                          const std::string& output, const std::string& png);

/// Writes masks of pictures as PNGs with a palette, overlays and contours. They have the size of the
/// photograph if the place of the image in it is known.
class MaskWriter {
 public:
  /// `labels`: the names of the classes. Both must outlive the object.
  MaskWriter(const InferOptions& options, const std::vector<std::string>& labels)
      : options_(options), labels_(labels) {}

  /// Whether an output is a mask: class numbers [height, width], such as from an ArgMax, or, with overlays or
  /// contours, probabilities [1, height, width] from a Sigmoid: at least the threshold means class 1.
  bool is_mask(const OutputForm& form) const { return has_classes(form) || is_of_probabilities(form); }
  /// Whether its classes depend on the threshold.
  bool is_of_probabilities(const OutputForm& form) const;

  /// Writes one output of a sample. `number`: of the sample; `inputs`: its inputs of the model. Returns the
  /// path of the mask. Errors: ConfigError if an overlay has no image; ResourceError.
  std::string write(const Prediction& sample, size_t output, const std::string& name, int64_t number,
                    const std::vector<Tensor>& inputs);

 private:
  static bool has_classes(const OutputForm& form) {
    return form.spec.shape.rank() == 2 && !is_float(form.spec.dtype);
  }
  Tensor classes_of(const Tensor& value) const;
  void write_contours(const Tensor& mask, const std::string& path) const;

  const InferOptions& options_;
  const std::vector<std::string>& labels_;
};

}  // namespace tpack
