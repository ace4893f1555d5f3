#include "train/saved_state.h"

#include <gmock/gmock-matchers.h>

#include "checkpoint/layout.h"
#include "core/error.h"
#include "support/batch_training.h"
#include "support/errors.h"

namespace tpack {
namespace {

VariableTable table_of_everything() {
  VariableTable table;
  const TensorSpec two{DType::kFloat32, {2}};
  table.declare({"fc/W", two, VariableScope::kModel, true, nullptr});
  table.declare({"@m", {DType::kFloat32, {16}}, VariableScope::kOptimizer, false, nullptr});
  table.declare({"d/rate", {DType::kFloat32, {}}, VariableScope::kOptimizer, false, nullptr});
  table.declare({"cell", two, VariableScope::kLocal, false, nullptr});
  return table;
}

TEST(SavedState, of_variables_has_an_entry_for_each_but_gradients) {
  const VariableTable table = table_of_everything();
  VariableStore store(table);
  store.set("fc/W", Tensor::of<float>({2}, {1, 2}));
  store.set("@m/fc/W", Tensor::of<float>({2}, {3, 4}));
  store.set_number("d/rate", 0.5);
  CheckpointContent content;
  save_variables(store, content);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : content.tensors) names.push_back(name);
  EXPECT_THAT(names,
              testing::ElementsAre("local/cell", "model/fc/W", "optimizer/d/rate", "optimizer/m/fc/W"));

  VariableStore other(table);
  load_variables(content, "a.h5", other);
  EXPECT_EQ(other.value("fc/W").at(1), 2);
  EXPECT_EQ(other.value("@m/fc/W").at(1), 4);
  EXPECT_EQ(other.number("d/rate"), 0.5);
}

TEST(SavedState, of_another_model_is_rejected) {
  const VariableTable table = table_of_everything();
  VariableStore store(table);
  CheckpointContent content;
  save_variables(store, content);
  content.tensors[layout::kModel + "fc/W"] = Tensor::zeros({DType::kFloat32, {3}});
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { load_variables(content, "a.h5", store); }),
                   {"model/fc/W is float32 [3], but the"}));
  content.tensors.erase(layout::kModel + "fc/W");
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { load_variables(content, "a.h5", store); }),
                   {"has no model/fc/W"}));
}

TEST(SavedState, keeps_a_position) {
  State state;
  save_position({3, 17}, state);
  const DataPosition back = load_position(State::from_json(state.to_json(), "a.h5"));
  EXPECT_EQ(back.pass, 3);
  EXPECT_EQ(back.index, 17);
}

/// Of passes of 10 samples.
TEST(SavedState, of_other_batches_goes_on_with_the_next_sample) {
  struct Case {
    int64_t before;
    int64_t batches;  // of that size, read in the pass
    std::string now;
    DataPosition expected;
  };
  for (const Case& c : std::vector<Case>{{4, 1, "4", {3, 1}},
                                         {4, 1, "2", {3, 2}},
                                         {4, 1, "3", {3, 1}},  // sample 3 comes again
                                         {4, 2, "2", {4, 0}},  // the last two are left out
                                         {4, 2, "2, remainder: true", {3, 4}},
                                         {4, 3, "2, remainder: true", {4, 0}}}) {
    State data;
    save_position({3, c.batches}, data);
    data.put("batch_size", c.before);
    const DataFlow flow =
        flow_of("[{FakeData: {shapes: [[1]], size: 10}}, {BatchData: {batch_size: " + c.now + "}}]");
    EXPECT_EQ(position_for(data, flow), c.expected) << c.batches << " of " << c.before << ", then " << c.now;
  }
}

}  // namespace
}  // namespace tpack
