#include "sources/dataset/fetch_dataset.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "core/error.h"
#include "core/md5.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "sources/dataset/known_datasets.h"
#include "system/dependent_process.h"
#include "system/log.h"
#include "system/mapped_file.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotContinue = 33;  // exit code of curl

const KnownDataset& dataset_to_fetch(const std::string& name) {
  std::vector<std::string> names;
  for (const KnownDataset& one : known_datasets()) names.emplace_back(one.name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw ConfigError("no dataset '" + printable(name) + "'" + did_you_mean(name, names) + "; there are " +
                      join(names, ", "));
  const KnownDataset& dataset = known_dataset(name);
  if (dataset.downloads.empty())
    throw ConfigError(name + " cannot be downloaded by a program; it is published at " +
                      std::string(dataset.origin));
  return dataset;
}

std::string md5_of_file(const std::string& path) {
  const MappedFile file(path);
  Md5 digest;
  const auto bytes = file.bytes();
  digest.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  check_mapped_files();  // as long as this file is mapped
  return digest.text();
}

bool has_digest(const std::string& path, const DatasetDownload& download) {
  return download.md5.empty() || md5_of_file(path) == download.md5;
}

int run_curl(const std::string& url, const std::string& to) {
  const bool on_terminal = ::isatty(STDERR_FILENO) == 1;
  std::vector<std::string> words = {"curl", "--fail", "--location", "--retry", "3", "--continue-at", "-"};
  if (on_terminal)
    words.emplace_back("--progress-bar");
  else
    words.insert(words.end(), {"--silent", "--show-error"});
  words.insert(words.end(), {"--output", to, "--", url});
  DependentProcess curl({.program = "curl", .words = words});
  return curl.wait();
}

/// Errors: ResourceError, DataError.
void download_file(const DatasetDownload& download, const std::string& url, const std::string& path) {
  const std::string part = path + ".part";
  const bool is_complete = !download.md5.empty() && fs::is_regular_file(part) && has_digest(part, download);
  if (!is_complete) {
    int code = run_curl(url, part);
    if (code == kCannotContinue) {
      log::info("the server does not continue a download; it starts again");
      fs::remove(part);
      code = run_curl(url, part);
    }
    if (code == DependentProcess::kNotFound || code == DependentProcess::kNotStarted)
      throw ResourceError(
          "needs the program curl, which is not installed; install it, such as with `apt-get install "
          "curl`, or download " +
          url + " to " + path + " yourself");
    if (code != 0)
      throw DataError(url, "could not be downloaded (curl ends with exit code " + std::to_string(code) +
                               "); the same command continues the download in " + part +
                               "; or download it to " + path + " yourself");
    if (!has_digest(part, download)) {
      const std::string digest = md5_of_file(part);
      fs::remove(part);
      throw DataError(url, "has the MD5 digest " + digest + "; published is " + std::string(download.md5) +
                               "; it was not kept");
    }
  }
  fs::rename(part, path);
}

}  // namespace

FetchedDataset fetch_dataset(const FetchOptions& options) {
  const KnownDataset& dataset = dataset_to_fetch(options.dataset);
  const fs::path folder = fs::path(options.dir) / dataset.folder;
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw ResourceError(folder.string() + ": cannot be made: " + failure.message());
  FetchedDataset fetched{{}, std::string(dataset.unpack), options.dataset + ": {dir: " + options.dir + "}"};
  for (const DatasetDownload& download : dataset.downloads) {
    const std::string file(download.file());
    const std::string path = (folder / file).string();
    const std::string number = std::to_string(fetched.paths.size() + 1);
    const std::string of = " (" + number + " of " + std::to_string(dataset.downloads.size()) + ")";
    const std::string url = options.url.empty()
                                ? std::string(dataset.server) + "/" + std::string(download.path)
                                : options.url + "/" + file;
    if (!fs::is_regular_file(path)) {
      log::info("downloading " + url + of);
      download_file(download, url, path);
    } else if (has_digest(path, download)) {
      log::info(path + " is there" + of);
    } else {
      throw DataError(path, "is there, but its MD5 digest is not the published one, " +
                                std::string(download.md5) + "; remove it to download it again");
    }
    fetched.paths.push_back(path);
  }
  return fetched;
}

}  // namespace tpack
