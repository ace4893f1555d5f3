#include "dataflow/csv_file.h"

namespace tpack {
namespace {

using testing::HasSubstr;

TEST(CsvAsWritten, reads_numbers_as_people_write_them) {
  EXPECT_EQ(samples_of(CsvFile("x,y\n\"1,039\",$5\n7,6\n").flow("columns: {x: x, y: y}")),
            (std::vector<std::vector<double>>{{1039, 5}, {7, 6}}));
  const CsvFile points("x;y\n1.234;1,5\n2;2\n");
  EXPECT_EQ(samples_of(points.flow("columns: {x: x, y: y}, delimiter: ;, decimal: ','")),
            (std::vector<std::vector<double>>{{1234, 1.5}, {2, 2}}));
  EXPECT_THAT(
      CsvFile("x;y\n1.5;1\n").prepare_error("columns: {x: x}, delimiter: ;, decimal: ','"),
      HasSubstr("column 'x' has '1.5', where the point is not a decimal sign because `decimal` is ','"));
  EXPECT_THAT(CsvFile("x;y\n1,039;1\n").prepare_error("columns: {x: x}, delimiter: ;"),
              HasSubstr("'1,039', which is not a number of float32; the column has numbers in several "
                        "notations; write all as 1234.5 in the file, or for a decimal comma set decimal"));
  const CsvFile mixed("x\n\"1,039\"\n\"1,5\"\n");
  const DataFlow flow = mixed.flow("columns: {x: x}", "skip");
  EXPECT_THAT(error_of([&] { flow.prepare(); }), HasSubstr("all 2 rows are bad"))
      << "commas that are decimal signs";
}

TEST(CsvAsWritten, has_words_for_missing_values) {
  const CsvFile file("x,y,c\n-,1,a\n5,-999,-\n-999.0,2,b\n");
  const std::string columns = "columns: {x: x, y: y}, labels: {c: c}, missing: 0, ";
  EXPECT_EQ(samples_of(file.flow(columns + "na_values: [-, -999]", "skip")),
            (std::vector<std::vector<double>>{{0, 1, 0}, {0, 2, 1}}));
  EXPECT_EQ(samples_of(file.flow(columns + "na_values: {x: [-, -999]}")),
            (std::vector<std::vector<double>>{{0, 1, 1}, {5, -999, 0}, {0, 2, 2}}));
  EXPECT_THAT(file.prepare_error(columns + "na_values: {z: 0}"),
              HasSubstr("'na_values': unknown column 'z'"));
  EXPECT_THAT(
      error_of([&] { samples_of(file.flow("columns: {x: x}")); }),
      HasSubstr("column 'x' has '-', which is not a number of float32; 'labels' is for class names, and "
                "'na_values' for words that mean a missing value"));
}

TEST(CsvAsWritten, reads_the_first_line_of_excel) {
  const CsvFile file("sep=;\nx;y\n1;2\n3;4\n");
  const DataFlow flow = file.flow("columns: {x: x, y: y}");
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{1, 2}, {3, 4}}));
  EXPECT_EQ(samples_of(file.flow("columns: {x: x}, delimiter: ;")),
            (std::vector<std::vector<double>>{{1}, {3}}));
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
  EXPECT_THAT(
      CsvFile("1;2\n3;4\n").prepare_error("columns: {x: [\"0\"]}, header: false"),
      HasSubstr(
          "has '1;2', which is not a number of float32; if it is several fields, set delimiter: \";\""));
}

TEST(CsvAsWritten, says_that_a_first_row_of_numbers_is_no_header) {
  const CsvFile file("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n");
  EXPECT_THAT(
      file.prepare_error("columns: {x: [width]}"),
      HasSubstr("looks like data (5.1, 3.5, 1.4, setosa), not like names; set header: false, and name "
                "columns by numbers from 0"));
  EXPECT_EQ(file.prepare_error("columns: {x: [\"0\"]}, header: false"), "no error");
  const CsvFile twice("1,85,66,0,26.6,0,31\n8,183,64,0,23.3,1,32\n");
  for (const char* columns : {"{x: auto}", "{x: \"0\"}", "{x: bmi}"})
    EXPECT_THAT(twice.prepare_error("columns: " + std::string(columns)), HasSubstr("looks like data"))
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

TEST(CsvAsWritten, reads_a_decimal_comma_and_suggests_it) {
  const CsvFile file("x;y\n1,5;-2\n,25;3\n");
  EXPECT_EQ(samples_of(file.flow("columns: {x: x, y: y}, delimiter: ;, decimal: ','")),
            (std::vector<std::vector<double>>{{1.5, -2}, {0.25, 3}}));
  EXPECT_THAT(
      file.prepare_error("columns: {x: x}, delimiter: ;"),
      HasSubstr(
          "column 'x' has '1,5', which is not a number of float32; for a decimal comma, set decimal: \",\""));
  EXPECT_THAT(error_of([&] { file.flow("columns: {x: x}, decimal: ','"); }),
              HasSubstr("'decimal' and 'delimiter' are both a comma"));
}

TEST(CsvAsWritten, spells_a_class_that_is_a_number_in_any_way) {
  const CsvFile file("c\n1.0\n2\n1\n10\n2.0\n");
  const DataFlow flow = file.flow("labels: {c: c}");
  EXPECT_EQ(samples_of(flow), (std::vector<std::vector<double>>{{0}, {1}, {0}, {2}, {1}}));
  EXPECT_EQ(flow.spec()[0].classes, (std::vector<std::string>{"1", "2", "10"}));
  EXPECT_EQ(samples_of(file.flow("labels: {c: {column: c, classes: [\"10\", \"2\", \"1\"]}}")),
            (std::vector<std::vector<double>>{{2}, {1}, {2}, {0}, {1}}));
  const CsvFile floats("c\n1.0\n0.0\n");
  const DataFlow as_before = floats.flow("labels: {c: c}");
  as_before.prepare();
  EXPECT_EQ(as_before.spec()[0].classes, (std::vector<std::string>{"0.0", "1.0"}));
}

TEST(CsvAsWritten, tells_times_that_float32_rounds) {
  EXPECT_THAT(
      CsvFile("t\n1700000000.5\n1\n").flow("columns: {t: t}").facts()[0].remarks,
      testing::ElementsAre(HasSubstr("column 't' has numbers above 16,777,216 that float32 rounds, such as "
                                     "1700000000.5")));
  EXPECT_THAT(CsvFile("t\n0.123456789\n1\n").flow("columns: {t: t}").facts()[0].remarks, testing::IsEmpty());
}

}  // namespace
}  // namespace tpack
