#include "search/results.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

/// More rungs first, because those runs were trained longer. Then the better value.
bool comes_before(const SearchRun& a, const SearchRun& b, Goal goal) {
  if (a.scores.empty() || b.scores.empty()) return b.scores.empty() && !a.scores.empty();
  if (a.scores.size() != b.scores.size()) return a.scores.size() > b.scores.size();
  return is_better(a.scores.back(), b.scores.back(), goal);
}

bool is_ranked(const SearchRun& run) { return !run.scores.empty() && !std::isnan(run.scores.back()); }

std::string number_cell(const std::optional<double>& value) { return value ? short_number(*value) : ""; }

std::string full_number(const std::optional<double>& value) { return value ? shortest(*value) : ""; }

}  // namespace

SearchResults::SearchResults(const SearchRecord& record, const std::string& folder)
    : record_(record), folder_(folder) {
  for (const SearchRun& run : record.runs)
    rows_.push_back({&run, read_metric(folder + "/" + run.name, record.plan.metric), ""});
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    return comes_before(*a.run, *b.run, record.plan.metric.goal);
  });
  for (size_t i = 0; i < rows_.size(); ++i)
    if (is_ranked(*rows_[i].run)) rows_[i].rank = std::to_string(i + 1);
}

std::string SearchResults::table() const {
  const std::string& metric = record_.plan.metric.name;
  std::vector<std::string> header = {"rank", "run"};
  for (std::string& key : short_keys(record_.keys)) header.push_back(std::move(key));
  for (const std::string& name : {"best " + metric, std::string("last"), std::string("epochs"),
                                  std::string("time"), std::string("state")})
    header.push_back(name);
  TextTable table(header);
  for (const Row& row : rows_) {
    std::vector<std::string> cells = {row.rank, row.run->name.substr(0, row.run->name.find('-'))};
    cells.insert(cells.end(), row.run->values.begin(), row.run->values.end());
    const std::string time = row.run->seconds > 0 ? human_duration(row.run->seconds) : "";
    for (const std::string& cell :
         {number_cell(row.metric.best), number_cell(row.metric.last), std::to_string(row.metric.epochs), time,
          std::string(state_name(row.run->state))})
      cells.push_back(cell);
    table.add(std::move(cells));
  }
  return table.str();
}

std::string SearchResults::csv() const {
  const std::string& metric = record_.plan.metric.name;
  const auto line = [](std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = csv_field(cell);
    return join(cells, ",") + "\n";
  };
  std::vector<std::string> header = {"rank", "run"};
  header.insert(header.end(), record_.keys.begin(), record_.keys.end());
  for (const std::string& name : {"best_" + metric, "last_" + metric, std::string("epochs"),
                                  std::string("seconds"), std::string("state"), std::string("reason")})
    header.push_back(name);
  std::string text = line(header);
  for (const Row& row : rows_) {
    std::vector<std::string> cells = {row.rank, row.run->name};
    cells.insert(cells.end(), row.run->values.begin(), row.run->values.end());
    for (const std::string& cell :
         {full_number(row.metric.best), full_number(row.metric.last), std::to_string(row.metric.epochs),
          short_number(row.run->seconds), std::string(state_name(row.run->state)), row.run->reason})
      cells.push_back(cell);
    text += line(cells);
  }
  return text;
}

std::string SearchResults::json() const {
  using json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? json(*value) : json(nullptr);
  };
  const SearchMetric& metric = record_.plan.metric;
  json all = {{"metric", metric.name}, {"goal", goal_name(metric.goal)}, {"runs", json::array()}};
  for (const Row& row : rows_) {
    json values = json::object();
    for (size_t i = 0; i < record_.keys.size(); ++i) values[record_.keys[i]] = row.run->values[i];
    all["runs"].push_back({{"rank", row.rank.empty() ? json(nullptr) : json(std::stoi(row.rank))},
                           {"run", row.run->name},
                           {"folder", folder_ + "/" + row.run->name},
                           {"values", values},
                           {"best", number(row.metric.best)},
                           {"last", number(row.metric.last)},
                           {"epochs", row.metric.epochs},
                           {"seconds", row.run->seconds},
                           {"state", state_name(row.run->state)},
                           {"reason", row.run->reason}});
  }
  return all.dump(1) + "\n";
}

}  // namespace tpack
