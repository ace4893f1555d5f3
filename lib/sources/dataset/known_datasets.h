#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// A file that `tpack data fetch` downloads.
struct DatasetDownload {
  std::string_view path;  // on the server
  /// The published MD5 digest; empty if there is none.
  std::string_view md5;

  std::string_view file() const { return path.substr(path.rfind('/') + 1); }
};

/// A dataset that sources read by name.
struct KnownDataset {
  std::string_view name;    // of its source
  std::string_view folder;  // below the folder of all datasets
  std::string_view origin;  // where it is published
  std::string_view server;  // the first part of the addresses of the downloads
  /// Empty if the origin asks for a registration.
  std::vector<DatasetDownload> downloads;
  /// The command that unpacks the downloads in their folder; empty: they are read as they are.
  std::string_view unpack;
};

std::span<const KnownDataset> known_datasets();
/// Errors: InternalError if there is no such dataset.
const KnownDataset& known_dataset(std::string_view name);

}  // namespace tpack
