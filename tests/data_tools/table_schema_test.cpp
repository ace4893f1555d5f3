#include "data_tools/table_schema.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTable =
    "id,name,age,paid,port,date\n"
    "1,Ann,22,yes,Cley,2024-05-19\n"
    "2,Bo,,no,Aren,2024-01-02\n"
    "3,Cy,30.5,yes,Cley,2024-02-02\n"
    "4,Di,-41,yes,,2024-03-02\n"
    "5,Ed,22,no,Cley,2024-03-04\n"
    "6,Flo\n";

class TableSchemaTest : public testing::Test {
 protected:
  CsvParams settings(const std::string& more = "") const {
    return csv_schema().parse(
        parse_yaml("{file: " + (folder_ / "t.csv") + ", columns: {x: auto}" + more + "}", "t.yaml"), "CSV");
  }
  TemporaryFolder folder_;
};

TEST_F(TableSchemaTest, tells_what_columns_have) {
  write_content(folder_ / "t.csv", kTable);
  const TableSchema schema = table_schema(settings());
  EXPECT_EQ(schema.rows, 6);
  EXPECT_EQ(schema.bad_rows, 1);
  EXPECT_EQ(schema.first_bad, (folder_ / "t.csv") + ":7: 2 fields, but the header has 6");
  ASSERT_EQ(schema.columns.size(), 6U);
  EXPECT_EQ(schema.columns[0].type, ColumnType::kIgnore);
  EXPECT_EQ(schema.columns[0].why, "row numbers");
  EXPECT_EQ(schema.columns[1].why, "most texts occur once");
  const ColumnSummary& age = schema.columns[2];
  EXPECT_EQ(age.type, ColumnType::kNumber);
  EXPECT_EQ(age.missing, 1);
  EXPECT_EQ(age.distinct, 3);
  EXPECT_THAT(age.examples, ElementsAre("22", "30.5", "-41"));
  EXPECT_EQ(age.low, "-41");
  EXPECT_EQ(age.median, "22");
  EXPECT_EQ(age.high, "30.5");
  EXPECT_EQ(schema.columns[3].type, ColumnType::kBool);
  EXPECT_EQ(schema.columns[4].type, ColumnType::kCategory);
  EXPECT_EQ(schema.columns[4].low, std::nullopt);
  EXPECT_EQ(schema.columns[5].low, "2024-01-02");
  EXPECT_EQ(schema.columns[5].high, "2024-05-19");
  EXPECT_THAT(schema.str(), HasSubstr("1 bad row: "));
}

TEST_F(TableSchemaTest, reads_what_auto_reads) {
  std::string text = "price,when,share\n";
  for (int i = 0; i < 30; ++i)
    text += (i % 10 == 3 ? std::string("-") : "$" + std::to_string(i) + ".5") + "," +
            std::to_string(1 + i % 28) + "/" + std::to_string(1 + i % 12) + "/2024," + std::to_string(i) +
            "%\n";
  write_content(folder_ / "t.csv", text);
  const TableSchema schema = table_schema(settings());
  EXPECT_EQ(schema.columns[0].type, ColumnType::kNumber);
  EXPECT_EQ(schema.columns[0].why, "$, '-' counts as missing");
  EXPECT_EQ(schema.columns[0].missing, 3);
  EXPECT_EQ(schema.columns[0].high, "29.5");
  EXPECT_EQ(schema.columns[1].type, ColumnType::kDate);
  EXPECT_EQ(schema.columns[1].low, "1/1/2024");
  EXPECT_EQ(schema.columns[1].high, "24/12/2024") << "the last one by time";
  EXPECT_EQ(schema.columns[2].low, "0");
  EXPECT_EQ(schema.columns[2].high, "0.29");
}

TEST_F(TableSchemaTest, says_that_a_header_is_none) {
  write_content(folder_ / "t.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n");
  EXPECT_THAT(table_schema(settings()).str(), HasSubstr("1 row; the first row of"));
  write_content(folder_ / "t.csv", "a;b\n4.9;3.0\n");
  EXPECT_THAT(table_schema(settings()).str(), HasSubstr("1 row; set delimiter: \";\"\n"));
}

/// What is printed for a config is a valid part of one, and has the same types.
TEST_F(TableSchemaTest, writes_a_source_for_a_config) {
  write_content(folder_ / "t.csv", kTable);
  const ConfigNode written({{"file", folder_ / "t.csv"}});
  const TableSchema schema = table_schema(settings(", types: {age: category}"));
  EXPECT_EQ(schema.columns[2].type, ColumnType::kCategory) << "as the settings say";
  const ConfigNode source = parse_yaml(schema.yaml(written), "printed.yaml").items()[0];
  const CsvParams read = csv_schema().parse(*source.find("CSV"), "CSV");
  const TableSchema again = table_schema(read);
  ASSERT_EQ(again.columns.size(), schema.columns.size());
  for (size_t i = 0; i < schema.columns.size(); ++i)
    EXPECT_EQ(again.columns[i].type, schema.columns[i].type) << i;
  ASSERT_EQ(read.types.all.size(), 6U);
  EXPECT_EQ(read.types.all[2].first, "age");
  EXPECT_TRUE(is_auto(read.columns.at(0)));
}

TEST_F(TableSchemaTest, counts_many_values_up_to_a_limit) {
  std::string text = "a\n";
  for (int i = 0; i < 10'002; ++i) text += std::to_string(i * i) + "\n";
  write_content(folder_ / "t.csv", text);
  const TableSchema schema = table_schema(settings());
  EXPECT_TRUE(schema.columns[0].has_more_distinct);
  EXPECT_EQ(schema.columns[0].distinct, 10'000);
  EXPECT_EQ(schema.columns[0].median, "25005000.5") << "the mean of the squares of 5000 and 5001";
  EXPECT_THAT(schema.str(), HasSubstr("over 10,000"));
}

}  // namespace
}  // namespace tpack
