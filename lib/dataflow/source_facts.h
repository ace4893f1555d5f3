#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tpack {

/// Facts about the data of a prepared source, for users.
struct SourceFacts {
  struct Class {
    std::string name;
    int64_t samples = 0;
  };

  std::optional<int64_t> samples = {};  // of a pass; kEndless if it never ends
  std::string unit = "samples";         // noun for the samples, in the plural
  std::vector<Class> classes = {};      // in the order of their labels; for the first component with classes
  std::vector<std::string> remarks = {};  // about files that are not read: "ignored 1 file (.gif)"
  int64_t bad = 0;                        // samples that are known to be bad
  std::map<std::string, std::vector<Class>> classes_of = {};  // by component, if several have classes

  /// Without the remarks: "244 images in 2 classes (ants: 123, bees: 121)"; for many classes, only the range
  /// of their sample counts.
  std::string str() const;
};

/// "classes 'Yes' and 'yes ' differ only by letter case, spaces or the form of accents; ..."; empty if no
/// classes do.
std::string similar_classes(const std::vector<SourceFacts::Class>& classes);

/// The facts of several sources, each in its own words: "a; b".
std::string describe(const std::vector<SourceFacts>& sources);

}  // namespace tpack
