#include "table/date_text.h"

#include <string>
#include <vector>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

// Seconds are those of Python's datetime.
constexpr int64_t kMay19 = 1716076800;

TEST(Dates, are_read_as_iso_8601_writes_them) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date(" 2020-02-29T12:34:56.789Z "), 1582979696);
  EXPECT_DOUBLE_EQ(read_date("2020-02-29T12:34:56.789").fraction, 0.789);
  EXPECT_EQ(parse_date("1969-12-31 23:59"), -60);
  EXPECT_EQ(parse_date("2024-05-19T10:00:00+02:00"), 1716105600) << "8 o'clock of UTC";
  EXPECT_EQ(parse_date("2024-05-18 20:30:00-0400"), kMay19 + 1800);
  EXPECT_EQ(parse_date("2024-05-19 08:00 UTC"), 1716105600);
  EXPECT_EQ(parse_date("2024-05"), 1714521600) << "the first of the month";
}

TEST(Dates, are_read_as_people_write_them) {
  for (const char* same :
       {"2024/05/19", "2024.5.19", "2024-5-19", "20240519", "19.05.2024", "19.5.2024", "19/05/2024",
        "05/19/2024", "5/19/2024", "5/19/24", "19.05.24", "19-05-2024", "19 May 2024", "19-May-24",
        "19MAY2024", "May 19, 2024", "may 19 2024", "Sunday, May 19th, 2024", "Sun, 19 May 2024"})
    EXPECT_EQ(parse_date(same), kMay19) << same;
  for (const char* nine : {"2024-05-19 9:00", "19.05.2024 09:00", "5/19/2024 9:00 AM",
                           "5/19/2024, 9:00:00 am", "19 May 2024 9 AM"})
    EXPECT_EQ(parse_date(nine), 1716109200) << nine;
  EXPECT_EQ(parse_date("5/19/2024 9:05 PM"), 1716152700);
  EXPECT_EQ(parse_date("5/19/2024 12:30 AM"), kMay19 + 1800);
  EXPECT_EQ(parse_date("Sept 1998"), 904608000);
  EXPECT_EQ(parse_date("1/22/69"), -29721600) << "the last century, as POSIX says";
}

TEST(Dates, are_no_other_texts) {
  for (const char* bad :
       {"", "2021-02-29", "2020-13", "2020-01-01 25:00", "2020-01-01x", "2020-01-01 9:5", "1.2.10",
        "31/31/2020", "10:30", "May", "May 5", "1716076800", "12345678", "v1.2", "2020-01-01 13:00 PM",
        "2020-01-01 10:00 CET", "3 4 2020", "19 Mayor 2024", "2020-01-01 10"})
    EXPECT_EQ(parse_date(bad), std::nullopt) << bad;
}

TEST(Dates, of_two_readings_need_an_order) {
  EXPECT_EQ(parse_date("05/06/2024"), std::nullopt);
  EXPECT_EQ(parse_date("05/06/2024", DateOrder::kDayFirst), 1717545600) << "June 5";
  EXPECT_EQ(parse_date("05/06/2024", DateOrder::kMonthFirst), 1714953600) << "May 6";
  EXPECT_EQ(parse_date("05/05/2024"), 1714867200);
  EXPECT_EQ(parse_date("05.06.2024"), 1717545600) << "with points, the day is first";
  EXPECT_EQ(parse_date("19/05/2024", DateOrder::kMonthFirst), std::nullopt);
}

DateGuess date_guess_of(const std::vector<std::string>& texts) {
  DateGuess first;
  DateGuess later;
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_TRUE((i < 2 ? first : later).see(texts[i])) << texts[i];
  first.append(later);
  return first;
}

TEST(Dates, tell_their_order_together) {
  EXPECT_EQ(date_guess_of({"05/06/2024", "04/04/2024", "25/06/2024"}).order(), DateOrder::kDayFirst);
  EXPECT_EQ(date_guess_of({"05/06/2024", "06/25/2024"}).order(), DateOrder::kMonthFirst);
  EXPECT_EQ(date_guess_of({"04/04/2024", "01/02/2024", "03/02/2024"}).open(), "01/02/2024");
  EXPECT_EQ(date_guess_of({"2024-01-02", "04/04/2024"}).open(), "");
  EXPECT_TRUE(date_guess_of({"25/06/2024", "06/25/2024"}).is_mixed());
  DateGuess said;
  EXPECT_TRUE(said.see("05/06/2024", DateOrder::kDayFirst));
  EXPECT_FALSE(said.see("05/16/2024", DateOrder::kDayFirst));
  EXPECT_EQ(said.order(), DateOrder::kDayFirst);
}

}  // namespace
}  // namespace tpack
