#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/train.h"
#include "support/paths.h"

namespace tpack::testing_cli {

/// Options of a run of the network of mnist-convnet on 40 random images, three steps an epoch; it continues
/// if its folder exists. `more`: further --set.
inline TrainOptions random_convnet(const std::string& run_folder, const std::vector<std::string>& more) {
  TrainOptions options;
  options.config = source_folder() + "/configs/mnist-convnet.yaml";
  options.log_dir = run_folder;
  const std::string images =
      "={FakeData: {size: 40, shapes: [[28, 28, 1], []], dtype: [uint8, int32], "
      "names: [image, label], domain: [0, 10]}}";
  options.overrides = {"data.train.0" + images, "data.validation.0" + images,
                       "data.validation.BatchData.batch_size=16", "steps_per_epoch=3",
                       "callbacks.ScheduledHyperParamSetter.values=[[1, 3.0e-4]]"};
  options.overrides.insert(options.overrides.end(), more.begin(), more.end());
  if (std::filesystem::exists(run_folder)) options.resume = ResumeRequest::parse("auto");
  return options;
}

}  // namespace tpack::testing_cli
