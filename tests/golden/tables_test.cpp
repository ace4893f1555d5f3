#include <set>

#include <gtest/gtest.h>

#include "golden/golden.h"
#include "table/csv_scale.h"

namespace tpack {
namespace {

using golden::Json;

/// The numbers of a case, as make_tables.py describes them.
std::vector<double> column_of(const Json& c) {
  if (c.at("train").is_array()) return c.at("train").get<std::vector<double>>();
  const Tensor drawn = golden::draw(c.at("name"), c.at("train"), DType::kFloat64);
  std::vector<double> all(drawn.span<double>().begin(), drawn.span<double>().end());
  if (c.contains("within"))
    for (double& x : all) x = std::clamp(x, c["within"][0].get<double>(), c["within"][1].get<double>());
  return all;
}

TEST(GoldenTables, agree_with_scikit_learn) {
  const Json file = golden::read("tables.json");
  std::set<std::string> covered;
  for (const Json& c : file.at("cases")) {
    const std::string name = c.at("name");
    ColumnScale kind = ColumnScale::kNone;
    for (const auto& [word, scale] : EnumNames<ColumnScale>::kNames)
      if (name.starts_with(word)) kind = scale;
    covered.insert(EnumNames<ColumnScale>::kNames[static_cast<size_t>(kind)].first);
    NumberScaling scaling(kind);
    std::vector<float> train;
    for (const double x : column_of(c)) train.push_back(static_cast<float>(*scaling.prepared(x)));
    scaling.fit(train);
    const auto other = c.at("other").get<std::vector<double>>();
    const auto expected = c.at("values").get<std::vector<double>>();
    ASSERT_EQ(other.size(), expected.size());
    for (size_t i = 0; i < other.size(); ++i) {
      const double ours = scaling(*scaling.prepared(other[i]));
      EXPECT_NEAR(ours, expected[i], 1e-6 * std::max(1.0, std::abs(expected[i])))
          << name << " of " << other[i];
    }
  }
  EXPECT_EQ(covered, (std::set<std::string>{"log1p", "min_max", "quantile", "standardize"}))
      << "all but none, which changes nothing";
}

}  // namespace
}  // namespace tpack
