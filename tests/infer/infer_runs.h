#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dataflow/datapoint.h"
#include "support/program_runner.h"

namespace tpack {

/// The pixels of a PNG, [H, W, 3].
inline Tensor pixels_of(const std::string& path) {
  const std::string file = content_of(path);
  Datapoint d;
  Image& picture = d.renew_image(0);
  std::copy(file.begin(), file.end(), picture.encoded_buffer(file.size()).begin());
  picture.header_known({Color::kRgb});
  return d.to_tensor(0).clone();
}

/// A model that a few steps train, and files for it.
class InferRuns : public testing::Test {
 protected:
  /// Trains `model` (its sections) on `flow`; the data are in `files`.
  void train(const std::string& flow, const std::string& model) {
    write_content(folder_ / "a.yaml",
                  "tpack: 1\nmax_epoch: 1\nsteps_per_epoch: 2\n"
                  "engine: {threads: 1, algorithm: heuristic}\n"
                  "optimizer: {Adam: {learning_rate: 0.01}}\ncallbacks: [ModelSaver]\n"
                  "data: {train: [" +
                      flow + ", {BatchData: {batch_size: 2}}]}\n" + model);
    const testing_cli::Outcome outcome =
        testing_cli::tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  testing_cli::Outcome infer(std::vector<std::string> words) const {
    words.insert(words.begin(), {"infer", folder_ / "run/checkpoints/model-2.h5"});
    return testing_cli::tpack(words);
  }

  TemporaryFolder folder_;
};

}  // namespace tpack
