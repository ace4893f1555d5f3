#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpack {

/// What a file is, for messages of readers that wanted another kind.
struct FileKind {
  enum class Form : uint8_t {
    kUnknown,
    kText,
    kZip,         // that may hold arrays of NumPy
    kCheckpoint,  // of tpack
    kPicture,     // of a format that no reader takes; whoever reads images knows what helps
    kStandIn,     // for the file that was meant, as a pointer or the page of a failed download
    kOther
  };
  Form form = Form::kUnknown;
  std::string_view name = {};    // with its article: "a WebP image"; empty if unknown
  std::string_view remedy = {};  // what makes a usable file of it, or fetches the right one; may be empty

  bool is_known() const { return form != Form::kUnknown; }
  /// True for what no reader of text takes.
  bool is_no_text() const { return is_known() && form != Form::kText; }
  /// "a Git LFS pointer, not an image; fetch the file with `git lfs pull`". A reader may know a better
  /// remedy, except for a file that stands in for another.
  std::string rejected_as(std::string_view wanted, std::string_view own_remedy = {}) const;
};

/// The first word of a checkpoint.
constexpr std::string_view kCheckpointWord = "tpack checkpoint ";

/// What the first bytes of a file say; 512 of them are enough.
FileKind kind_of_content(std::string_view first_bytes);
}  // namespace tpack
