#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "testkit/backend_check.h"

namespace tpack {

/// Processors give what the reference gives, in both phases and layouts of images.
inline void expect_same_on_processors(const testkit::Function& function, const std::vector<Tensor>& inputs) {
  for (const Phase phase : {Phase::kTraining, Phase::kInference}) {
    const testkit::BackendCheck check(function, inputs, phase);
    for (const char* layout : {"nhwc", "nChw16c"}) {
      const auto result = check.run({.layout = layout, .phase = phase});
      EXPECT_LT(result.largest_error, 2e-5) << layout << ": " << result.text;
    }
  }
}

}  // namespace tpack
