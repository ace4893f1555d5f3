#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config_node.h"
#include "core/error.h"
#include "dataflow/spec.h"

// Optional parts of a source. A source derives from the parts that it has; other code gets them by type
// (Source::part). If a source does not have a part, its functions return the empty results of these base
// classes. After `prepare`, unless stated otherwise. Threads: const.
namespace tpack {

class RandomAccessSource;
class Source;
struct FittedComponent;

/// How to read text with one row per line.
enum class TextLines : uint8_t { kAll, kAfterHeader };

struct OpenFile {
  std::string path;
  std::string stamp;
};

/// The files of a source, and how to read others in the same way.
class SourceFiles {
 public:
  virtual ~SourceFiles() = default;
  /// A text that changes when the files change: made from names, sizes and dates, without opening them. Empty
  /// if their state is unknown.
  virtual std::string fingerprint() const { return {}; }
  /// True if a program or another machine makes the samples, so that nobody notices when they change.
  virtual bool come_from_outside() const { return false; }
  /// The file that passes read, with its size and time of modification now (those of the open file, if it
  /// stays open while another one takes its name): a pass fails if they have changed since `prepare`. Nothing
  /// if `prepare` reads all.
  virtual std::optional<OpenFile> open_file() const { return std::nullopt; }
  /// The parameter for its single file or folder, or for the source that it wraps; null if there is none.
  /// Before `prepare`, too, as are the following functions.
  virtual const char* path_field() const { return nullptr; }
  /// The image of its samples from the config alone: for `infer`, which has other images, if a source does
  /// not know its spec.
  virtual std::optional<ComponentSpec> declared_image() const { return std::nullopt; }
  /// A source that reads these components in the same way from another file, in its order; null if this
  /// source does not read one file. Errors: ConfigError if components need information from the original
  /// file.
  virtual std::shared_ptr<RandomAccessSource> reopen_with(const std::string& path,
                                                          const std::vector<std::string>& components) const;
  /// For a source where `reopen_with` reads text with one row per line; else nothing.
  virtual std::optional<TextLines> text_lines() const { return std::nullopt; }
};

/// What a source learns from its data, if these are the training data.
class LearnedValues {
 public:
  virtual ~LearnedValues() = default;
  /// For all other data of the model: the names of the columns and classes of its components, as far as they
  /// are known (all after `prepare`).
  virtual std::vector<FittedComponent> fitted() const;
  /// Learns only from these samples; by default, from all.
  virtual void learn_from(const std::vector<int64_t>& samples) { (void)samples; }
};

/// Facts about single samples, known without reading them.
class SampleFacts {
 public:
  virtual ~SampleFacts() = default;
  /// True if `get` is known to fail for the sample.
  virtual bool is_bad(int64_t index) const {
    (void)index;
    return false;
  }
  /// The class of each sample in a component of class numbers, -1 for a bad one; nothing if it must be read
  /// (tpack::class_numbers).
  virtual std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const {
    (void)component;
    return std::nullopt;
  }
  /// A name of the sample that does not change when others are added; nothing if there is none.
  virtual std::optional<std::string> stable_name(int64_t index) const {
    (void)index;
    return std::nullopt;
  }
};

/// Samples that are the rows of a table.
class TableRows {
 public:
  virtual ~TableRows() = default;
  /// The texts of a column, which need not be part of a component. Errors: ConfigError if there is none.
  virtual std::vector<std::string> column(const std::string& name) const {
    throw ConfigError("no column '" + name + "': the source is not a table");
  }
  /// The number of numbers of a component for each of its columns (FittedComponent::columns), in order; empty
  /// if unknown.
  virtual std::vector<int64_t> column_widths(const std::string& component) const {
    (void)component;
    return {};
  }
  /// The column that identifies samples; empty if there is none.
  virtual std::string id_column() const { return {}; }
  /// The column with the time of each sample, by its name; empty if there is none.
  virtual std::string time_column() const { return {}; }
};

/// Samples that are made of samples of a source, or chosen from them.
class DerivedSamples {
 public:
  virtual ~DerivedSamples() = default;
  /// The index of the sample among all samples of the files.
  virtual int64_t index_in_data(int64_t index) const { return index; }
  /// The rows of a series that the sample predicts, which other samples may share; none for independent
  /// samples.
  virtual std::vector<int64_t> predicted_rows(int64_t index) const {
    (void)index;
    return {};
  }
};

/// A source that reads another one, which gets the same learned values.
class WrappingSource {
 public:
  virtual ~WrappingSource() = default;
  virtual std::shared_ptr<RandomAccessSource> wrapped() const { return nullptr; }
  /// The item of the wrapped source if this one has its name and random numbers. Null: it has its own.
  virtual const ConfigNode* inner() const { return nullptr; }
};

}  // namespace tpack
