#include "train/callback_list.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;

class Listed final : public Callback, public CheckpointWriting {
 public:
  struct Params {
    std::string identity;
    std::vector<std::string> files;
    bool only_one = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Says what it is told to say.")
        .field("identity", &Params::identity, "its identity")
        .field("files", &Params::files, "the checkpoints that it writes")
        .field("only_one", &Params::only_one, "whether there may be one only");
  }
  explicit Listed(Params p) : Callback({.identity = p.identity, .only_one = p.only_one}), p_(std::move(p)) {}
  std::vector<std::string> checkpoints() const override { return p_.files; }

 private:
  Params p_;
};
TPACK_REGISTER(Callback, Listed, "TestListed", "TestAlias");

/// Names and mistakes of a list of callbacks.
struct ListOutcome {
  std::vector<std::string> names;
  std::string errors;
};
ListOutcome outcome_of(const std::string& list) {
  CallbackList callbacks;
  Diagnostics errors;
  const ConfigNode items = parse_yaml(list, "l.yaml");
  for (const ConfigNode& item : items.items()) callbacks.add({item}, errors);
  ListOutcome outcome;
  for (const NamedCallback& named : callbacks.take()) outcome.names.push_back(named.name);
  outcome.errors = error_from([&] { errors.throw_if_any(); });
  return outcome;
}

TEST(CallbackList, names_callbacks_by_type_identity_and_number) {
  EXPECT_THAT(
      outcome_of("[TestListed, TestAlias, TestListed: {identity: a/b}, TestListed: {identity: a/b}]").names,
      ElementsAre("test_listed_0", "test_listed_1", "test_listed_a-b", "test_listed_a-b_1"));
}

TEST(CallbackList, rejects_a_second_one_where_there_may_be_one_only) {
  EXPECT_EQ(outcome_of("[TestListed: {only_one: true}, TestListed: {only_one: true, identity: x}]").errors,
            "no error");
  EXPECT_EQ(outcome_of("[TestListed: {only_one: true, identity: x, files: [x.h5]},\n"
                       " TestListed: {only_one: true, identity: x, files: [x.h5]}]")
                .errors,
            "l.yaml:2:2: duplicate callback TestListed of 'x'; keep one of them");
}

TEST(CallbackList, rejects_a_second_one_that_writes_the_same_checkpoint) {
  EXPECT_EQ(outcome_of("[TestListed: {files: [a.h5, b.h5]},\n TestAlias: {files: [c.h5, b.h5]}]").errors,
            "l.yaml:2:2: callback TestAlias writes checkpoints/b.h5, and so does an earlier one; keep one of "
            "them, or change 'file' of one");
}

TEST(CallbackList, leaves_out_what_cannot_be_made) {
  const ListOutcome outcome = outcome_of("[TestLisped, TestListed: {only_one: true}]");
  EXPECT_THAT(outcome.names, ElementsAre("test_listed_0"));
  EXPECT_EQ(outcome.errors, "l.yaml:1:2: unknown callback 'TestLisped'; did you mean 'TestListed'?");
}

}  // namespace
}  // namespace tpack
