#include "dataflow/source_facts.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/flow.h"

namespace tpack {
namespace {

constexpr size_t kMaxListed = 10;  // classes

std::string classes_text(const std::vector<SourceFacts::Class>& classes) {
  std::vector<std::string> each;
  for (const auto& [name, samples] : classes) each.push_back(name + ": " + std::to_string(samples));
  if (classes.size() <= kMaxListed) return join(each, ", ");
  const auto fewer = [](const auto& a, const auto& b) { return a.samples < b.samples; };
  const auto [least, most] = std::minmax_element(classes.begin(), classes.end(), fewer);
  return with_thousands(least->samples) + " to " + with_thousands(most->samples) + " each";
}

}  // namespace

std::string SourceFacts::str() const {
  std::string text = !samples               ? "an unknown number of "
                     : *samples == kEndless ? "endless "
                                            : with_thousands(*samples) + " ";
  text += unit;
  if (classes.empty()) return text;
  const auto count = static_cast<int64_t>(classes.size());
  return text + " in " + with_thousands(count) + (count == 1 ? " class (" : " classes (") +
         classes_text(classes) + ")";
}

std::string similar_classes(const std::vector<SourceFacts::Class>& classes) {
  std::map<std::string, std::string> known;  // by their common key
  std::vector<std::string> pairs;
  for (const auto& [name, samples] : classes) {
    std::string common;
    for (const char c : composed(name))
      if (std::isspace(static_cast<unsigned char>(c)) == 0)
        common += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto [other, is_new] = known.emplace(common, name);
    if (!is_new) pairs.push_back("'" + other->second + "' and '" + name + "'");
  }
  if (pairs.empty()) return "";
  return "classes " + join_first(pairs) +
         " differ only by letter case, spaces or the form of accents; if they are the same class, use one "
         "name";
}

std::string describe(const std::vector<SourceFacts>& sources) {
  std::vector<std::string> each;
  for (const SourceFacts& facts : sources) each.push_back(facts.str());
  return join(each, "; ");
}

}  // namespace tpack
