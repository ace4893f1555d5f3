#include "table/jsonl.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "name=text" of each value by line; or why the line has none.
Texts lines_of(const std::string& text) {
  JsonlReader reader(text, "a.jsonl");
  Texts lines;
  while (reader.next()) {
    std::string& line = lines.emplace_back(std::to_string(reader.line()) + ":");
    if (!reader.why().empty()) {
      line += " " + reader.why();
      continue;
    }
    for (const JsonlValue& value : reader.values()) line += " " + value.name + "=" + value.text;
  }
  return lines;
}

TEST(Jsonl, gives_the_values_of_each_line) {
  const std::string text =
      "{\"a\": 1, \"b\": -2.50, \"c\": \"x \\u00e9\", \"d\": null, \"e\": true}\r\n"
      "\n"
      "{}\n"
      "{\"big\": 18446744073709551615, \"e\": 1e400}\n"
      "{\"a\": false}";
  EXPECT_THAT(lines_of(text), ElementsAre("1: a=1 b=-2.50 c=x \xC3\xA9 d= e=true",
                                          "3:", HasSubstr("4: is not JSON"), "5: a=false"));
}

TEST(Jsonl, names_values_in_objects_and_lists) {
  EXPECT_THAT(
      lines_of("{\"s\": {\"x\": 1, \"in\": {\"y\": 2}, \"z\": 3}, \"l\": [4, [5, 6], {\"k\": 7}], \"m\": 8}"),
      ElementsAre("1: s.x=1 s.in.y=2 s.z=3 l.0=4 l.1.0=5 l.1.1=6 l.2.k=7 m=8"));
  EXPECT_THAT(lines_of("{\"e\": [], \"o\": {}, \"f\": 1}"), ElementsAre("1: f=1"));
}

TEST(Jsonl, says_what_is_no_object) {
  EXPECT_THAT(lines_of("[1]\n2\n{\"a\":1}}\n{\"a\":x}\n{\"a\":1"),
              ElementsAre("1: has a list, not an object such as {\"width\": 1.5}",
                          "2: has a value, not an object such as {\"width\": 1.5}",
                          HasSubstr("3: is not JSON: byte 8"), HasSubstr("4: is not JSON: byte 6"),
                          HasSubstr("5: is not JSON")));
  EXPECT_THAT(lines_of("{\"a\": " + std::string(200, '[') + std::string(200, ']') + "}"),
              ElementsAre(HasSubstr("deeper than 100 levels")));
  std::string many = "{\"a\": [0";
  for (int i = 0; i < 100'000; ++i) many += ",1";
  EXPECT_THAT(error_of([&] { lines_of(many + "]}"); }), HasSubstr("a.jsonl:1: more than 100,000 values"));
}

/// As Python's json writes them, which is not JSON.
TEST(JsonLines, may_have_nan) {
  EXPECT_THAT(
      lines_of(
          "{\"a\": NaN, \"NaN\": \"NaN\", \"b\": [NaN, 1]}\n{\"a\": -Infinity, \"b\": \"x \\\" NaN\"}\n"),
      ElementsAre("1: a= NaN=NaN b.0= b.1=1", "2: a=-Infinity b=x \" NaN"));
  EXPECT_THAT(lines_of("{\"a\": nan}\n")[0], HasSubstr("is not JSON"));
}

}  // namespace
}  // namespace tpack
