#include "table/csv_features.h"

#include <cmath>

#include "config/yaml_reader.h"
#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> row_of(const DataFlow& flow, int64_t row) {
  Datapoint d = first_sample(flow, {.position = row});
  const Tensor x = d.tensor(0);
  return {x.span<float>().begin(), x.span<float>().end()};
}

ColumnType guess(const Texts& fields) {
  ColumnGuess guess;
  for (const std::string& field : fields) guess.see(field, {});
  return guess.type();
}

TEST(ColumnGuess, tells_types_from_the_fields) {
  EXPECT_EQ(guess({"1.5", "2", "", "NA", "-3e2"}), ColumnType::kNumber);
  EXPECT_EQ(guess({"3", "1", "3", "2"}), ColumnType::kNumber);
  EXPECT_EQ(guess({"male", "female", "", "male", "female"}), ColumnType::kCategory);
  EXPECT_EQ(guess({"a", "b", "1", "a", "b"}), ColumnType::kCategory);
  EXPECT_EQ(guess({"2020-01-31", "?", "2019-02-28 10:00"}), ColumnType::kDate);
  EXPECT_EQ(guess({"True", "", "False", "TRUE"}), ColumnType::kBool);
  EXPECT_EQ(guess({"no", "yes"}), ColumnType::kBool);
  EXPECT_EQ(guess({"0", "1.0", "NA", "1"}), ColumnType::kBool);
  EXPECT_EQ(guess({"f", "m", "f"}), ColumnType::kCategory) << "female, not false";
  EXPECT_EQ(guess({"yes", "false", "yes", "no"}), ColumnType::kCategory) << "words of two pairs";
  EXPECT_EQ(guess({"yes", "no", "maybe", "yes", "no"}), ColumnType::kCategory);
  EXPECT_EQ(guess({"1", "0", "2", "0"}), ColumnType::kNumber);
  EXPECT_EQ(guess({"yes", "yes"}), ColumnType::kIgnore) << "one value";
  EXPECT_EQ(guess({"1", "2", "3", "4"}), ColumnType::kIgnore) << "row numbers";
  EXPECT_EQ(guess({"x", "x", "x"}), ColumnType::kIgnore) << "one value";
  EXPECT_EQ(guess({"", "NA"}), ColumnType::kIgnore) << "empty";
  EXPECT_EQ(guess({"Ann", "Bob", "Cid", "Dan", "Eve"}), ColumnType::kIgnore) << "names";
  Texts mistake;
  for (int i = 0; i < 100; ++i) mistake.push_back(std::to_string(i * i));
  mistake[50] = "25OO";
  EXPECT_EQ(guess(mistake), ColumnType::kNumber) << "so that the mistake is told";
}

/// What is guessed does not depend on where the rows are parted.
TEST(ColumnGuess, is_the_same_for_parts_of_the_rows) {
  const std::vector<Texts> columns = {
      {"1", "2", "3", "4", "5", "6"},
      {"1", "2", "3", "5", "6", "7"},
      {"", "", "yes", "no", "", "yes"},
      {"yes", "no", "true", "yes", "no", "no"},
      {"a", "b", "a", "b", "a", "c"},
      {"a", "b", "c", "d", "e", "f"},
      {"2020-01-01", "", "2020-01-02", "2020-01-05", "", ""},
      {"1", "0", "1", "", "1", "1"},
      {"x", "x", "x", "x", "x", "x"},
      {"1.5", "2", "", "7", "1", "0"},
      {"", "", "", "", "", ""},
      {"1", "1.0", "0", "1", "no", "yes"},
      {"$5", "6", "$7", "7 €", "8", "9"},
      {"05/06/2024", "05/05/2024", "25/06/2024", "06/26/2024", "", "01/01/2024"},
      {"1,5", "2", "7,1", "3", "4", "8"},
      {"5%", "6%", "x", "", "x", "7%"}};
  for (const auto& fields : columns) {
    for (size_t cut = 0; cut <= fields.size(); ++cut) {
      for (size_t second = cut; second <= fields.size(); ++second) {
        std::vector<ColumnGuess> parts(3);
        for (size_t i = 0; i < fields.size(); ++i) parts[i < cut ? 0 : i < second ? 1 : 2].see(fields[i], {});
        parts[1].append(parts[2]);
        parts[0].append(parts[1]);
        EXPECT_EQ(parts[0].type(), guess(fields)) << fields[0] << " " << cut << " " << second;
        if (parts[0].type() == ColumnType::kIgnore) {
          ColumnGuess whole;
          for (const std::string& field : fields) whole.see(field, {});
          EXPECT_EQ(parts[0].why(), whole.why()) << fields[0];
        }
      }
    }
  }
}

TEST(ColumnGuess, reads_numbers_and_dates_as_people_write_them) {
  EXPECT_EQ(guess({"$1,200", "$900", "", "$15"}), ColumnType::kNumber);
  EXPECT_EQ(guess({"5%", "7.5%", "0"}), ColumnType::kNumber);
  EXPECT_EQ(guess({"19.05.2024", "02.06.2024", "NA"}), ColumnType::kDate);
  EXPECT_EQ(guess({"05/06/2024", "25/06/2024"}), ColumnType::kDate);
  EXPECT_EQ(guess({"20240519", "20240601", "20231231"}), ColumnType::kDate);
  EXPECT_EQ(guess({"20240519", "20240601", "20231232"}), ColumnType::kNumber) << "no day 32";
  EXPECT_EQ(guess({"2024-01-05", "-", "2024-02-05", "2024-02-07"}), ColumnType::kDate);
}

ColumnGuess guess_of(const Texts& fields, const FieldStyle& style = {}) {
  ColumnGuess guess;
  for (const std::string& field : fields) guess.see(field, style);
  return guess;
}

TEST(ColumnGuess, gives_the_true_reason) {
  EXPECT_EQ(
      guess_of({"05/06/2024", "04/05/2024", "01/02/2024", "03/02/2024"}).why(),
      "dates such as '05/06/2024', where day and month are ambiguous; set dates: day_first or month_first");
  const FieldStyle says_order{.dates = DateOrder::kDayFirst};
  EXPECT_EQ(guess_of({"05/06/2024", "04/05/2024", "01/02/2024"}, says_order).type(), ColumnType::kDate);
  EXPECT_EQ(guess_of({"$5", "6 €", "$7", "8 €", "$9"}).why(), "amounts in $, €");
  EXPECT_EQ(guess_of({"5%", "6", "7", "8", "9%"}).why(), "numbers with and without a percent sign");
  EXPECT_EQ(guess_of({"1,5", "2", "2,25", "3,1", "4"}).why(),
            "numbers with a decimal comma, such as '1,5'; set `decimal`");
  EXPECT_EQ(guess_of({"Ann", "Bob", "Cid", "Dan"}).why(), "most texts occur once");
}

Texts numbers_with(const Texts& words, int count) {
  Texts fields;
  for (int i = 0; i < count; ++i) fields.push_back(std::to_string(i * 7 % 101));
  fields.insert(fields.end(), words.begin(), words.end());
  return fields;
}

TEST(ColumnGuess, finds_the_word_for_no_value) {
  for (const char* word : {"-", "unknown", "\\N", "nicht bekannt"}) {
    const ColumnGuess found = guess_of(numbers_with({word, word, word, word}, 40));
    EXPECT_EQ(found.type(), ColumnType::kNumber) << word;
    const bool is_known = is_missing_in_csv(word);
    EXPECT_EQ(found.missing_word(), is_known ? "" : word);
  }
  EXPECT_EQ(guess({"4", "6", "8", "6", "rotary", "4", "8", "rotary"}), ColumnType::kCategory)
      << "few numbers may be names";
  EXPECT_EQ(guess({"4.5", "6", "8", "16", "-", "41", "82", "-"}), ColumnType::kNumber)
      << "too many values for names";
  const ColumnGuess top = guess_of(numbers_with({"90+", "90+", "90+", "90+"}, 40));
  EXPECT_EQ(top.missing_word(), "") << "a number of a kind";
  EXPECT_THAT(top.doubt(), HasSubstr("numbers except '90+'"));
  EXPECT_THAT(guess_of(numbers_with({"a", "b", "a", "b"}, 40)).doubt(), HasSubstr("numbers except 'a', 'b'"));
}

/// Flows on tables in a folder; the second one follows the first one.
class CsvFeatures : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { folder_.write_text(name, text); }
  DataFlow flow(const std::string& file, const std::string& settings = "",
                const std::shared_ptr<Fit>& fit = nullptr) const {
    return prepared("CSV: {file: " + file + ", shuffle: false, columns: {x: auto, y: y}" + settings + "}",
                    fit);
  }
  DataFlow prepared(const std::string& source, const std::shared_ptr<Fit>& fit = nullptr) const {
    const DataFlow flow = folder_.flow("[" + source + "]", fit);
    flow.prepare();
    return flow;
  }
  /// What a checkpoint keeps of a flow.
  static std::shared_ptr<Fit> stored(const DataFlow& train) {
    return std::make_shared<Fit>(FittedData(fitted_data(train).components()));
  }

  TempFolder folder_;
};

constexpr const char* kTable =
    "id,age,sex,joined,note,y\n"
    "1,20,m,2020-01-01,aa,0\n"
    "2,,f,2020-04-01,bb,1\n"
    "3,40,m,2020-07-01,cc,0\n"
    "4,60,,2020-10-01,dd,1\n";

TEST_F(CsvFeatures, are_numbers_that_a_network_can_learn_from) {
  write("t.csv", kTable);
  const DataFlow train = flow("t.csv");
  EXPECT_EQ(train.spec().str(), "x float32 [10], y float32 []");
  const float a = 20 / std::sqrt(800.0F / 3);
  const std::vector<float> first = row_of(train, 0);
  EXPECT_NEAR(first[0], -a, 1e-6);
  EXPECT_THAT(std::vector<float>(first.begin() + 1, first.begin() + 5), ElementsAre(0, 0, 1, 0))
      << "present; f, m, other";
  EXPECT_NEAR(first[5], -136.75 / 102.0769, 1e-4) << "days";
  EXPECT_NEAR(first[6], 0, 1e-6) << "sine of January";
  EXPECT_NEAR(first[7], 1, 1e-6) << "cosine";
  EXPECT_NEAR(first[8], std::sin(2 * M_PI * 3 / 7), 1e-6) << "a Wednesday";
  const std::vector<float> second = row_of(train, 1);
  EXPECT_THAT(std::vector<float>(second.begin(), second.begin() + 5), ElementsAre(0, 1, 1, 0, 0))
      << "the median is the mean";
  const std::vector<float> last = row_of(train, 3);
  EXPECT_THAT(std::vector<float>(last.begin() + 2, last.begin() + 5), ElementsAre(0, 0, 1)) << "missing";
  EXPECT_THAT(remarks_of(train), ElementsAre("number: age", "category: sex", "date: joined",
                                             "not read: id (row numbers), note (most texts occur once)"));
}

TEST_F(CsvFeatures, of_other_flows_are_those_of_the_training) {
  write("t.csv", kTable);
  write("v.csv", "y,sex,joined,age\n5,x,2021-01-01,100\n6,f,2020-01-01 06:00,\n");
  const DataFlow train = flow("t.csv");
  const auto fit = std::make_shared<Fit>(train);
  const DataFlow validation = flow("v.csv", "", fit);
  EXPECT_EQ(validation.spec().str(), "x float32 [10], y float32 []");
  const std::vector<float> first = row_of(validation, 0);
  EXPECT_NEAR(first[0], 60 / std::sqrt(800.0 / 3), 1e-5);
  EXPECT_THAT(std::vector<float>(first.begin() + 1, first.begin() + 5), ElementsAre(0, 0, 0, 1))
      << "an unknown category";
  // The same from what a checkpoint keeps.
  EXPECT_EQ(row_of(flow("v.csv", "", stored(train)), 0), first);
  write("w.csv", "y,sex,age\n5,x,100\n");
  EXPECT_TRUE(fails([&] { flow("w.csv", "", fit); }, {"lacks column 'joined'"}));
}

TEST_F(CsvFeatures, have_the_types_and_missing_values_that_the_config_says) {
  write("t.csv", kTable);
  const DataFlow train = flow("t.csv", ", types: {id: category, joined: ignore}, missing: {age: 30, sex: f}");
  EXPECT_EQ(train.spec().str(), "x float32 [9], y float32 []") << "id 5, age, sex 3";
  EXPECT_THAT(row_of(train, 3), ElementsAre(0, 0, 0, 1, 0, testing::FloatNear(1.2247F, 1e-3F), 1, 0, 0));
  EXPECT_NEAR(row_of(train, 1)[5], -10 / std::sqrt(800.0 / 3), 1e-5);
  expect_errors([&](const std::string& types) { flow("t.csv", ", types: " + types); },
                {{"{age: numbr}", {"did you mean 'number'?"}},
                 {"{ag: number}", {"'ag'; did you mean 'age'?"}},
                 {"{note: number}", {"column 'note' has 'aa'"}}});
}

TEST_F(CsvFeatures, of_a_yes_or_no_are_one_number) {
  write("t.csv", "a,b,y\nyes,0,1\nno,1,1\nyes,1,1\nYES,1,1\n,0,1\n");
  const DataFlow train = flow("t.csv");
  EXPECT_EQ(train.spec().str(), "x float32 [3], y float32 []") << "a, whether a is missing, b";
  EXPECT_THAT(row_of(train, 0), ElementsAre(1, 0, 0));
  EXPECT_THAT(row_of(train, 1), ElementsAre(0, 0, 1));
  EXPECT_THAT(row_of(train, 4), ElementsAre(1, 1, 0)) << "missing: the most common one";
  EXPECT_THAT(remarks_of(train), ElementsAre("bool: a, b"));
  write("v.csv", "b,a,y\ntrue,n,1\n2,no,1\n");
  const auto fit = stored(train);
  EXPECT_THAT(row_of(flow("v.csv", "", fit), 0), ElementsAre(0, 0, 1)) << "other words for the same";
  EXPECT_TRUE(fails([&] { row_of(flow("v.csv", "", fit), 1); }, {"v.csv:3: column 'b' has '2'", "true"}));
  EXPECT_THAT(row_of(flow("t.csv", ", missing: {a: no}"), 4), ElementsAre(0, 0));
  EXPECT_EQ(flow("t.csv", ", types: {a: category, b: number}").spec().str(), "x float32 [5], y float32 []")
      << "three words, one place more, and b";
}

TEST_F(CsvFeatures, read_numbers_and_dates_as_people_write_them) {
  std::string text = "price,share,day,rooms,y\n";
  for (int i = 0; i < 30; ++i)
    text += "\"$" + std::to_string(1 + i % 3) + ",000\"," + std::to_string(i % 4) + "%," +
            std::to_string(20 + i % 9) + ".05.2024," +
            (i % 10 == 0 ? std::string("unknown") : std::to_string(i)) + ",0\n";
  write("t.csv", text);
  const DataFlow train = flow("t.csv", ", scale: none");
  EXPECT_THAT(remarks_of(train),
              ElementsAre("number: price (none, $), share (none, 5% is 0.05), rooms (none)", "date: day",
                          "'unknown' counts as missing in rooms, because it is the only other text"));
  const std::vector<float> row = row_of(train, 10);
  EXPECT_EQ(row[0], 2000);
  EXPECT_EQ(row[1], 0.02F);
  EXPECT_EQ(row[7], 15) << "the median of those that are known";
  EXPECT_EQ(row[8], 1);
  // Other data are read in the same way.
  const auto fit = stored(train);
  write(
      "v.csv",
      "price,share,day,rooms,y\n3000,50%,01.06.2024,unknown,0\n$1,7,01.06.2024,5,0\n1 €,7%,01.06.2024,5,0\n");
  const DataFlow other = flow("v.csv", "", fit);
  const std::vector<float> first = row_of(other, 0);
  EXPECT_EQ(first[0], 3000);
  EXPECT_EQ(first[1], 0.5F);
  EXPECT_EQ(first[8], 1);
  EXPECT_TRUE(fails([&] { row_of(other, 1); }, {"column 'share' has '7'", "the unit '%'"}));
  EXPECT_TRUE(fails([&] { row_of(other, 2); }, {"column 'price' has '1 €'", "the unit '$'"}));
}

TEST_F(CsvFeatures, have_no_index_without_a_name) {
  write("t.csv", ",v,y\n3,1,0\n0,5,1\n2,9,1\n1,4,0\n");
  EXPECT_THAT(remarks_of(flow("t.csv")), ElementsAre("number: v", "not read: '' (an index without a name)"));
  write("u.csv", "Unnamed: 0,v,y\n3,1,0\n0,5,1\n2,9,1\n1,4,0\n");
  EXPECT_EQ(flow("u.csv").spec().str(), "x float32 [1], y float32 []");
  EXPECT_EQ(flow("t.csv", ", types: {\"\": number}").spec().str(), "x float32 [2], y float32 []");
}

TEST_F(CsvFeatures, may_have_dates_of_an_order_that_the_config_says) {
  write("t.csv", "when,v,y\n01/02/2024,1,0\n03/02/2024,5,1\n04/05/2024,9,1\n");
  EXPECT_THAT(remarks_of(flow("t.csv")),
              ElementsAre("number: v", HasSubstr("not read: when (dates such as")));
  EXPECT_TRUE(fails([&] { flow("t.csv", ", types: {when: date}"); }, {"set dates: day_first or"}));
  const std::string settings = ", scale: none, dates: ";
  const DataFlow first = flow("t.csv", settings + "day_first");
  const DataFlow second = flow("t.csv", settings + "month_first");
  EXPECT_NEAR(row_of(first, 0)[1], std::sin(2 * M_PI * 1 / 12), 1e-6) << "February";
  EXPECT_NEAR(row_of(second, 0)[1], 0, 1e-6) << "January";
  EXPECT_NEAR(row_of(second, 1)[1], std::sin(2 * M_PI * 2 / 12), 1e-6);
  const auto fit = stored(first);
  EXPECT_NEAR(row_of(flow("t.csv", "", fit), 0)[1], std::sin(2 * M_PI * 1 / 12), 1e-6);
}

TEST_F(CsvFeatures, take_1_and_1_0_for_one_category) {
  write("t.csv", "k,y\n1,0\n2.0,0\n3,1\n1.0,0\n2,1\n07,1\n7,0\n");
  const DataFlow train = flow("t.csv", ", types: {k: category}");
  EXPECT_EQ(train.spec().str(), "x float32 [6], y float32 []") << "07, 1, 2, 3, 7 and others";
  EXPECT_EQ(row_of(train, 0), row_of(train, 3));
  EXPECT_THAT(row_of(train, 1), ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_EQ(row_of(train, 1), row_of(train, 4));
  EXPECT_NE(row_of(train, 5), row_of(train, 6)) << "codes with zeros in front are texts";
  const auto fit = stored(train);
  write("v.csv", "k,y\n3.0,0\n,0\n");
  EXPECT_EQ(row_of(flow("v.csv", "", fit), 0), row_of(train, 2));
  write("w.csv", "k,y\n1,0\n1.0,0\na,1\na,0\n");
  EXPECT_NE(row_of(flow("w.csv", ", types: {k: category}"), 0),
            row_of(flow("w.csv", ", types: {k: category}"), 1))
      << "not all are numbers";
}

TEST_F(CsvFeatures, warn_of_a_column_whose_categories_are_all_new) {
  write("t.csv", "k,y\nred,0\nblue,0\nred,1\nblue,1\n");
  const DataFlow train = flow("t.csv");
  const auto fit = stored(train);
  const auto warnings = [&](const std::string& text) {
    write("v.csv", text);
    testing::internal::CaptureStderr();
    flow("v.csv", "", fit);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_TRUE(says(warnings("k,y\nRed,0\nBlue,1\n"), {"v.csv: column 'k'", "(blue, red), but Red, Blue"}));
  EXPECT_EQ(warnings("k,y\nred,0\nBlue,1\n"), "");
  EXPECT_EQ(warnings("k,y\nRed,0\n"), "") << "one may be by chance";
}

TEST_F(CsvFeatures, leave_out_what_names_a_row) {
  write("t.csv", "ticket,a,y\nx,1,1\nx,5,1\ny,9,1\n");
  const DataFlow train = flow("t.csv", ", types: {ticket: id}");
  EXPECT_EQ(train.spec().str(), "x float32 [1], y float32 []");
  EXPECT_THAT(remarks_of(train), ElementsAre("number: a", "id: ticket"));
}

TEST_F(CsvFeatures, have_the_scale_that_the_config_says) {
  write("t.csv", "fare,age,y\n0,20,1\n9,30,1\n99,60,1\n");
  const DataFlow train = flow("t.csv", ", scale: {fare: log1p, age: min_max}");
  EXPECT_EQ(remarks_of(train), Texts{"number: fare (log1p), age (min_max)"});
  const std::vector<std::vector<float>> rows = {row_of(train, 0), row_of(train, 1), row_of(train, 2)};
  const float r = std::sqrt(1.5F);  // of the logarithms 0, 1 and 2 times that of 10
  EXPECT_NEAR(rows[0][0], -r, 1e-6);
  EXPECT_NEAR(rows[1][0], 0, 1e-6);
  EXPECT_NEAR(rows[2][0], r, 1e-6);
  EXPECT_EQ(rows[0][1], 0);
  EXPECT_EQ(rows[1][1], 0.25);
  EXPECT_EQ(rows[2][1], 1);
  write("v.csv", "fare,age,y\n999,100,1\n-1,30,1\n");
  const auto fit = stored(train);
  const std::vector<float> other = row_of(flow("v.csv", "", fit), 0);
  EXPECT_NEAR(other[0], 2 * r, 1e-6) << "of what a checkpoint keeps, whatever the other flow says";
  EXPECT_EQ(other[1], 2);
  EXPECT_TRUE(fails([&] { row_of(flow("v.csv", "", fit), 1); }, {"v.csv:3: column 'fare' has -1", "log1p"}));
  EXPECT_THAT(row_of(flow("t.csv", ", scale: none"), 1), ElementsAre(9, 30));
}

TEST_F(CsvFeatures, are_within_the_limits_that_the_config_says) {
  write("t.csv", "fare,age,y\n-5,20,1\n10,30,1\n900,61,1\n20,25,1\n");
  const DataFlow raw = flow("t.csv", ", scale: none, clip: {fare: [0, 50]}");
  EXPECT_THAT(row_of(raw, 0), ElementsAre(0, 20));
  EXPECT_THAT(row_of(raw, 2), ElementsAre(50, 61));
  const DataFlow scaled = flow("t.csv", ", clip: {fare: [0, 50]}");
  EXPECT_NEAR(row_of(scaled, 3)[0], 0, 1e-6) << "20 is the mean of 0, 10, 50 and 20";
  const DataFlow narrow = flow("t.csv", ", clip: 1.5");
  EXPECT_EQ(row_of(narrow, 2)[0], 1.5);
  EXPECT_NEAR(row_of(narrow, 1)[0], row_of(flow("t.csv"), 1)[0], 0);
  const auto fit = stored(scaled);
  write("v.csv", "fare,age,y\n1e6,20,1\n50,20,1\n");
  EXPECT_EQ(row_of(flow("v.csv", "", fit), 0), row_of(flow("v.csv", "", fit), 1));
}

TEST_F(CsvFeatures, have_scales_and_limits_of_numbers_only) {
  write("t.csv", "fare,port,y\n0,a,1\n9,b,1\n99,a,1\n3,b,1\n");
  expect_errors(
      [&](const std::string& settings) { flow("t.csv", ", " + settings); },
      {{"scale: {fares: log1p}", {"'scale': unknown column 'fares'; did you mean 'fare'?"}},
       {"scale: {port: log1p}", {"'scale': column 'port'", "number columns are fare", "set `types`"}},
       {"clip: {port: [0, 1]}", {"'clip': column 'port' is not a number"}},
       {"scale: minmax", {"did you mean 'min_max'?"}},
       {"clip: {fare: [3, 3]}", {"first limit of 'fare' must be below the second"}},
       {"clip: 0", {"above 0"}},
       {"clip: {fare: 3}", {"a pair [a number, a number]"}},
       {"scale: {fare: log1p}, missing: {fare: -2}", {"'missing': log1p of column 'fare'", "above -1"}}});
}

TEST_F(CsvFeatures, are_learned_from_the_part_of_the_training) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i < 10 ? i % 3 : 1000 + i) + "," +
            (i < 10    ? "p"
             : i == 15 ? "late"
                       : "q") +
            ",0\n";
  write("t.csv", text);
  const auto part = [&](const std::string& name, const std::shared_ptr<Fit>& fit) {
    return prepared(
        "SplitData: {source: {CSV: {file: t.csv, shuffle: false, columns: {x: auto, y: y}}}, part: " + name +
            ", shares: 0.5, order: rows}",
        fit);
  };
  const DataFlow train = part("train", nullptr);
  EXPECT_EQ(train.spec().str(), "x float32 [3], y float32 []") << "one category: p, and all others";
  EXPECT_NEAR(row_of(train, 0)[0], -0.9 / 0.83066, 1e-4) << "the mean is 0.9";
  const DataFlow validation = part("validation", std::make_shared<Fit>(train));
  EXPECT_NEAR(row_of(validation, 0)[0], (1010 - 0.9) / 0.83066, 0.1);
}

/// The source is fitted to all rows, and then to those of the part.
TEST_F(CsvFeatures, tell_once_that_there_are_many_categories) {
  std::string text = "a,y\n";
  for (int i = 0; i < 600; ++i) text += "word" + std::to_string(i % 150) + ",0\n";
  write("t.csv", text);
  const DataFlow flow = folder_.flow(
      "[{SplitData: {source: {CSV: {file: t.csv, shuffle: false, columns: {x: auto, y: y}}}, part: train, "
      "shares: 0.1, order: rows}}]");
  EXPECT_THAT(remarks_of(flow), ElementsAre("category: a", HasSubstr("100 most common of the 150")));
}

TEST_F(CsvFeatures, replace_missing_values_of_plain_columns_by_what_the_training_has) {
  write("t.csv", "a,b,k,y\n1,5,u,0\n2,,v,0\n9,5,,0\n,7,u,0\n");
  const auto values = [&](const std::string& missing, const std::shared_ptr<Fit>& fit = nullptr,
                          const std::string& file = "t.csv") {
    return prepared(
        "CSV: {file: " + file +
            ", shuffle: false, columns: {x: [a, b]}, labels: {k: {column: k, classes: [u, v]}}, missing: " +
            missing + "}",
        fit);
  };
  const DataFlow median = values("{a: median, b: most_common, k: v}");
  EXPECT_THAT(row_of(median, 3), ElementsAre(2, 7));
  EXPECT_THAT(row_of(median, 1), ElementsAre(2, 5));
  EXPECT_THAT(row_of(values("{a: mean, b: -1, k: v}"), 3), ElementsAre(4, 7));
  write("v.csv", "a,b,k\n,1,u\n100,2,\n");
  EXPECT_THAT(row_of(values("{a: median, b: most_common, k: v}", std::make_shared<Fit>(median), "v.csv"), 0),
              ElementsAre(2, 1));
  EXPECT_TRUE(fails(
      [&] {
        values("{a: median, b: most_common, k: v}", std::make_shared<Fit>(values("{a: 0, b: 0, k: v}")),
               "v.csv");
      },
      {"data.train", "'a'"}));
  EXPECT_TRUE(fails([&] { values("{a: x}"); }, {"column 'a' has numbers", "'x'"}));
}

/// A checkpoint may be another user's.
TEST_F(CsvFeatures, damaged_learned_values_are_rejected) {
  write("t.csv", "a,b,y\n1,2020-01-31,0\n5,2020-03-01,1\n7,,0\n");
  const FittedComponent learned =
      fitted_data(flow("t.csv", ", types: {b: date}, clip: {a: [0, 6]}")).components().at(0);
  const auto use = [&](const std::string& from, const std::string& to) {
    FittedComponent changed = learned;
    changed.learned.replace(changed.learned.find(from), from.size(), to);
    flow("t.csv", "", std::make_shared<Fit>(FittedData({changed})));
  };
  expect_errors(
      [&](const std::string& columns) { use("\"columns\": \"2\"", "\"columns\": \"" + columns + "\""); },
      {{"0", {"'columns' is 0"}}, {"-1", {"'columns' is -1"}}, {"3", {"'name'"}}});
  expect_errors(
      [&](const std::string& days) { use("\"1/fill\": \"", "\"1/fill\": \"" + days + "\", \"\": \""); },
      {{"1e300", {"column 'b'"}}, {"nan", {"column 'b'"}}, {"-inf", {"column 'b'"}}});
  expect_errors([&](const std::string& limits) { use("0x0p+0 0x1.8p+2", limits); },
                {{"2 1", {"limits"}}, {"1", {"limits"}}, {"nan nan", {"limits"}}});
  EXPECT_TRUE(
      fails([&] { flow("t.csv", ", types: {b: date}, missing: {b: 1e300}"); }, {"'missing'", "1e+300"}));
}

TEST_F(CsvFeatures, are_of_one_component) {
  expect_errors(
      [](const std::string& columns) { yaml_flow("[{CSV: {file: t.csv, columns: " + columns + "}}]"); },
      {{"{x: auto, z: auto}", {"several 'auto' components"}},
       {"{x: [y]}, types: {y: number}", {"'types' applies only", "'auto'"}},
       {"{x: [y]}, scale: none", {"'scale' applies only", "'auto'"}},
       {"{x: [y]}, clip: 3", {"'clip' applies only", "'auto'"}}});
}

}  // namespace
}  // namespace tpack
