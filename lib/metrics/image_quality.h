#pragma once

#include <concepts>
#include <optional>
#include <string>

#include "core/text.h"
#include "model/cost.h"

namespace tpack {

/// The fields of metrics of restored images.
struct ImageQualityFields {
  Ref<LayerOutput> predictions;
  Ref<LayerOutput> targets;
  std::optional<double> data_range;
};

template <std::derived_from<ImageQualityFields> P>
Schema<P> with_image_quality_fields(Schema<P> schema) {
  return schema
      .field("predictions", static_cast<Ref<LayerOutput> P::*>(&P::predictions),
             "images [N, channels, height, width]: an output")
      .required()
      .field("targets", static_cast<Ref<LayerOutput> P::*>(&P::targets),
             "targets: an output or input of the same shape and range")
      .required()
      .field("data_range", static_cast<std::optional<double> P::*>(&P::data_range), above(0),
             "distance from black to white: 1 for images from 0 to 1, 2 for -1 to 1, 255 for bytes. Default: "
             "255 if the targets are bytes, 1 or 2 if the predictions come from Sigmoid or Tanh; otherwise "
             "it is required");
}

struct ComparedImages {
  Symbol predictions;
  Symbol targets;  // of the same shape
  double range = 1;
};

/// `owner`: "metric PSNR". Errors: ConfigError if the range is unknown, or the predictions have a different
/// one; ShapeError for a different number of elements.
inline ComparedImages compared_images(const ModelView& model, const ImageQualityFields& fields,
                                      const std::string& owner) {
  Builder& b = model.builder();
  const Symbol given = model.output(fields.predictions);
  const bool are_bytes = model.output(fields.targets).spec().dtype == DType::kUInt8;
  const OutputMeaning meaning = b.meaning(given);
  const double of_predictions =
      meaning.has_range() && !meaning.sums_to_one ? meaning.most - meaning.least : 0;
  const auto reject = [&](const std::string& what) {
    return ConfigError(fields.predictions.position, owner + ": " + what);
  };
  if (!fields.data_range && are_bytes && of_predictions > 0)
    throw reject("targets '" + fields.targets.name + "' are bytes from 0 to 255, but predictions '" +
                 fields.predictions.name + "' are from " + (of_predictions == 1 ? "0" : "-1") +
                 " to 1; name the output of a Normalize layer that scales the targets to that range");
  if (!fields.data_range && !are_bytes && of_predictions == 0)
    throw reject("the range of '" + fields.targets.name +
                 "' is not known; set 'data_range' to white minus black: 1 for images from 0 to 1, 2 for -1 "
                 "to 1");
  const Symbol predictions = b.to_float(given);
  const Symbol targets = model.like({0, fields.targets}, predictions).symbol;
  return {predictions, targets, fields.data_range.value_or(are_bytes ? 255 : of_predictions)};
}

}  // namespace tpack
