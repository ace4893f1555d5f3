#include "infer/file_samples.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "dataflow/packed_bytes.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;

class FileSamplesRun : public InferRuns {};

TEST_F(FileSamplesRun, are_rows_of_a_table_however_it_is_written) {
  write_content(folder_ / "train.csv", "u,v,y\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n");
  train("{CSV: {file: train.csv, columns: {x: [u, v], y: [y]}}}",
        "model:\n  inputs: {x: {shape: [2]}, y: {shape: [1]}}\n"
        "  layers: [FullyConnected: {name: fc, input: x, units: 1}]\n"
        "  cost: [MeanSquaredError: {predictions: fc, targets: y}]\n"
        "predict: {data: train, outputs: [fc]}\n");
  const auto outputs = [&](const std::string& name, const std::string& content) {
    write_content(folder_ / name, content);
    const testing_cli::Outcome outcome = infer({folder_ / name});
    EXPECT_EQ(outcome.code, 0) << name << ": " << outcome.err;
    const json answer = json::parse(outcome.out);
    EXPECT_TRUE(answer.at("file").get<std::string>().starts_with((folder_ / name) + ":")) << answer;
    return answer.at("outputs").dump();
  };
  const auto text = [](const std::vector<uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); };
  const std::string expected = outputs("one.csv", "u,v\n3,4\n");
  EXPECT_EQ(outputs("one.tsv", "v\tu\n4\t3\n"), expected);
  EXPECT_EQ(outputs("one.jsonl", "{\"v\": 4, \"w\": null, \"u\": 3}\n"), expected);
  EXPECT_EQ(outputs("one.csv.gz", text(gzip_file("u,v\n3,4\n"))), expected);
  EXPECT_EQ(outputs("one.ndjson.zst", text(zstandard_file("{\"u\": 3, \"v\": 4}"))), expected);
}

}  // namespace
}  // namespace tpack
