#include "sources/format/svmlight.h"

#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What a reader gives, one text per sample: "line: targets | index:value ...", or why the line is bad.
Texts samples_in(std::string_view text) {
  SvmLightReader reader(text, "a.svm");
  Texts all;
  for (SvmLightRow row; reader.next(row);) {
    std::string& sample = all.emplace_back(std::to_string(row.line) + ":");
    if (!row.why.empty()) {
      sample += " bad: " + row.why;
      continue;
    }
    for (const double target : row.targets) sample += " " + std::to_string(target).substr(0, 4);
    sample += " |";
    for (const auto& feature : row.features)
      sample += " " + std::to_string(feature.index) + ":" + std::to_string(feature.value).substr(0, 4);
  }
  return all;
}

TEST(SvmLightReader, splits_lines_into_targets_and_features) {
  EXPECT_THAT(samples_in("+1 1:0.5 3:-2\r\n"
                         "# a comment\n"
                         "\n"
                         "  -1.5\tqid:7  2:1e1 # 4:1\n"
                         "2,3 0:1"),
              ElementsAre("1: 1.00 | 1:0.50 3:-2.0", "4: -1.5 | 2:10.0", "5: 2.00 3.00 | 0:1.00"));
}

TEST(SvmLightReader, a_line_may_lack_targets_or_features) {
  EXPECT_THAT(samples_in("1:2\n3\n\xEF\xBB\xBF"),
              ElementsAre("1: | 1:2.00", "2: 3.00 |", HasSubstr("3: bad")));
  EXPECT_THAT(samples_in("\xEF\xBB\xBF"
                         "5 1:2\n"),
              ElementsAre("1: 5.00 | 1:2.00"))
      << "with a byte order mark";
  EXPECT_THAT(samples_in("# none\n\n"), ElementsAre());
}

TEST(SvmLightReader, sorts_features) {
  EXPECT_THAT(samples_in("1 30:3 4:2 100:1\n"), ElementsAre("1: 1.00 | 4:2.00 30:3.00 100:1.00"));
}

TEST(SvmLightReader, says_what_is_wrong_with_a_line_and_goes_on) {
  EXPECT_THAT(
      samples_in("yes 1:2\n1 a:2\n1 2\n1 -1:2\n1 1:x\n1 1:1e39\n1 1:nan\n1 5:1 2:1 5:2\n1,,2 1:1\n"
                 "1 99999999999999999999:1\n1 1:\n7 8:9\n"),
      ElementsAre(HasSubstr("target 'yes' is not a number; a line is `target index:value index:value ...`"),
                  HasSubstr("'a:2' is not `index:value` with an integer as index"), HasSubstr("'2' is not"),
                  HasSubstr("'-1:2' is not"),
                  HasSubstr("feature 1 has 'x', which is not a number of float32"), HasSubstr("'1e39'"),
                  HasSubstr("'nan'"), HasSubstr("feature 5 has two values"), HasSubstr("target '' is not"),
                  HasSubstr("'99999999999999999999:1' is not"), HasSubstr("feature 1 has ''"),
                  "12: 7.00 | 8:9.00"));
}

TEST(SvmLightReader, rejects_what_is_not_text) {
  EXPECT_TRUE(fails([] { SvmLightReader("\x1F\x8B\x08", "a.svm"); }, {"a.svm: is a gzip ", "unpack it"}));
  EXPECT_THAT(error_of([] { SvmLightReader("\xFF\xFE\x31", "a.svm"); }), HasSubstr("UTF-16"));
}

}  // namespace
}  // namespace tpack
