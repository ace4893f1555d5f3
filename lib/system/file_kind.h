#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpack {

/// The kind of a file, for messages of readers that expected another kind.
struct FileKind {
  enum class Form : uint8_t {
    kUnknown,
    kText,
    kZip,         // may contain NumPy arrays
    kCheckpoint,  // of tpack
    kPicture,     // in a format that no reader supports; readers of images know the fix
    kStandIn,     // a stand-in for the real file: a pointer, or the page of a failed download
    kOther
  };
  Form form = Form::kUnknown;
  std::string_view name = {};    // with its article: "a WebP image"; empty if unknown
  std::string_view remedy = {};  // how to convert the file, or fetch the right one; may be empty

  bool is_known() const { return form != Form::kUnknown; }
  /// True for files that no reader of text accepts.
  bool is_no_text() const { return is_known() && form != Form::kText; }
  /// "a Git LFS pointer, not an image; fetch the file with `git lfs pull`". A reader may know a better fix,
  /// except for a stand-in.
  std::string rejected_as(std::string_view wanted, std::string_view own_remedy = {}) const;
};

/// The first word of a checkpoint.
constexpr std::string_view kCheckpointWord = "tpack checkpoint ";

/// The kind of a file from its first bytes; 512 are enough.
FileKind kind_of_content(std::string_view first_bytes);
}  // namespace tpack
