#include "infer/output_roles.h"

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace tpack {

std::string described_outputs(const Predictor& predictor) {
  std::vector<std::string> all;
  for (size_t i = 0; i < predictor.forms().size(); ++i)
    all.push_back(predictor.outputs()[i].name + " " + predictor.forms()[i].spec.str());
  return join(all, ", ");
}

namespace {

/// The form of each output.
class Roles {
 public:
  Roles(const InferOptions& options, const std::vector<std::string>& labels, const Predictor& predictor,
        const OutputImages& pictures, const MaskWriter& masks, const std::optional<TargetInput>& target)
      : options_(options), labels_(labels), predictor_(predictor), target_(target) {
    for (size_t i = 0; i < predictor.forms().size(); ++i) {
      const OutputForm& form = predictor.forms()[i];
      outputs_.push_back(described(predictor.outputs()[i].name, form, pictures, masks));
    }
    check_classes();
    check_labels();
    check_threshold(masks);
    for (const auto& [is_set, option] :
         {std::pair(options.overlays, "--overlays"), std::pair(options.contours, "--contours")}) {
      if (is_set && options.images.empty())
        throw ConfigError(std::string(option) + ": --images is missing; set it to the output folder");
      const auto& forms = predictor.forms();
      const auto is_mask = [&](const OutputForm& form) { return masks.is_mask(form); };
      if (is_set && std::none_of(forms.begin(), forms.end(), is_mask))
        throw ConfigError(std::string(option) +
                          ": no output of predict has class numbers of pixels, integers [height, width], or "
                          "probabilities of one class (a Sigmoid of [1, height, width]); there are " +
                          described_outputs(predictor));
    }
    if (!options.images.empty() && std::ranges::none_of(outputs_, &WrittenOutput::is_picture)) {
      throw ConfigError(
          "--images: no output of predict is an image: [channels, height, width] with 1 or 3 channels, a "
          "vector with the size of the input image, or class numbers of pixels, int32 [height, width]; there "
          "are " +
          described_outputs(predictor));
    }
  }
  const std::vector<WrittenOutput>& outputs() const { return outputs_; }

 private:
  /// The meaning of the numbers. Labels from the user apply to any vector if no output is probabilities of
  /// classes.
  WrittenOutput described(const std::string& name, const OutputForm& form, const OutputImages& pictures,
                          const MaskWriter& masks) const {
    const Shape& shape = form.spec.shape;
    WrittenOutput output{.name = name, .width = shape.elements()};
    const auto& forms = predictor_.forms();
    const bool has_names = shape.rank() == 1 && std::ssize(labels_) == shape[0];
    if (!options_.images.empty() && (pictures.is_image(form) || masks.is_mask(form)))
      output.is_picture = true;
    else if (is_second_of_two(form))
      output.classes = 2;
    else if (is_of_classes(form))
      output.classes = output.width;
    else if (has_names && form.meaning.is_probability())
      output.is_label_set = true;
    else if (has_names && !options_.labels.empty() && std::ranges::none_of(forms, is_of_classes))
      output.classes = output.width;
    return output;
  }
  /// The Sigmoid of the logit of a binary classifier.
  bool is_second_of_two(const OutputForm& form) const {
    const bool tells_two =
        target_ && target_->classes && target_->classes->by_logit && target_->predictions == 1;
    return tells_two && form.meaning.is_probability() && form.spec.shape.elements() == 1 &&
           (labels_.empty() || labels_.size() == 2);
  }
  static bool is_of_classes(const OutputForm& form) {
    return form.spec.shape.rank() == 1 && form.meaning.sums_to_one;
  }
  bool has_label_set() const { return std::ranges::any_of(outputs_, &WrittenOutput::is_label_set); }

  /// At most the number of classes may be requested.
  void check_classes() const {
    if (options_.top_k == 1) return;
    for (const WrittenOutput& output : outputs_) {
      const int64_t classes = output.classes;
      if (classes == 0) continue;
      if (options_.top_k > classes)
        throw ConfigError("--top-k " + std::to_string(options_.top_k) + ": the model has " +
                          std::to_string(classes) + " classes");
      return;
    }
    throw ConfigError(
        "--top-k: no output of predict is probabilities of classes (from a Softmax); there are " +
        described_outputs(predictor_));
  }
  void check_threshold(const MaskWriter& masks) const {
    if (options_.threshold == 0.5 || has_label_set()) return;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].classes == 2 || masks.is_of_probabilities(predictor_.forms()[i])) return;
    }
    throw ConfigError(
        "--threshold: no output of predict is a set of labels, probabilities of two classes (from a Softmax, "
        "or a Sigmoid of one unit), or (with --overlays or --contours) probabilities of pixels; there are " +
        described_outputs(predictor_));
  }
  /// Names from the user must cover all classes.
  void check_labels() const {
    if (options_.labels.empty() || has_label_set()) return;
    const std::string names = options_.labels + ": has " + std::to_string(labels_.size()) + " names, ";
    for (const WrittenOutput& output : outputs_) {
      const int64_t classes = output.classes;
      if (classes == 0) continue;
      if (std::ssize(labels_) == classes) return;
      throw ConfigError(names + "the model has " + std::to_string(classes) +
                        " classes; write one name per line");
    }
    throw ConfigError(names + "but no output of predict has this many numbers; there are " +
                      described_outputs(predictor_));
  }

  const InferOptions& options_;
  const std::vector<std::string>& labels_;
  const Predictor& predictor_;
  const std::optional<TargetInput>& target_;
  std::vector<WrittenOutput> outputs_;
};

}  // namespace

std::vector<WrittenOutput> output_roles(const InferOptions& options, const std::vector<std::string>& labels,
                                        const Predictor& predictor, const OutputImages& pictures,
                                        const MaskWriter& masks, const std::optional<TargetInput>& target) {
  return Roles(options, labels, predictor, pictures, masks, target).outputs();
}

}  // namespace tpack
