#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The learning rates of a run of one step an epoch, whose file has `content[n]` from step n on.
std::vector<float> rates_of(const std::string& file, const std::vector<std::string>& content,
                            const std::string& params = "{param: learning_rate}") {
  const TemporaryFolder folder;
  std::vector<float> seen;
  FakeTrainer trainer;
  trainer.on_step = [&](int64_t step) {
    seen.push_back(static_cast<float>(trainer.learning_rate()));
    const auto next = static_cast<size_t>(step) + 1;
    if (next < content.size()) write_content(folder / file, content[next]);
  };
  write_content(folder / file, content.at(0));
  TestRun run({.max_epoch = static_cast<int64_t>(content.size()), .steps_per_epoch = 1}, trainer,
              folder.str());
  run.add("HumanHyperParamSetter", parse_yaml(params, "s.yaml")).go();
  return seen;
}

TEST(HumanHyperParamSetter, sets_what_the_file_says_after_each_epoch) {
  EXPECT_THAT(rates_of("hyper.txt",
                       {"learning_rate:0.3\n", "learning_rate: 0.2", "other: 7\n learning_rate : 1e-2\n"}),
              ElementsAre(0.3F, 0.2F, 0.01F));
}

TEST(HumanHyperParamSetter, without_file_or_line_nothing_changes) {
  EXPECT_THAT(rates_of("elsewhere.txt", {"learning_rate: 0.3", "learning_rate: 0.3"}),
              ElementsAre(0.1F, 0.1F));
  EXPECT_THAT(rates_of("hyper.txt", {"momentum: 0.3", ""}), ElementsAre(0.1F, 0.1F));
  EXPECT_THAT(rates_of("rates.txt", {"learning_rate: 0.3"}, "{param: learning_rate, file: rates.txt}"),
              ElementsAre(0.3F));
}

TEST(HumanHyperParamSetter, says_what_it_cannot_use_and_goes_on) {
  const CapturedLog log;
  EXPECT_THAT(rates_of("hyper.txt", {"learning_rate: 0.3", "\nlearning_rate: 0,2", "learning_rate: -1"}),
              ElementsAre(0.3F, 0.3F, 0.3F));
  EXPECT_THAT(rates_of("hyper.txt", {"# a remark\nlearning_rate 0.3\n\nlearning_rat: 0.2\nmomentum: 0.5\n"}),
              ElementsAre(0.1F));
  EXPECT_TRUE(
      says(log.text(), {"hyper.txt:2: '0,2' is ignored: it is not a number", "hyper.txt:1: '-1' is ignored",
                        "must be at least 0", "hyper.txt:2: 'learning_rate 0.3' is ignored",
                        "write `learning_rate: NUMBER`", "hyper.txt:4: 'learning_rat' is ignored"}));
  EXPECT_THAT(log.text(), Not(HasSubstr("momentum")));
  EXPECT_THAT(log.text(), Not(HasSubstr("remark")));
}

TEST(HumanHyperParamSetter, a_resumed_run_begins_with_the_value_of_its_checkpoint) {
  const TemporaryFolder folder;
  write_content(folder / "hyper.txt", "learning_rate: 0.5");
  const auto start = [&](FakeTrainer& trainer, int64_t epochs) {
    auto run = std::make_unique<TestRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 1}, trainer,
                                         folder.str());
    run->add("HumanHyperParamSetter", parse_yaml("{param: learning_rate}", "s.yaml")).add("ModelSaver");
    return run;
  };
  FakeTrainer first;
  start(first, 1)->go();
  write_content(folder / "hyper.txt", "learning_rate: 0.25");
  std::vector<float> seen;
  FakeTrainer second;
  second.on_step = [&](int64_t) { seen.push_back(static_cast<float>(second.learning_rate())); };
  start(second, 3)->go_on_from(folder / "checkpoints/model-1.h5");
  EXPECT_THAT(seen, ElementsAre(0.5F, 0.25F));
}

std::string with_human_file(const std::string& item) {
  const ComponentItem parsed = component_item(parse_yaml(item, "i.yaml"), "callback");
  std::string text;
  for (const float rate : rates_of("hyper.txt", {"learning_rate: 0.3"}, to_json(parsed.params)))
    text += shortest(rate);
  return text;
}
const live::Fields kHumanHyperParamSetter("callback", "HumanHyperParamSetter",
                                          {.values = {{"param", "momentum"}, {"file", "other.txt"}},
                                           .build = with_human_file});

}  // namespace
}  // namespace tpack
