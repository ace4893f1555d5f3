#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tpack {

/// What a source found when it was prepared, for a person to read.
struct SourceFacts {
  struct Class {
    std::string name;
    int64_t samples = 0;
  };

  std::optional<int64_t> samples = {};    // of a pass; kEndless if it never ends
  std::string unit = "samples";           // what they are, in the plural
  std::vector<Class> classes = {};        // in the order of their labels; of the first component that has any
  std::vector<std::string> remarks = {};  // about files that are not read: "ignored 1 file (.gif)"
  int64_t bad = 0;                        // samples that are known to be bad
  std::map<std::string, std::vector<Class>> classes_of = {};  // by component, where several have classes

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
