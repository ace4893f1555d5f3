#pragma once

#include <string>

#include "core/text.h"
#include "graph/pointwise.h"
#include "layers/cost.h"

namespace tpack {

/// What costs and metrics of a yes or no for each output read.
struct YesOrNoFields {
  Ref<LayerOutput> logits;  // their sigmoid is the probability of yes
  NumberOrOutput labels;
};

/// `owner`: "cost SigmoidCrossEntropy". Errors: ConfigError for a label that is no probability.
inline void check_labels(const YesOrNoFields& fields, const std::string& owner) {
  const NumberOrOutput& labels = fields.labels;
  if (!labels.output.empty() || (labels.number >= 0 && labels.number <= 1)) return;
  throw ConfigError(owner + ": 'labels' is " + shortest(labels.number) + "; must be from 0 to 1");
}

/// The logits. Errors: ConfigError for the output of a sigmoid, too.
inline Symbol logits_of(const ModelView& model, const YesOrNoFields& fields, const std::string& owner) {
  const Symbol x = model.output(fields.logits);
  if (!pointwise::is_function(x, pointwise::Fn::kSigmoid)) return x;
  throw ConfigError(fields.logits.position, "'logits' of " + owner + ": '" + fields.logits.name +
                                                "' is the output of a sigmoid, which the " +
                                                owner.substr(0, owner.find(' ')) +
                                                " applies itself; name the output before the sigmoid");
}

}  // namespace tpack
