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

namespace {
std::function<void(const DataFlow&)> g_watch;  // of the FlowWatch that lives
}  // namespace

FlowWatch::FlowWatch(std::function<void(const DataFlow&)> watch) { g_watch = std::move(watch); }
FlowWatch::~FlowWatch() { g_watch = nullptr; }

DataFlow yaml_flow(const std::string& yaml, const std::shared_ptr<Fit>& fit, const std::string& file) {
  Diagnostics errors;
  auto flow = make_flow(parse_yaml(yaml, file), {}, errors, fit);
  errors.throw_if_any();
  return std::move(*flow);
}

Datapoint first_sample(const DataFlow& flow, const Pass& pass) {
  Datapoint d;
  EXPECT_TRUE(flow.open(pass)->next(d));
  return d;
}

Rows samples_of(const DataFlow& flow, const Pass& pass) {
  Rows all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) {
    Numbers& sample = all.emplace_back();
    for (size_t i = 0; i < d.size(); ++i)
      for (int64_t e = 0; e < d.to_tensor(i).elements(); ++e) sample.push_back(d.tensor(i).at(e));
  }
  return all;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

testing::AssertionResult fails(const std::function<void()>& action, const Texts& parts) {
  return says(error_of(action), parts);
}

void expect_errors(const std::function<void(const std::string&)>& action,
                   const std::vector<std::pair<std::string, Texts>>& parts_by_text) {
  for (const auto& row : parts_by_text)
    EXPECT_TRUE(fails([&] { action(row.first); }, row.second)) << row.first;
}

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
  if (g_watch) g_watch(flow);
  return text;
}

}  // namespace tpack
