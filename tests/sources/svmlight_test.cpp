#include "config/yaml_reader.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Flows on files of one folder.
class SvmLightFiles {
 public:
  explicit SvmLightFiles(const std::string& text) { add("a.svm", text); }
  void add(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  std::string path(const std::string& name = "a.svm") const { return folder_.path(name); }
  DataFlow flow(const std::string& params = "", const std::string& file = "a.svm",
                const std::shared_ptr<Fit>& fit = nullptr, const std::string& on_error = "stop") const {
    return folder_.flow("{flow: [{SVMLight: {shuffle: false, file: " + file +
                            (params.empty() ? "" : ", " + params) + "}}], on_error: " + on_error + "}",
                        fit);
  }
  /// The flow of b.svm, which follows that of a.svm.
  DataFlow other(const std::string& params = "", const std::string& train_params = "",
                 const std::string& on_error = "stop") const {
    return flow(params, "b.svm", std::make_shared<Fit>(flow(train_params)), on_error);
  }
  std::string error(const std::string& params = "") const {
    return error_of([&] { flow(params).prepare(); });
  }

 private:
  TempFolder folder_;
};

TEST(SvmLight, gives_dense_features_and_the_labels_of_integers) {
  const SvmLightFiles files("+1 1:0.5 3:-2 # first\n-1 2:4\n1 qid:3\n");
  const DataFlow flow = files.flow();
  EXPECT_FALSE(flow.knows_spec());
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [3], y int32 []");
  EXPECT_THAT(flow.spec()[1].classes, ElementsAre("-1", "1"));
  EXPECT_EQ(samples_of(flow), (Rows{{0.5, 0, -2, 1}, {0, 4, 0, 0}, {0, 0, 0, 1}}));
  EXPECT_EQ(describe(flow.facts()), "3 rows in 2 classes (-1: 1, 1: 2)");
}

TEST(SvmLight, sorts_classes_by_their_numbers) {
  const SvmLightFiles files("10 1:1\n9 1:1\n-0 1:1\n0 1:1\n9.0 1:1\n");
  const DataFlow flow = files.flow();
  flow.prepare();
  EXPECT_THAT(flow.spec()[1].classes, ElementsAre("0", "9", "10"));
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2}, {1, 1}, {1, 0}, {1, 0}, {1, 1}}));
}

TEST(SvmLight, gives_numbers_unless_all_are_integers) {
  const SvmLightFiles files("24 1:1\n21.6 1:2\n");
  const DataFlow flow = files.flow();
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [1], y float32 []");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 24}, {2, 21.6F}}));
  const SvmLightFiles integers("24 1:1\n21 1:2\n");
  EXPECT_EQ(samples_of(integers.flow("targets: number")), (Rows{{1, 24}, {2, 21}}));
  EXPECT_TRUE(says(remarks_of(files.flow("targets: class", "a.svm", nullptr, "skip")).at(0),
                   {"line 2: target 21.6", "targets: number"}));
}

TEST(SvmLight, several_classes_of_a_line_are_a_set) {
  const SvmLightFiles files("1,3 1:1\n7 1:2\n1:3\n");
  const DataFlow flow = files.flow();
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "x float32 [1], y float32 [3]");
  EXPECT_THAT(flow.spec()[1].classes, ElementsAre("1", "3", "7"));
  EXPECT_EQ(samples_of(flow), (Rows{{1, 1, 1, 0}, {2, 0, 0, 1}, {3, 0, 0, 0}}));
  EXPECT_TRUE(fails([&] { samples_of(files.flow("targets: class")); },
                    {files.path() + ":1: has 2 targets", "targets: set", "{on_error: replace"}));
}

TEST(SvmLight, counts_indices_from_zero_if_it_is_told) {
  const SvmLightFiles files("1 0:5 1:6\n2 2:7\n");
  EXPECT_EQ(samples_of(files.flow("zero_based: true")), (Rows{{5, 6, 0, 0}, {0, 0, 7, 1}}));
  EXPECT_TRUE(says(files.error(), {files.path() + ":1: has feature 0", "set zero_based: true"}));
}

TEST(SvmLight, has_as_many_features_as_the_config_says) {
  const SvmLightFiles files("1 1:5 2:6\n2 2:7 4:1\n");
  const DataFlow flow = files.flow("features: 3", "a.svm", nullptr, "skip");
  EXPECT_EQ(samples_of(flow), (Rows{{5, 6, 0, 0}}));
  EXPECT_THAT(remarks_of(flow), ElementsAre(HasSubstr("line 2: feature 4 is above 3")));
  EXPECT_THAT(files.error("features: 0"), HasSubstr("'features' of source SVMLight"));
}

TEST(SvmLight, other_flows_have_the_features_and_classes_of_the_training_data) {
  const SvmLightFiles files("1 3:1\n2 1:1\n5 1:1\n");
  files.add("b.svm", "5 1:7 9:2\n2 2:8\n");
  const DataFlow other = files.other();
  other.prepare();
  EXPECT_EQ(other.spec().str(), "x float32 [3], y int32 []");
  EXPECT_EQ(samples_of(other), (Rows{{7, 0, 0, 2}, {0, 8, 0, 1}}));
  EXPECT_THAT(remarks_of(other),
              ElementsAre("features that data.train does not have are not read: 1 row has an index above 3",
                          "does not have these classes of data.train: 1"));
  files.add("b.svm", "5 1:7\n4 2:8\n");
  EXPECT_THAT(remarks_of(files.other("", "", "skip")),
              testing::Contains(HasSubstr("line 2: target 4 is not a class of data.train")));
  files.add("b.svm", "5 1:7\n");
  EXPECT_EQ(samples_of(files.other("features: 2")).at(0), (Numbers{7, 0, 2}));
}

TEST(SvmLight, other_flows_have_targets_of_the_same_form) {
  const SvmLightFiles numbers("1.5 1:1\n2 1:2\n");
  numbers.add("b.svm", "3 1:1\n");
  EXPECT_EQ(samples_of(numbers.other()), (Rows{{1, 3}})) << "a number, though it is an integer";
  const SvmLightFiles sets("1,2 1:1\n5 1:1\n");
  sets.add("b.svm", "5 1:1\n");
  EXPECT_EQ(samples_of(sets.other()), (Rows{{1, 0, 0, 1}})) << "a set, though it has one class";
}

TEST(SvmLight, says_what_is_wrong_with_the_file) {
  expect_errors([](const std::string& text) { SvmLightFiles(text).flow().prepare(); },
                {{"# nothing\n", {"a.svm: has no samples"}},
                 {"1\n2\n", {"a.svm: has no features"}},
                 {"a,b,c\nd,e,f\n", {"a.svm:1: target 'a'", "`target index:value", "all 2 rows are bad"}},
                 {"1 5000000:1\n", {"feature 5000000 is above 4194304"}},
                 {"1:1\n2:1\n", {"has no target before its features"}}});
  EXPECT_TRUE(says(SvmLightFiles("1 1:1\n").error("x: a, y: a"), {"'x' and 'y' are both 'a'"}));
  EXPECT_TRUE(fails([] { SvmLightFiles("").flow("", "absent.svm").prepare(); }, {"no such file"}));
}

TEST(SvmLight, reads_other_files_without_targets) {
  const SvmLightFiles files("1 1:1\n2 2:1\n");
  files.add("b.svm", "2:4\n0 1:5 3:1\n");
  const DataFlow train = files.flow("x: features, y: class");
  train.prepare();
  const auto* source = dynamic_cast<const RandomAccessSource*>(train.flow()->sources().at(0));
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(fails([&] { source->part<SourceFiles>().reopen_with(files.path("b.svm"), {"class"}); },
                    {"classes of data.train"}));
  const auto reader = source->part<SourceFiles>().reopen_with(files.path("b.svm"), {"features"});
  reader->follow(std::make_shared<Fit>(files.flow("x: features, y: class")), "svm_light_0");
  reader->prepare_once({});
  EXPECT_EQ(reader->spec().str(), "features float32 [2]");
  Datapoint d;
  d.resize(1);
  reader->get(0, {}, d);
  EXPECT_EQ(d.tensor(0).at(1), 4);
}

/// The flow of a source in a folder with two files.
std::string content_of_svmlight(const std::string& source) {
  const TempFolder folder;
  const std::string text = "1 1:5 2:6\n2 2:7 3:1\n2 1:1\n1 1:2\n";
  folder.write_text("heart_scale", text);
  folder.write("other", {text.begin() + 10, text.end()});
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kSvmLight("source", "SVMLight",
                             {.base = "{file: heart_scale}",
                              .values = {{"file", "other"},
                                         {"x", "a"},
                                         {"y", "b"},
                                         {"targets", "number"},
                                         {"features", "5"},
                                         {"zero_based", "true"},
                                         {"shuffle", "false"}},
                              .build = content_of_svmlight});

}  // namespace
}  // namespace tpack
