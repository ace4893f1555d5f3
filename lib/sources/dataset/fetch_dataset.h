#pragma once

#include <string>
#include <vector>

namespace tpack {

struct FetchOptions {
  std::string dataset;  // the name of its source
  std::string dir;      // the folder of all datasets
  /// Replaces the addresses of the files up to their names, such as a mirror; empty: the published ones.
  std::string url = {};
};

/// What was fetched.
struct FetchedDataset {
  std::vector<std::string> paths;
  std::string unpack;  // the command that unpacks them; empty: they are read as they are
  std::string config;  // the source in a config
};

/// Downloads the files of a dataset with the program curl to the folder of its name below `dir`, where its
/// source finds them. Files that are there are not downloaded again, and an interrupted download continues.
/// Digests are compared with the published ones. Errors: ConfigError for an unknown dataset, or one that
/// cannot be downloaded; ResourceError without curl; DataError if a download fails, or for another digest.
FetchedDataset fetch_dataset(const FetchOptions& options);

}  // namespace tpack
