// The dataflow alone: a flow described in C++, read by worker threads.
#include "dataflow/data_flow.h"
#include "standalone/expect.h"

namespace tpack {
namespace {

struct Totals {
  int64_t samples = 0;
  int64_t batches = 0;
  uint64_t pixels = 0;  // sum
  std::vector<int64_t> labels = std::vector<int64_t>(10);
  bool operator==(const Totals&) const = default;
};

Totals read_pass(const DataFlow& flow, int64_t pass) {
  Totals totals;
  const auto stream = flow.stream({.seed = 1, .position = {.pass = pass}, .passes = 1});
  while (auto batch = stream->next()) {
    for (const uint8_t pixel : batch->tensor(0).span<uint8_t>()) totals.pixels += pixel;
    for (const int32_t label : batch->tensor(1).span<int32_t>())
      ++totals.labels.at(static_cast<size_t>(label));
    totals.samples += batch->samples();
    ++totals.batches;
  }
  return totals;
}

DataFlow digits(int64_t workers) {
  return make_flow({{"flow", ConfigNode::list({
                                 ConfigNode{{"RenderedDigits", {{"split", "train"}, {"size", 1000}}}},
                                 ConfigNode{{"BatchData", {{"batch_size", 150}, {"remainder", true}}}},
                             })},
                    {"workers", workers}});
}

int run() {
  Expectations check;
  const DataFlow flow = digits(3);
  const Totals totals = read_pass(flow, 0);
  check.expect(totals.samples == 1000 && totals.batches == 7, "a pass is 1000 samples in 7 batches");
  check.expect(totals.pixels / (1000 * 28 * 28) > 20, "the pictures are not black");
  for (const int64_t count : totals.labels) check.expect(count > 50, "each digit comes often");
  check.expect(totals == read_pass(digits(1), 0), "one worker reads what three read");
  check.expect(!(totals == read_pass(flow, 1)), "another pass shows other pictures");
  return check.exit_code();
}

}  // namespace
}  // namespace tpack

int main() { return tpack::run(); }
