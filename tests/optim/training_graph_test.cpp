#include "optim/training_graph.h"

#include <gmock/gmock-matchers.h>

#include "support/small_model.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Signature kFed = {{DType::kFloat32, {4, 5}}, {DType::kInt32, {4}}};

class TrainingGraph : public testing::Test {
 protected:
  static std::vector<std::string> assigned(const Graph& graph) {
    std::vector<std::string> names;
    for (const Assignment& a : graph.assignments()) names.push_back(a.variable);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string error_of(const std::string& model) {
    try {
      const auto tower = model_of(model);
      TrainingGraphs(*tower, updates_).backward(0, table_, kFed, DType::kFloat32);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  VariableTable table_;
  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
  std::unique_ptr<Optimizer> optimizer_ = optimizer_of("Momentum: {}");
  std::vector<Update> updates_ = {{.optimizer = optimizer_.get()}};
  TrainingGraphs graphs_{*model_, updates_};
};

TEST_F(TrainingGraph, backward_assigns_every_gradient_and_fetches_statistics) {
  const Graph graph = graphs_.backward(0, table_, kFed, DType::kFloat32, {"fc0"});
  EXPECT_THAT(assigned(graph),
              ElementsAre("@gradient/fc0/W", "@gradient/fc0/b", "@gradient/fc1/W", "@gradient/fc1/b"));
  std::vector<std::string> names;
  for (const Fetch& fetch : graph.fetches()) names.push_back(fetch.name);
  EXPECT_EQ(names[0], "cost/sum");
  EXPECT_EQ(names[1], "cost/weight");
  EXPECT_THAT(names, testing::Contains("fc0"));
}

TEST_F(TrainingGraph, the_flat_block_is_in_the_order_in_which_backward_ends) {
  graphs_.declare(table_, kFed, DType::kFloat32);
  const FlatLayout layout = flat_layout(table_, table_.groups().front());
  ASSERT_EQ(layout.entries.size(), 4U);
  EXPECT_THAT(layout.entries[0].name, testing::StartsWith("fc1/"));  // the last layer's come first
  EXPECT_THAT(layout.entries[3].name, testing::StartsWith("fc0/"));
  for (const auto& entry : layout.entries) EXPECT_EQ(entry.offset % 16, 0);
  EXPECT_NE(table_.find("learning_rate"), nullptr);
  EXPECT_NE(table_.find("@momentum"), nullptr);
}

TEST_F(TrainingGraph, update_reads_the_gradient_block_and_assigns_the_parameters) {
  graphs_.declare(table_, kFed, DType::kFloat32);
  const Graph graph = graphs_.update(0, table_, DType::kFloat32, 0.5);
  EXPECT_THAT(assigned(graph), ElementsAre("@momentum", "@parameters"));
}

/// A model that scales its input by a variable which depends on the size of the batch.
class MovingModel final : public TowerFunction {
 public:
  /// For a batch above 4 the variable gets another size or is not there.
  enum class Above4 : uint8_t { kNewName, kNewSize, kNone };
  explicit MovingModel(Above4 change) : change_(change) {}
  const std::vector<TowerInput>& inputs() const override { return model_->inputs(); }
  TowerResult build(Builder& b, const std::map<std::string, Symbol>& in) const override {
    std::map<std::string, Symbol> scaled = in;
    Symbol& input = scaled.at("x");
    const bool other = input.shape()[0] > 4;
    const char* const name = other && change_ == Above4::kNewName ? "other" : "scale";
    const Shape shape = other && change_ == Above4::kNewSize ? Shape{1} : Shape{5};
    if (!other || change_ != Above4::kNone)
      input = b.mul(input, b.variable({name, {DType::kFloat32, shape}, VariableScope::kModel, true}));
    return model_->build(b, scaled);
  }

 private:
  Above4 change_;
  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
};

TEST_F(TrainingGraph, rejects_a_model_that_has_other_variables_when_it_is_built_again) {
  const Signature larger = {{DType::kFloat32, {8, 5}}, {DType::kInt32, {8}}};
  const auto error_of = [&](MovingModel::Above4 change) -> std::string {
    const MovingModel model(change);
    VariableTable table;
    TrainingGraphs graphs(model, updates_);
    graphs.declare(table, kFed, DType::kFloat32);
    EXPECT_NO_THROW(graphs.backward(0, table, kFed, DType::kFloat32));
    try {
      graphs.backward(0, table, larger, DType::kFloat32);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of(MovingModel::Above4::kNewName), HasSubstr("variable other did not exist"));
  EXPECT_THAT(error_of(MovingModel::Above4::kNewSize),
              HasSubstr("variable scale is float32 [5], but is used"));
  EXPECT_THAT(error_of(MovingModel::Above4::kNone), HasSubstr("does not use variable scale each time"));
}

TEST_F(TrainingGraph, of_frozen_variables_has_no_gradient_and_no_slot) {
  updates_[0].frozen = {{"fc0", {}}, {"fc1/b", {}}};
  TrainingGraphs graphs(*model_, updates_);
  graphs.declare(table_, kFed, DType::kFloat32);
  EXPECT_THAT(assigned(graphs.backward(0, table_, kFed, DType::kFloat32)), ElementsAre("@gradient/fc1/W"));
  const FlatLayout layout = flat_layout(table_, table_.groups().front());
  ASSERT_EQ(layout.entries.size(), 1U);
  EXPECT_EQ(layout.entries[0].name, "fc1/W");
}

TEST_F(TrainingGraph, rejects_a_model_without_cost) {
  std::string model = kSmallModel;
  model.replace(model.find("cost:"), model.find("metrics:") - model.find("cost:"), "cost: []\n");
  EXPECT_THAT(error_of(model), HasSubstr("the model has no cost"));
}

TEST_F(TrainingGraph, rejects_a_cost_that_no_variable_matters_to) {
  EXPECT_THAT(error_of(R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - Tanh
cost:
  - SoftmaxCrossEntropy: {logits: tanh_0, labels: label}
)"),
              HasSubstr("the cost does not depend on any trainable variable"));
}

constexpr const char* kTwoCosts = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
networks:
  body: [{FullyConnected: {name: fc, units: 3}}, {BatchNorm: {name: bn}}]
layers:
  - Call: {name: first, network: body, input: x}
  - BatchNorm: {name: plain, center: false, scale: false, input: x}
  - FullyConnected: {name: head, units: 3}
costs:
  a: [{SoftmaxCrossEntropy: {logits: first, labels: label}}]
  b: [{SoftmaxCrossEntropy: {logits: head, labels: label}}, {Regularize: {variables: "head/W", l2: 0.1}}]
)";

class TwoUpdates : public TrainingGraph {
 protected:
  Update update(const std::string& name, const std::string& cost, const std::string& variables) {
    Update made;
    made.name = name;
    made.cost = {cost, {}};
    if (!variables.empty()) made.variables = {{variables, {}}};
    made.optimizer = optimizer_.get();
    return made;
  }
  std::string error_of(const std::vector<Update>& updates) {
    VariableTable table;
    try {
      TrainingGraphs(*two_, updates).declare(table, kFed, DType::kFloat32);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<TowerFunction> two_ = model_of(kTwoCosts);
};

TEST_F(TwoUpdates, have_blocks_and_slots_of_their_own) {
  const std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  EXPECT_THAT(assigned(graphs.update(0, table_, DType::kFloat32, 1)),
              ElementsAre("@momentum:a", "@parameters:a"));
  EXPECT_THAT(assigned(graphs.update(1, table_, DType::kFloat32, 1)),
              ElementsAre("@momentum:b", "@parameters:b"));
  EXPECT_NE(table_.find("b/learning_rate"), nullptr);
  const FlatLayout layout = flat_layout(table_, table_.groups()[1]);
  ASSERT_EQ(layout.entries.size(), 2U);
  for (const auto& entry : layout.entries) EXPECT_THAT(entry.name, testing::StartsWith("head/"));
}

TEST_F(TwoUpdates, assign_their_own_gradients_and_the_averages_nearest_to_what_they_train) {
  const std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  // The layer `plain` has no variables of its own, and the nearest ones are those of the whole model.
  EXPECT_THAT(assigned(graphs.backward(0, table_, kFed, DType::kFloat32)),
              ElementsAre("@gradient/body/bn/beta", "@gradient/body/bn/gamma", "@gradient/body/fc/W",
                          "@gradient/body/fc/b", "body/bn/mean/EMA", "body/bn/variance/EMA", "plain/mean/EMA",
                          "plain/variance/EMA"));
  EXPECT_THAT(assigned(graphs.backward(1, table_, kFed, DType::kFloat32)),
              ElementsAre("@gradient/head/W", "@gradient/head/b"));
}

TEST_F(TwoUpdates, leave_averages_of_frozen_layers_alone) {
  const std::vector<Update> updates = {update("b", "b", "head")};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  EXPECT_THAT(assigned(graphs.backward(0, table_, kFed, DType::kFloat32)),
              ElementsAre("@gradient/head/W", "@gradient/head/b", "plain/mean/EMA", "plain/variance/EMA"));
  const VariableStore store(table_);
  EXPECT_FALSE(store.has("@gradient/body/fc/W"));
  EXPECT_TRUE(store.has("body/fc/W"));
}

TEST_F(TwoUpdates, leave_averages_of_layers_alone_that_are_frozen_by_name) {
  std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
  for (Update& one : updates) one.frozen = {{"body/bn", {}}};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  EXPECT_THAT(
      assigned(graphs.backward(0, table_, kFed, DType::kFloat32)),
      ElementsAre("@gradient/body/fc/W", "@gradient/body/fc/b", "plain/mean/EMA", "plain/variance/EMA"));
}

/// The layer then does what it does in inference, so nothing that depends on the batch is computed for it.
TEST_F(TwoUpdates, take_averages_for_the_statistics_of_frozen_layers) {
  const auto batch_norms = [&](const std::vector<Ref<VariablePattern>>& patterns) {
    std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
    for (Update& one : updates) one.frozen = patterns;
    VariableTable table;
    TrainingGraphs graphs(*two_, updates);
    graphs.declare(table, kFed, DType::kFloat32);
    const std::string text = graphs.backward(0, table, kFed, DType::kFloat32).str();
    return text.find("# first/bn/BatchNorm") == std::string::npos ? "averages" : "batch";
  };
  EXPECT_EQ(batch_norms({}), std::string("batch"));
  EXPECT_EQ(batch_norms({{"body/bn/beta", {}}}), std::string("batch"));
  EXPECT_EQ(batch_norms({{"body/bn/(beta|gamma)", {}}}), std::string("averages"));
  EXPECT_EQ(batch_norms({{"body/bn", {}}}), std::string("averages"));
}

TEST_F(TwoUpdates, take_averages_for_the_statistics_of_layers_that_no_update_trains) {
  const auto norm_with = [&](const std::vector<Update>& updates) {
    VariableTable table;
    TrainingGraphs graphs(*two_, updates);
    graphs.declare(table, kFed, DType::kFloat32);
    const std::string text = graphs.backward(0, table, kFed, DType::kFloat32).str();
    return text.find("# first/bn/BatchNorm") == std::string::npos ? "averages" : "batch";
  };
  EXPECT_EQ(norm_with({update("a", "a", "body")}), std::string("batch"));
  EXPECT_EQ(norm_with({update("a", "a", "body/fc")}), std::string("averages"));
  EXPECT_EQ(norm_with({update("a", "a", "body/fc"), update("c", "a", "body/bn")}), std::string("batch"));
}

TEST_F(TwoUpdates, name_variables_that_their_cost_does_not_depend_on) {
  const std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  for (const ParameterGroup& group : table_.groups())
    EXPECT_THAT(group.unreached, ElementsAre()) << group.name;
}

TEST_F(TwoUpdates, fetch_the_statistics_of_their_costs) {
  const std::vector<Update> updates = {update("a", "a", "body"), update("b", "b", "head")};
  TrainingGraphs graphs(*two_, updates);
  graphs.declare(table_, kFed, DType::kFloat32);
  const auto fetches = [&](size_t i) {
    std::vector<std::string> names;
    const Graph graph = graphs.backward(i, table_, kFed, DType::kFloat32);
    for (const Fetch& fetch : graph.fetches())
      if (fetch.name.ends_with("/sum")) names.push_back(fetch.name);
    return names;
  };
  EXPECT_THAT(fetches(0), ElementsAre("a/sum"));
  EXPECT_THAT(fetches(1), ElementsAre("b/sum", "b_softmax_cross_entropy/sum", "b_regularize/sum"));
}

TEST_F(TwoUpdates, say_what_they_cannot_do) {
  EXPECT_THAT(error_of({update("a", "c", "body")}), HasSubstr("unknown cost 'c'"));
  EXPECT_THAT(
      error_of({update("a", "a", "bodi")}),
      HasSubstr("update a: no trainable variable matches 'bodi' or is below it; did you mean 'body'?"));
  EXPECT_THAT(error_of({update("a", "a", "body"), update("b", "b", "")}),
              HasSubstr("is also trained by update a"));
  std::vector<Update> frozen = {update("a", "a", "body"), update("b", "b", "head")};
  for (Update& one : frozen) one.frozen = {{"bodi/.*", {}}};
  EXPECT_THAT(error_of(frozen),
              HasSubstr("'freeze': no trainable variable matches 'bodi/.*' or is below it"));
  for (Update& one : frozen) one.frozen = {{"body", {}}};
  EXPECT_THAT(error_of(frozen), HasSubstr("update a: the cost does not depend on any trainable variable that "
                                          "it selects and that is not in `freeze`"));
  EXPECT_THAT(error_of({update("a", "a", "head")}),
              HasSubstr("update a: the cost does not depend on any trainable variable that it selects"));
}

}  // namespace
}  // namespace tpack
