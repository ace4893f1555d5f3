#include "dataflow/flow_helpers.h"

#include "config/yaml_reader.h"
#include "core/text.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

TPACK_REGISTER(Source, Counting, "Counting");
TPACK_REGISTER(Source, CountingInOrder, "CountingInOrder");
TPACK_REGISTER(Map, Picky, "Picky");

const live::Fields kCountingInOrder("source", "CountingInOrder",
                                    {.left_out = {{"shuffle", "a source of these tests"}}});
const live::Fields kPicky(
    "map", "Picky",
    {.left_out = {{"drop_every", "a map of these tests"}, {"fail", "the same"}, {"fail_all", "the same"}}});

}  // namespace

std::string content_of_flow(const std::string& items_yaml, const std::string& file) {
  const DataFlow flow = make_flow(parse_yaml(items_yaml, file));
  if (!flow.knows_spec()) flow.prepare();
  std::string text = std::to_string(flow.settings().workers.count) + " workers, " +
                     std::to_string(flow.settings().prefetch) + " ahead: " + flow.spec().str();
  const auto read = [&](int64_t pass) {
    const auto cursor = flow.open({.seed = 1, .pass = pass});
    Datapoint d;
    for (int n = 0; n < 30 && cursor->next(d); ++n) {
      for (size_t i = 0; i < d.size(); ++i) {
        const Tensor& value = d.to_tensor(i);
        const std::string_view bytes(reinterpret_cast<const char*>(value.raw()), value.bytes());
        text += "\n" + value.spec().str() + " " + std::to_string(stable_hash(bytes));
      }
    }
  };
  text += error_of([&] { read(0); });
  text += error_of([&] { read(1); });
  return text;
}

}  // namespace tpack
