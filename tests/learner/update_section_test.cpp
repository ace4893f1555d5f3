#include "learner/update_section.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/schema.h"

namespace tpack {
namespace {

using UpdateSections = std::vector<UpdateSection>;

std::optional<UpdateSections> read(const std::string& yaml, Diagnostics& errors) {
  Reader reader("'updates'", {}, errors);
  return Codec<UpdateSections>::parse(parse_yaml(yaml, "test.yaml"), reader);
}

UpdateSections read(const std::string& yaml) {
  Diagnostics errors;
  auto sections = read(yaml, errors);
  errors.throw_if_any();
  return *sections;
}

std::string error_of(const std::string& yaml) {
  Diagnostics errors;
  EXPECT_FALSE(read(yaml, errors));
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// The update that each of the first steps runs: 'd', 'g', '+' for both, '-' for none.
std::string steps_of(const std::string& yaml) {
  const UpdateSections sections = read(yaml);
  const std::vector<UpdateSchedule> schedules = update_schedules(sections);
  std::string steps;
  for (int64_t step = 0; step < 8; ++step) {
    std::string due;
    for (size_t i = 0; i < schedules.size(); ++i) {
      if (schedules[i].includes(step)) due += sections[i].name;
    }
    steps += due.empty() ? "-" : due.size() == 1 ? due : "+";
  }
  return steps;
}

TEST(UpdateSections, run_in_each_step_or_take_turns) {
  EXPECT_EQ(steps_of("{d: {optimizer: SGD}, g: {optimizer: SGD}}"), "++++++++");
  EXPECT_EQ(steps_of("{d: {optimizer: SGD}, g: {optimizer: SGD, every: 3}}"), "+dd+dd+d");
  EXPECT_EQ(steps_of("{d: {optimizer: SGD, steps: 2}, g: {optimizer: SGD, steps: 1}}"), "ddgddgdd");
  EXPECT_EQ(steps_of("{a: {optimizer: SGD, steps: 1}, b: {optimizer: SGD, steps: 2}, c: {optimizer: SGD, "
                     "steps: 1}}"),
            "abbcabbc");
}

TEST(UpdateSections, of_a_gan_take_turns_unless_they_are_joint) {
  const std::string gan = "{GAN: {optimizer: SGD";
  EXPECT_EQ(steps_of(gan + "}}"), "dgdgdgdg");
  EXPECT_EQ(steps_of(gan + ", g_period: 3}}"), "dddgdddg");
  EXPECT_EQ(steps_of(gan + ", d_period: 3}}"), "dgggdggg");
  EXPECT_EQ(steps_of(gan + ", joint: true}}"), "++++++++");
  EXPECT_EQ(steps_of(gan + ", joint: true, d_period: 2}}"), "+g+g+g+g");
}

/// The long form that is in a checkpoint, with all defaults.
TEST(UpdateSections, of_a_gan_are_those_of_the_long_form) {
  const auto dump = [](const std::string& yaml) { return Codec<UpdateSections>::dump(read(yaml)); };
  const ConfigNode gan = dump("{GAN: {optimizer: {Adam: {beta1: 0.5}}, g_period: 5}}");
  EXPECT_TRUE(
      gan.same_value(dump("{d: {cost: d, variables: discriminator, optimizer: {Adam: {beta1: 0.5}}, "
                          "steps: 5}, g: {cost: g, variables: generator, optimizer: {Adam: {beta1: "
                          "0.5}}, steps: 1}}")))
      << to_json(gan);
  const ConfigNode named = dump(
      "{GAN: {optimizer: SGD, joint: true, d_cost: a, g_cost: b, d_variables: [x, y], "
      "g_variables: z}}");
  EXPECT_TRUE(
      named.same_value(dump("{d: {cost: a, variables: [x, y], optimizer: SGD}, g: {cost: b, variables: "
                            "z, optimizer: SGD}}")))
      << to_json(named);
  EXPECT_TRUE(Codec<UpdateSections>::dump(read(to_json(gan))).same_value(gan)) << "reads back";
}

TEST(UpdateSections, take_turns_all_or_none) {
  EXPECT_THAT(error_of("{d: {optimizer: SGD, steps: 2}, g: {optimizer: SGD}}"),
              testing::HasSubstr("test.yaml:1:33: update g: 'steps' is missing, but update d has it"));
  EXPECT_THAT(error_of("{d: {optimizer: SGD, steps: 2}, g: {optimizer: SGD, steps: 1, every: 2}}"),
              testing::HasSubstr("'every' of update g: the updates take turns"));
}

TEST(UpdateSections, of_a_gan_stand_alone_and_have_a_period_of_one) {
  EXPECT_THAT(error_of("{GAN: {optimizer: SGD}, d: {optimizer: SGD}}"),
              testing::HasSubstr("test.yaml:1:25: 'updates' has GAN"));
  EXPECT_THAT(error_of("{GAN: {optimizer: SGD, d_period: 2, g_period: 3}}"),
              testing::HasSubstr("one of them"));
  EXPECT_THAT(error_of("{GAN: {}}"), testing::HasSubstr("GAN: 'optimizer' is missing"));
  EXPECT_THAT(error_of("{GAN: {optimizer: SGD, g_perod: 2}}"), testing::HasSubstr("did you mean 'g_period'"));
}

}  // namespace
}  // namespace tpack
