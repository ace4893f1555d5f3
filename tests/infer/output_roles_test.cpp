// Runs `tpack infer` and `eval` on a model that tells two classes by one unit.
#include "infer/output_roles.h"

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_cli::Outcome;

/// The logit of yes is x, whatever is trained.
class OneUnit : public InferRuns {
 protected:
  void train_it(const std::string& columns) {
    write_content(folder_ / "train.csv", "id,x,late\na,-2,no\nb,-1,yes\nc,1,no\nd,2,yes\n");
    write_content(folder_ / "numbers.csv", "id,x,late\na,-2,0\nb,-1,1\nc,1,0\nd,2,1\n");
    train(
        "{CSV: {" + columns + "}}",
        "model:\n  layers: [{Identity: {name: logit, input: x}}, {FullyConnected: {name: idle, units: 1}}]\n"
        "  cost: [{SigmoidCrossEntropy: {logits: logit, labels: late}}, {Regularize: {variables: idle/W, l2: "
        "0.1}}]\n"
        "predict: {data: train, outputs: {p: {Sigmoid: logit}}}\n");
  }
};

TEST_F(OneUnit, names_its_classes_from_a_threshold_on) {
  train_it("file: train.csv, columns: {x: [x]}, labels: {late: late}");
  const Outcome lines = infer({folder_ / "train.csv"});
  ASSERT_EQ(lines.code, 0) << lines.err;
  const json first = json::parse(lines.out.substr(0, lines.out.find('\n')));
  EXPECT_EQ(first.at("label"), "no");
  EXPECT_NEAR(first.at("score").get<double>(), 0.8807971, 1e-6) << "1 / (1 + exp(-2))";
  EXPECT_NEAR(first.at("outputs").at("p").at(0).get<double>(), 0.1192029, 1e-6);
  for (const std::vector<std::string>& samples :
       {std::vector<std::string>{folder_ / "train.csv"}, {"--data", "train"}}) {
    std::vector<std::string> words = {"--columns", "id,late,true", "--threshold", "0.2"};
    words.insert(words.end(), samples.begin(), samples.end());
    EXPECT_EQ(infer(words).out, "id,late,true\na,no,no\nb,yes,yes\nc,yes,no\nd,yes,yes\n")
        << "sigmoid(-1) is 0.27";
  }
}

TEST_F(OneUnit, has_numbers_where_there_are_no_names) {
  train_it("file: numbers.csv, columns: {x: [x], late: [late]}");
  EXPECT_EQ(infer({folder_ / "numbers.csv", "--columns", "id,late,true"}).out,
            "id,late,true\na,0,0\nb,0,1\nc,1,0\nd,1,1\n");
}

TEST_F(OneUnit, gets_a_threshold_from_eval) {
  train_it("file: train.csv, columns: {x: [x]}, labels: {late: late}");
  const auto chosen = [&](const std::string& goal) {
    const Outcome outcome = testing_cli::tpack({"eval", folder_ / "run/checkpoints/model-2.h5", "--data",
                                                "train", "--threshold-for", goal, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out).at("threshold");
  };
  EXPECT_NEAR(chosen("recall=1").at("threshold").get<double>(), (0.1192029 + 0.2689414) / 2, 1e-6);
  EXPECT_EQ(chosen("precision=1").at("recall"), 0.5);
}

TEST_F(OneUnit, is_a_number_for_other_costs) {
  write_content(folder_ / "train.csv", "x,y\n-2,0.1\n1,0.9\n");
  train("{CSV: {file: train.csv, columns: {x: [x], y: [y]}}}",
        "model:\n  layers: [{FullyConnected: {name: f, input: x, units: 1}}, {Sigmoid: {name: s}}]\n"
        "  cost: [MeanSquaredError: {predictions: s, targets: y}]\npredict: {data: train, outputs: [s]}\n");
  const std::string lines = infer({folder_ / "train.csv"}).out;
  EXPECT_FALSE(json::parse(lines.substr(0, lines.find('\n'))).contains("label"));
  EXPECT_THAT(infer({folder_ / "train.csv", "--threshold", "0.3"}).err, HasSubstr("a Sigmoid of one unit"));
}

}  // namespace
}  // namespace tpack
