#include "data_tools/data_check.h"

#include <map>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "data_tools/scan_report.h"

namespace tpack {
namespace {

constexpr size_t kMostLines = 10;       // lines of each list in text output
constexpr double kLikeByNature = 0.05;  // share of samples above which they are a kind that looks alike

const ScannedSample& sample_at(const DataCheck& check, const SampleOfFlow& at) {
  return check.flows[at.flow].samples[at.place];
}

std::vector<SameSamples> find_same(const std::vector<FlowScan>& flows) {
  std::map<std::array<uint64_t, 2>, size_t> known;
  std::vector<SameSamples> groups;
  for (size_t flow = 0; flow < flows.size(); ++flow) {
    for (size_t place = 0; place < flows[flow].samples.size(); ++place) {
      const auto [found, is_new] = known.emplace(flows[flow].samples[place].content, groups.size());
      if (is_new) groups.emplace_back();
      groups[found->second].samples.push_back({flow, place});
    }
  }
  std::erase_if(groups, [](const SameSamples& group) { return group.samples.size() < 2; });
  for (SameSamples& group : groups) {
    const ScannedSample& first = flows[group.samples[0].flow].samples[group.samples[0].place];
    for (const SampleOfFlow& at : group.samples) {
      const ScannedSample& other = flows[at.flow].samples[at.place];
      group.has_conflict = group.has_conflict || first.rest != other.rest;
      group.is_leak = group.is_leak || at.flow != group.samples[0].flow;
    }
  }
  return groups;
}

/// The first sample of each group of equal ones represents the group.
std::vector<LikeSamples> find_like(const std::vector<FlowScan>& flows, const std::vector<SameSamples>& same) {
  std::vector<std::vector<bool>> is_copy;
  for (const FlowScan& flow : flows) is_copy.emplace_back(flow.samples.size());
  for (const SameSamples& group : same)
    for (size_t i = 1; i < group.samples.size(); ++i)
      is_copy[group.samples[i].flow][group.samples[i].place] = true;
  std::vector<HashedSample> hashed;
  std::vector<SampleOfFlow> places;
  for (size_t flow = 0; flow < flows.size(); ++flow) {
    for (size_t place = 0; place < flows[flow].samples.size(); ++place) {
      const auto& look = flows[flow].samples[place].look;
      if (!look || is_copy[flow][place]) continue;
      hashed.push_back({*look, flow});
      places.push_back({flow, place});
    }
  }
  std::vector<LikeSamples> like;
  for (const NearPair& pair : near_pairs(hashed))
    like.push_back({places[pair.sample], places[pair.like], pair.distance});
  return like;
}

/// "validation: photos/3.png (cat)".
std::string described(const DataCheck& check, const SampleOfFlow& at) {
  const FlowScan& flow = check.flows[at.flow];
  const std::string name = flow.class_of(sample_at(check, at));
  return (check.flows.size() > 1 ? flow.name + ": " : "") + flow.name_of(sample_at(check, at).index) +
         (name.empty() ? "" : " (" + name + ")");
}

std::string described(const DataCheck& check, const SameSamples& group) {
  constexpr size_t kMost = 4;
  std::vector<std::string> names;
  for (size_t i = 0; i < group.samples.size() && i < kMost; ++i)
    names.push_back(described(check, group.samples[i]));
  const size_t more = group.samples.size() - names.size();
  return join(names, " = ") +
         (more == 0 ? "" : " and " + with_thousands(static_cast<int64_t>(more)) + " more");
}

/// A title with the number of lines, and the first of these; nothing if there are none.
std::string list_text(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "\n" + title + ": " + with_thousands(std::ssize(lines)) + "\n";
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMostLines)
    text += "  and " + with_thousands(static_cast<int64_t>(lines.size() - kMostLines)) +
            " more (--json lists all)\n";
  return text;
}

nlohmann::ordered_json sample_json(const DataCheck& check, const SampleOfFlow& at) {
  const FlowScan& flow = check.flows[at.flow];
  const ScannedSample& sample = sample_at(check, at);
  nlohmann::ordered_json json = {
      {"flow", flow.name}, {"sample", flow.name_of(sample.index)}, {"index", sample.index}};
  json["class"] =
      sample.label ? nlohmann::ordered_json(flow.class_of(sample)) : nlohmann::ordered_json(nullptr);
  return json;
}

bool has_images(const DataCheck& check, const SameSamples& group) {
  return std::all_of(group.samples.begin(), group.samples.end(),
                     [&](const SampleOfFlow& at) { return check.flows[at.flow].image.has_value(); });
}

}  // namespace

DataCheck compare_samples(std::vector<FlowScan> flows) {
  DataCheck check{std::move(flows), {}, {}};
  check.same = find_same(check.flows);
  check.like = find_like(check.flows, check.same);
  return check;
}

std::string DataCheck::str() const {
  std::vector<std::string> unread;
  int64_t count = 0;
  for (const FlowScan& flow : flows) {
    count += std::ssize(flow.samples);
    for (const UnreadSample& one : flow.unread)
      unread.push_back(flow.name + ": " + one.name + ": " + one.reason);
  }
  std::vector<std::string> leaks;
  std::vector<std::string> conflicts;
  std::vector<std::string> copies;
  for (const SameSamples& group : same) {
    const std::string text = described(*this, group);
    if (group.is_leak) leaks.push_back(text);
    if (group.has_conflict) conflicts.push_back(text);
    if (!group.is_leak && !group.has_conflict) copies.push_back(text);
  }
  std::vector<std::string> like_leaks;
  std::vector<std::string> like_copies;
  std::vector<LikeSamples> nearest_first = like;
  std::stable_sort(nearest_first.begin(), nearest_first.end(),
                   [](const LikeSamples& a, const LikeSamples& b) { return a.distance < b.distance; });
  for (const LikeSamples& one : nearest_first) {
    std::string text = described(*this, one.sample) + " ~ " + described(*this, one.like);
    text += ", " + std::to_string(one.distance) + " bits";
    (one.is_leak() ? like_leaks : like_copies).push_back(std::move(text));
  }
  std::string text = scans_text(flows);
  if (unread.empty() && same.empty() && like.empty())
    text += "\nall samples can be read, and no two are alike\n";
  text += list_text("cannot be read", unread);
  text += list_text("the same in several flows (leakage)", leaks);
  text += list_text("the same with different labels", conflicts);
  text += list_text("the same within a flow", copies);
  text += list_text("alike in several flows", like_leaks);
  text += list_text("alike within a flow", like_copies);
  if (static_cast<double>(like.size()) > kLikeByNature * static_cast<double>(count))
    text +=
        "\nmany samples are alike: pictures of this kind look much the same at 32 x 32 pixels, so single "
        "matches mean little\n";
  return text;
}

nlohmann::ordered_json DataCheck::to_json() const {
  nlohmann::ordered_json json = {{"flows", nlohmann::ordered_json::array()},
                                 {"duplicates", nlohmann::ordered_json::array()},
                                 {"near_duplicates", nlohmann::ordered_json::array()}};
  for (const FlowScan& flow : flows) json["flows"].push_back(scan_json(flow));
  for (const SameSamples& group : same) {
    nlohmann::ordered_json one = {{"leak", group.is_leak},
                                  {"label_conflict", group.has_conflict},
                                  {"samples", nlohmann::ordered_json::array()}};
    for (const SampleOfFlow& at : group.samples) one["samples"].push_back(sample_json(*this, at));
    json["duplicates"].push_back(std::move(one));
  }
  for (const LikeSamples& one : like)
    json["near_duplicates"].push_back({{"leak", one.is_leak()},
                                       {"distance", one.distance},
                                       {"sample", sample_json(*this, one.sample)},
                                       {"like", sample_json(*this, one.like)}});
  json["class_remarks"] = class_remarks(flows);
  const std::string wrong = failure();
  json["failure"] = wrong.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(wrong);
  return json;
}

std::string DataCheck::failure() const {
  int64_t unread = 0;
  for (const FlowScan& flow : flows) unread += std::ssize(flow.unread);
  const auto leaks = std::count_if(same.begin(), same.end(), [&](const SameSamples& group) {
    return group.is_leak && has_images(*this, group);
  });
  std::vector<std::string> parts;
  if (unread == 1) parts.emplace_back("1 sample cannot be read");
  if (unread > 1) parts.push_back(with_thousands(unread) + " samples cannot be read");
  if (leaks > 0)
    parts.push_back(with_thousands(leaks) + (leaks == 1 ? " image is" : " images are") + " in several flows");
  return join(parts, ", and ");
}

}  // namespace tpack
