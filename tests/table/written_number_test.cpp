#include "table/written_number.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

double value_of(const std::string& text, char decimal = '.') {
  const auto number = parse_written_number(text, decimal);
  return number ? number->value : std::nan("");
}

TEST(WrittenNumbers, have_groups_and_units) {
  EXPECT_EQ(value_of("1,234"), 1234);
  EXPECT_EQ(value_of("-1,234,567.5"), -1234567.5);
  EXPECT_EQ(value_of("1'234"), 1234);
  EXPECT_EQ(value_of("1\xE2\x80\xAF"
                     "234\xE2\x80\xAF"
                     "567"),
            1234567)
      << "no-break spaces";
  EXPECT_EQ(value_of("$20000"), 20000);
  EXPECT_EQ(value_of("-$1,000.25"), -1000.25);
  EXPECT_EQ(value_of("$-5"), -5);
  EXPECT_EQ(value_of(" 20 € "), 20);
  EXPECT_EQ(value_of("USD 7"), 7);
  EXPECT_EQ(value_of("\xE2\x88\x92"
                     "3"),
            -3)
      << "the sign of mathematics";
  EXPECT_EQ(value_of("5%"), 0.05);
  EXPECT_EQ(value_of("-12.5 %"), -0.125);
  EXPECT_EQ(value_of("1.234.567,5", ','), 1234567.5);
  EXPECT_EQ(value_of("1 234,5 kr", ','), 1234.5);
  EXPECT_EQ(parse_written_number("US$5", '.')->unit, "US$");
  EXPECT_EQ(parse_written_number("5 %", '.')->unit, "%");
  for (const char* bad : {"", "$", "%", "1,23", "1,2345", "0,123", "12,34,567", "1,234,56", "1,234'567",
                          "5'11", "12 kg", "1 234", "a5", "--5", "5%%", "1.2.3"})
    EXPECT_TRUE(std::isnan(value_of(bad))) << bad;
}

NumberFormGuess form_guess_of(const std::vector<std::string>& written,
                              const std::vector<std::string>& plain = {}, char delimiter = ',') {
  NumberFormGuess guess;
  for (const std::string& text : plain) guess.see_plain(std::stod(text), text, '.');
  NumberFormGuess later;
  for (const std::string& text : written) EXPECT_TRUE(later.see(text, '.', delimiter)) << text;
  guess.append(later);
  return guess;
}

TEST(WrittenNumbers, go_together_if_their_units_do) {
  EXPECT_EQ(form_guess_of({"$5", "$1,000"}, {"3"}).doubt(), "");
  EXPECT_EQ(form_guess_of({"$5", "1,000"}).form().unit, "$");
  EXPECT_EQ(form_guess_of({"5%", "7%"}, {"0"}).doubt(), "") << "0 is 0 %";
  EXPECT_EQ(form_guess_of({"5%"}, {"7"}).doubt(), "numbers with and without a percent sign");
  EXPECT_EQ(form_guess_of({"5%", "$7"}).doubt(), "numbers with and without a percent sign");
  EXPECT_EQ(form_guess_of({"$5", "5 €"}).doubt(), "amounts in $, €");
}

TEST(WrittenNumbers, do_not_take_a_decimal_comma_for_a_separator) {
  EXPECT_EQ(form_guess_of({"1,234", "2,500"}).doubt(), "") << "in quotes, between commas";
  EXPECT_THAT(form_guess_of({"1,234", "2,500"}, {}, ';').doubt(), testing::HasSubstr("'1,234', where"));
  EXPECT_EQ(form_guess_of({"1,234", "1,234,567"}, {}, ';').doubt(), "");
  EXPECT_EQ(form_guess_of({"1,234"}, {"0.5"}, ';').doubt(), "") << "the point is the decimal sign";
}

}  // namespace
}  // namespace tpack
