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
        const OutputImages& pictures, const MaskWriter& masks, const std::optional<JudgedInput>& judged)
      : options_(options), labels_(labels), predictor_(predictor), judged_(judged) {
    for (size_t i = 0; i < predictor.forms().size(); ++i) {
      const OutputForm& form = predictor.forms()[i];
      outputs_.push_back(
          {predictor.outputs()[i].name, role_of(form, pictures, masks), form.spec.shape.elements()});
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
    if (!options.images.empty() && !has(OutputRole::kPicture)) {
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
  OutputRole role_of(const OutputForm& form, const OutputImages& pictures, const MaskWriter& masks) const {
    if (!options_.images.empty() && (pictures.is_image(form) || masks.is_mask(form)))
      return OutputRole::kPicture;
    if (is_yes_or_no(form)) return OutputRole::kYesOrNo;
    if (form.spec.shape.rank() != 1) return OutputRole::kValues;
    if (is_of_classes(form)) return OutputRole::kClasses;
    const bool has_names = std::ssize(labels_) == form.spec.shape[0];
    if (has_names && form.meaning == OutputMeaning::kProbabilities) return OutputRole::kLabelSet;
    const auto& forms = predictor_.forms();
    const bool is_named =
        has_names && !options_.labels.empty() && std::none_of(forms.begin(), forms.end(), is_of_classes);
    return is_named ? OutputRole::kClasses : OutputRole::kValues;
  }
  /// The Sigmoid of the logit of a binary classifier.
  bool is_yes_or_no(const OutputForm& form) const {
    const bool tells_two = judged_ && judged_->kind == Judgement::Kind::kYesOrNo && judged_->predictions == 1;
    return tells_two && form.meaning == OutputMeaning::kProbabilities && form.spec.shape.elements() == 1 &&
           (labels_.empty() || labels_.size() == 2);
  }
  static bool is_of_classes(const OutputForm& form) {
    return form.spec.shape.rank() == 1 && form.meaning == OutputMeaning::kClassProbabilities;
  }
  bool has(OutputRole role) const {
    return std::any_of(outputs_.begin(), outputs_.end(), [&](const auto& o) { return o.role == role; });
  }

  /// 0: the output has no classes.
  static int64_t classes_of(const WrittenOutput& output) {
    if (output.role == OutputRole::kYesOrNo) return 2;
    return output.role == OutputRole::kClasses ? output.width : 0;
  }
  /// At most the number of classes may be requested.
  void check_classes() const {
    if (options_.top_k == 1) return;
    for (const WrittenOutput& output : outputs_) {
      const int64_t classes = classes_of(output);
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
    if (options_.threshold == 0.5 || has(OutputRole::kLabelSet)) return;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (classes_of(outputs_[i]) == 2 || masks.is_of_probabilities(predictor_.forms()[i])) return;
    }
    throw ConfigError(
        "--threshold: no output of predict is a set of labels, probabilities of two classes (from a Softmax, "
        "or a Sigmoid of one unit), or (with --overlays or --contours) probabilities of pixels; there are " +
        described_outputs(predictor_));
  }
  /// Names from the user must cover all classes.
  void check_labels() const {
    if (options_.labels.empty() || has(OutputRole::kLabelSet)) return;
    const std::string names = options_.labels + ": has " + std::to_string(labels_.size()) + " names, ";
    for (const WrittenOutput& output : outputs_) {
      const int64_t classes = classes_of(output);
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
  const std::optional<JudgedInput>& judged_;
  std::vector<WrittenOutput> outputs_;
};

}  // namespace

std::vector<WrittenOutput> output_roles(const InferOptions& options, const std::vector<std::string>& labels,
                                        const Predictor& predictor, const OutputImages& pictures,
                                        const MaskWriter& masks, const std::optional<JudgedInput>& judged) {
  return Roles(options, labels, predictor, pictures, masks, judged).outputs();
}

}  // namespace tpack
