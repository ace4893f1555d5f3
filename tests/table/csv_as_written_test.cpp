#include "dataflow/csv_file.h"

namespace tpack {
namespace {

using testing::HasSubstr;

TEST(CsvAsWritten, reads_numbers_as_people_write_them) {
  EXPECT_EQ(samples_of(CsvFile("x,y\n\"1,039\",$5\n7,6\n").flow("columns: {x: x, y: y}")),
            (Rows{{1039, 5}, {7, 6}}));
  const CsvFile points("x;y\n1.234;1,5\n-2;,25\n");
  EXPECT_EQ(samples_of(points.flow("columns: {x: x, y: y}, delimiter: ;, decimal: ','")),
            (Rows{{1234, 1.5}, {-2, 0.25}}));
  EXPECT_TRUE(says(CsvFile("x;y\n1.5;1\n").prepare_error("columns: {x: x}, delimiter: ;, decimal: ','"),
                   {"column 'x' has '1.5'", "`decimal` is ','"}));
  EXPECT_TRUE(says(CsvFile("x;y\n1,039;1\n").prepare_error("columns: {x: x}, delimiter: ;"),
                   {"'1,039'", "several notations", "write all as 1234.5", "set decimal"}));
  const CsvFile mixed("x\n\"1,039\"\n\"1,5\"\n");
  const DataFlow flow = mixed.flow("columns: {x: x}", "skip");
  EXPECT_TRUE(fails([&] { flow.prepare(); }, {"all 2 rows are bad"})) << "commas that are decimal signs";
}

TEST(CsvAsWritten, has_words_for_missing_values) {
  const CsvFile file("x,y,c\n-,1,a\n5,-999,-\n-999.0,2,b\n");
  const std::string columns = "columns: {x: x, y: y}, labels: {c: c}, missing: 0, ";
  EXPECT_EQ(samples_of(file.flow(columns + "na_values: [-, -999]", "skip")), (Rows{{0, 1, 0}, {0, 2, 1}}));
  EXPECT_EQ(samples_of(file.flow(columns + "na_values: {x: [-, -999]}")),
            (Rows{{0, 1, 1}, {5, -999, 0}, {0, 2, 2}}));
  EXPECT_TRUE(says(file.prepare_error(columns + "na_values: {z: 0}"), {"'na_values': unknown column 'z'"}));
  EXPECT_TRUE(fails([&] { samples_of(file.flow("columns: {x: x}")); }, {"'x' has '-'", "'na_values'"}));
}

TEST(CsvAsWritten, reads_the_first_line_of_excel) {
  const CsvFile file("sep=;\nx;y\n1;2\n3;4\n");
  const DataFlow flow = file.flow("columns: {x: x, y: y}");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(samples_of(file.flow("columns: {x: x}, delimiter: ;")), (Rows{{1}, {3}}));
  EXPECT_THAT(CsvFile("sep=;\r\nx;y\r\n1;a\r\n").prepare_error("columns: {y: y}"), HasSubstr("a.csv:3: "));
  EXPECT_EQ(samples_of(CsvFile("sep=\nx\n1\n").flow("columns: {x: ['sep=']}, missing: 0", "skip")).size(),
            1U);
}

TEST(CsvAsWritten, says_which_delimiter_a_table_has) {
  const CsvFile file("a;b;c\n1,5;2;3\n4,5;6;1\n");
  EXPECT_THAT(file.prepare_error("columns: {x: auto}"), HasSubstr("; set delimiter: \";\""));
  EXPECT_THAT(CsvFile("id;late\n1;2\n").prepare_error("columns: {x: late}"),
              testing::AllOf(HasSubstr("set delimiter: \";\""), testing::Not(HasSubstr("did you mean"))));
  EXPECT_THAT(file.prepare_error("columns: {x: [\".*\"]}"), HasSubstr("2 fields, but the header has 1"));
  EXPECT_TRUE(says(CsvFile("1;2\n3;4\n").prepare_error("columns: {x: [\"0\"]}, header: false"),
                   {"has '1;2'", "set delimiter: \";\""}));
}

TEST(CsvAsWritten, says_that_a_first_row_of_numbers_is_no_header) {
  const CsvFile file("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n");
  EXPECT_TRUE(
      says(file.prepare_error("columns: {x: [width]}"), {"data (5.1, 3.5, 1.4, setosa)", "header: false"}));
  EXPECT_EQ(file.prepare_error("columns: {x: [\"0\"]}, header: false"), "no error");
  const CsvFile twice("1,85,66,0,26.6,0,31\n8,183,64,0,23.3,1,32\n");
  for (const char* columns : {"{x: auto}", "{x: \"0\"}", "{x: bmi}"})
    EXPECT_TRUE(says(twice.prepare_error("columns: " + std::string(columns)), {"looks like data"}))
        << columns;
}

TEST(CsvAsWritten, warns_of_a_header_of_numbers) {
  const auto warnings = [](const std::string& text) {
    testing::internal::CaptureStderr();
    CsvFile(text).flow("columns: {x: [\".*\"]}").prepare();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(warnings("5.1,3.5,1.4\n4.9,3.0,1.4\n"), HasSubstr("looks like data (5.1, 3.5, 1.4)"));
  EXPECT_EQ(warnings("0,1,2\n4.9,3.0,1.4\n"), "") << "as pandas numbers columns";
  EXPECT_EQ(warnings("2000,2010,2020\n4.9,3.0,1.4\n"), "") << "years";
}

TEST(CsvAsWritten, suggests_a_decimal_comma) {
  const CsvFile file("x;y\n1,5;-2\n,25;3\n");
  EXPECT_TRUE(says(file.prepare_error("columns: {x: x}, delimiter: ;"), {"'x' has '1,5'", "decimal: \",\""}));
  EXPECT_TRUE(fails([&] { file.flow("columns: {x: x}, decimal: ','"); }, {"'decimal' and 'delimiter'"}));
}

TEST(CsvAsWritten, spells_a_class_that_is_a_number_in_any_way) {
  const CsvFile file("c\n1.0\n2\n1\n10\n2.0\n");
  const DataFlow flow = file.flow("labels: {c: c}");
  EXPECT_EQ(samples_of(flow), (Rows{{0}, {1}, {0}, {2}, {1}}));
  EXPECT_EQ(flow.spec()[0].classes, (Texts{"1", "2", "10"}));
  EXPECT_EQ(samples_of(file.flow("labels: {c: {column: c, classes: [\"10\", \"2\", \"1\"]}}")),
            (Rows{{2}, {1}, {2}, {0}, {1}}));
  const CsvFile floats("c\n1.0\n0.0\n");
  const DataFlow as_before = floats.flow("labels: {c: c}");
  as_before.prepare();
  EXPECT_EQ(as_before.spec()[0].classes, (Texts{"0.0", "1.0"}));
}

TEST(CsvAsWritten, tells_times_that_float32_rounds) {
  EXPECT_TRUE(says(CsvFile("t\n1700000000.5\n1\n").flow("columns: {t: t}").facts()[0].remarks.at(0),
                   {"column 't'", "float32 rounds", "1700000000.5"}));
  EXPECT_THAT(CsvFile("t\n0.123456789\n1\n").flow("columns: {t: t}").facts()[0].remarks, testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
