#include "data_tools/scan_report.h"

#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/text_table.h"

namespace tpack {
namespace {

constexpr size_t kMostRows = 40;    // of a table of numbers or classes
constexpr double kRareClass = 0.1;  // of the samples of the largest class
constexpr double kByte = 255;

std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return text.data();
}

int64_t read_or_not(const FlowScan& scan) { return std::ssize(scan.samples) + std::ssize(scan.unread); }

/// The name of an element of a component: a channel, a column, or the component itself.
std::string place_name(const FlowScan& scan, size_t component, size_t place) {
  const ComponentSpec& of = scan.spec[component];
  const size_t places = scan.numbers[component].size();
  if (of.is_image && places == 3) return of.name + (place == 0 ? " red" : place == 1 ? " green" : " blue");
  const auto columns = scan.columns.find(of.name);
  if (columns != scan.columns.end() && columns->second.size() == places) return columns->second[place];
  return places == 1 ? of.name : of.name + " " + std::to_string(place);
}

std::string samples_table(const std::vector<FlowScan>& scans) {
  const bool has_images =
      std::any_of(scans.begin(), scans.end(), [](const FlowScan& scan) { return scan.image.has_value(); });
  std::vector<std::string> header = {"flow", "samples", "unreadable"};
  if (has_images) header.insert(header.end(), {"gray", "sizes", "smallest", "median", "largest"});
  TextTable table(header);
  for (const FlowScan& scan : scans) {
    std::vector<std::string> row = {scan.name, with_thousands(read_or_not(scan)),
                                    with_thousands(std::ssize(scan.unread))};
    if (const auto sizes = sizes_in(scan)) {
      const auto gray = std::count_if(scan.samples.begin(), scan.samples.end(),
                                      [](const ScannedSample& sample) { return sample.is_gray; });
      row.insert(row.end(), {with_thousands(gray), with_thousands(sizes->distinct), sizes->smallest.str(),
                             sizes->median.str(), sizes->largest.str()});
    }
    table.add(row);
  }
  return table.str();
}

/// Cut off after kMostRows.
class LimitedTable {
 public:
  explicit LimitedTable(std::vector<std::string> header) : table_(std::move(header)) {}
  void add(std::vector<std::string> row) {
    if (++rows_ <= kMostRows) table_.add(std::move(row));
  }
  std::string str() const {
    if (rows_ == 0) return "";
    const std::string more =
        rows_ <= kMostRows
            ? ""
            : "and " + with_thousands(static_cast<int64_t>(rows_ - kMostRows)) + " more (--json lists all)\n";
    return "\n" + table_.str() + more;
  }

 private:
  TextTable table_;
  size_t rows_ = 0;
};

bool is_image_of_bytes(const ComponentSpec& component) {
  return component.is_image && component.tensor.dtype == DType::kUInt8;
}

std::string numbers_table(const std::vector<FlowScan>& scans) {
  const bool has_bytes = std::any_of(scans.begin(), scans.end(), [](const FlowScan& scan) {
    return std::any_of(scan.spec.begin(), scan.spec.end(), is_image_of_bytes);
  });
  std::vector<std::string> header = {"numbers", "flow", "min", "max", "mean", "deviation", "missing"};
  if (has_bytes) header.insert(header.end(), {"mean/255", "deviation/255"});
  LimitedTable table(header);
  for (const FlowScan& scan : scans) {
    for (size_t c = 0; c < scan.numbers.size(); ++c) {
      for (size_t k = 0; k < scan.numbers[c].size(); ++k) {
        const PlaceNumbers& of = scan.numbers[c][k];
        std::vector<std::string> row = {place_name(scan, c, k), scan.name};
        for (const double value : {of.least, of.most, of.mean, of.deviation()})
          row.push_back(of.count > 0 ? rounded(value) : "-");
        row.push_back(with_thousands(of.missing));
        if (is_image_of_bytes(scan.spec[c]) && of.count > 0)
          for (const double value : {of.mean, of.deviation()}) row.push_back(rounded(value / kByte));
        table.add(row);
      }
    }
  }
  return table.str();
}

/// By component, the names of its classes.
std::map<std::string, std::vector<std::string>> classes_in(const std::vector<FlowScan>& scans) {
  std::map<std::string, std::vector<std::string>> all;
  for (const FlowScan& scan : scans)
    for (const ComponentSpec& component : scan.spec)
      if (!component.classes.empty() && all[component.name].size() < component.classes.size())
        all[component.name] = component.classes;
  return all;
}

/// The number of samples (pixels) of a class in a flow; nothing for a flow without that component.
std::optional<int64_t> count_in(const FlowScan& scan, const std::string& component, const std::string& name) {
  const auto at = scan.spec.find(component);
  const auto counts = scan.classes.find(component);
  if (!at || counts == scan.classes.end()) return std::nullopt;
  const std::vector<std::string>& names = scan.spec[*at].classes;
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? 0 : counts->second.at(static_cast<size_t>(found - names.begin()));
}

std::string class_tables(const std::vector<FlowScan>& scans) {
  std::string text;
  for (const auto& [component, names] : classes_in(scans)) {
    std::vector<std::string> header = {component};
    for (const FlowScan& scan : scans) header.push_back(scan.name);
    LimitedTable table(header);
    for (const std::string& name : names) {
      std::vector<std::string> row = {name};
      for (const FlowScan& scan : scans) {
        const auto count = count_in(scan, component, name);
        row.push_back(count ? with_thousands(*count) : "-");
      }
      table.add(row);
    }
    text += table.str();
  }
  return text;
}

/// Remarks on the classes of a component in one of the flows.
void add_class_remarks(const FlowScan& scan, const std::vector<FlowScan>& scans, const std::string& component,
                       const std::vector<std::string>& names, std::vector<std::string>& remarks) {
  std::vector<std::string> absent;
  std::vector<std::string> rare;
  int64_t largest = 0;
  for (const std::string& name : names)
    largest = std::max(largest, count_in(scan, component, name).value_or(0));
  for (const std::string& name : names) {
    const auto count = count_in(scan, component, name);
    if (!count) continue;
    const bool others_have_it = std::any_of(scans.begin(), scans.end(), [&](const FlowScan& other) {
      return count_in(other, component, name).value_or(0) > 0;
    });
    if (*count == 0 && others_have_it) absent.push_back(name);
    if (*count > 0 && static_cast<double>(*count) < kRareClass * static_cast<double>(largest))
      rare.push_back(name + ": " + with_thousands(*count));
  }
  const std::string of = "data." + scan.name + ": of '" + component + "', ";
  if (!absent.empty())
    remarks.push_back(of + "no samples of the classes " + join_first(absent) + ", which other flows have");
  if (!rare.empty())
    remarks.push_back(of + "rare classes (" + join_first(rare) + "; the largest has " +
                      with_thousands(largest) + ")");
}

}  // namespace

std::optional<SizeSummary> sizes_in(const FlowScan& scan) {
  if (!scan.image || scan.samples.empty()) return std::nullopt;
  std::vector<ImageSize> sizes;
  for (const ScannedSample& sample : scan.samples) sizes.push_back(sample.size);
  std::sort(sizes.begin(), sizes.end(), [](const ImageSize& a, const ImageSize& b) {
    const auto key = [](const ImageSize& s) { return std::pair(int64_t{s.width} * s.height, s.width); };
    return key(a) < key(b);
  });
  SizeSummary summary{sizes.front(), sizes[sizes.size() / 2], sizes.back()};
  summary.distinct = std::unique(sizes.begin(), sizes.end()) - sizes.begin();
  return summary;
}

std::vector<const ScannedSample*> odd_shapes_in(const FlowScan& scan) {
  std::vector<const ScannedSample*> odd;
  for (const ScannedSample& sample : scan.samples)
    if (scan.image && sample.aspect() > kOddAspect) odd.push_back(&sample);
  return odd;
}

std::vector<std::string> class_remarks(const std::vector<FlowScan>& scans) {
  std::vector<std::string> remarks;
  for (const auto& [component, names] : classes_in(scans)) {
    for (const FlowScan& scan : scans) add_class_remarks(scan, scans, component, names, remarks);
    std::vector<std::string> nowhere;
    for (const std::string& name : names) {
      const auto has_none = [&, &of = component](const FlowScan& scan) {
        return count_in(scan, of, name) == 0;
      };
      if (std::all_of(scans.begin(), scans.end(), has_none)) nowhere.push_back(name);
    }
    if (!nowhere.empty())
      remarks.push_back("no values of '" + component + "' have the classes " + join_first(nowhere) +
                        "; check the files");
  }
  return remarks;
}

std::vector<std::string> advice_on(const FlowScan& scan) {
  std::vector<std::string> advice;
  for (size_t c = 0; c < scan.numbers.size(); ++c) {
    const ComponentSpec& component = scan.spec[c];
    std::vector<std::string> means;
    std::vector<std::string> deviations;
    bool has_all = !scan.numbers[c].empty();
    bool is_far = false;
    for (const PlaceNumbers& of : scan.numbers[c]) {
      const bool is_good = of.count > 0 && of.deviation() > 0 && std::isfinite(of.deviation());
      has_all = has_all && is_good;
      is_far = is_far || std::abs(of.mean) > 1 || of.deviation() > 3;
      means.push_back(rounded(of.mean));
      deviations.push_back(rounded(of.deviation()));
    }
    if (scan.image == c && has_all)
      advice.push_back("- Normalize: {mean: [" + join(means, ", ") + "], deviation: [" +
                       join(deviations, ", ") + "]}");
    const bool is_vector =
        !component.is_image && component.tensor.shape.rank() == 1 && is_float(component.tensor.dtype);
    if (is_vector && is_far) advice.push_back("- Standardize: " + component.name);
  }
  return advice;
}

std::string scans_text(const std::vector<FlowScan>& scans) {
  std::string text = samples_table(scans) + numbers_table(scans) + class_tables(scans);
  std::vector<std::string> lines;
  for (const FlowScan& scan : scans) {
    for (const std::string& remark : scan.remarks) lines.push_back("data." + scan.name + ": " + remark);
    std::vector<std::string> odd;
    for (const ScannedSample* sample : odd_shapes_in(scan))
      odd.push_back(scan.name_of(sample->index) + " (" + sample->size.str() + ")");
    if (!odd.empty())
      lines.push_back("data." + scan.name + ": aspect ratio above " + rounded(kOddAspect) + ": " +
                      join_first(odd));
  }
  for (std::string& remark : class_remarks(scans)) lines.push_back(std::move(remark));
  if (!scans.empty()) {
    for (const std::string& item : advice_on(scans[0])) {
      const bool is_layer = item.starts_with("- Normalize");
      lines.push_back(std::string(is_layer ? "first of model.layers" : "in each flow, before BatchData") +
                      ", for mean 0 and deviation 1 (data." + scans[0].name + "):\n    " + item);
    }
  }
  for (const std::string& line : lines) text += "\n" + line;
  return text + (lines.empty() ? "" : "\n");
}

nlohmann::ordered_json scan_json(const FlowScan& scan) {
  nlohmann::ordered_json json = {
      {"flow", scan.name}, {"samples", read_or_not(scan)}, {"unreadable", nlohmann::ordered_json::array()}};
  for (const UnreadSample& one : scan.unread)
    json["unreadable"].push_back({{"sample", one.name}, {"index", one.index}, {"reason", one.reason}});
  json["remarks"] = scan.remarks;
  if (const auto sizes = sizes_in(scan)) {
    nlohmann::ordered_json odd = nlohmann::ordered_json::array();
    for (const ScannedSample* sample : odd_shapes_in(scan))
      odd.push_back({{"sample", scan.name_of(sample->index)}, {"size", sample->size.str()}});
    const auto gray = std::count_if(scan.samples.begin(), scan.samples.end(),
                                    [](const ScannedSample& sample) { return sample.is_gray; });
    json["images"] = {{"component", scan.spec[*scan.image].name},
                      {"smallest", sizes->smallest.str()},
                      {"median", sizes->median.str()},
                      {"largest", sizes->largest.str()},
                      {"distinct_sizes", sizes->distinct},
                      {"gray", gray},
                      {"odd_shapes", std::move(odd)}};
  }
  json["classes"] = nlohmann::ordered_json::object();
  for (const auto& [component, counts] : scan.classes) {
    const auto at = scan.spec.find(component);
    nlohmann::ordered_json of = nlohmann::ordered_json::array();
    for (size_t k = 0; k < counts.size(); ++k)
      of.push_back({{"name", scan.spec[*at].classes[k]},
                    {scan.spec[*at].annotation == Annotation::kMask ? "pixels" : "samples", counts[k]}});
    json["classes"][component] = std::move(of);
  }
  json["numbers"] = nlohmann::ordered_json::array();
  for (size_t c = 0; c < scan.numbers.size(); ++c) {
    for (size_t k = 0; k < scan.numbers[c].size(); ++k) {
      const PlaceNumbers& of = scan.numbers[c][k];
      const auto number = [&](double value) {
        return of.count > 0 && std::isfinite(value) ? nlohmann::ordered_json(value)
                                                    : nlohmann::ordered_json(nullptr);
      };
      json["numbers"].push_back({{"component", scan.spec[c].name},
                                 {"name", place_name(scan, c, k)},
                                 {"count", of.count},
                                 {"missing", of.missing},
                                 {"min", number(of.least)},
                                 {"max", number(of.most)},
                                 {"mean", number(of.mean)},
                                 {"deviation", number(of.deviation())}});
    }
  }
  json["advice"] = advice_on(scan);
  return json;
}

}  // namespace tpack
