// What `tpack infer` does with the maps of the flow that it takes.
#include "learner/sample_maps.h"

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;

class MapsOfPredictions : public InferRuns {};

TEST_F(MapsOfPredictions, computes_what_the_inputs_need_and_predicts_all_rows) {
  write_content(folder_ / "train.csv", "u,v,c\n1,2,no\n3,4,yes\n5,6,no\n7,8,yes\n");
  train(
      "{CSV: {file: train.csv, columns: {u: u, v: v, w: v}, labels: {c: c}}}, {WeightedSampling: w}, "
      "{Filter: c == 'no' or u < 5}, {Compute: {z: 'u * v', y: 'where(c == 1, 2 * w, 1)'}}, "
      "{MapData: {component: c, map: {Cast: int32}}}, {Compute: {x: 'concat(u, z)'}}, "
      "{RenameComponents: {names: {x: uz, c: label}}}",
      "model:\n  inputs: {uz: {shape: [2]}, label: {shape: [], dtype: int32}}\n"
      "  layers: [Identity: {name: seen, input: uz}, FullyConnected: {name: fc, units: 2}]\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
      "predict: {data: train, outputs: {raw: seen}}\n");
  write_content(folder_ / "new.csv", "v,u\n2,1\n5,9\n");
  const testing_cli::Outcome outcome = infer({folder_ / "new.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> lines = split(outcome.out, '\n');
  EXPECT_EQ(json::parse(lines.at(0)).at("outputs").at("raw"), json({1, 2}));
  EXPECT_EQ(json::parse(lines.at(1)).at("outputs").at("raw"), json({9, 45}))
      << "a row that Filter leaves out";
}

}  // namespace
}  // namespace tpack
