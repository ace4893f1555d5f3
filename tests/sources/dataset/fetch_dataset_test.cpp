#include "sources/dataset/fetch_dataset.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "dataflow/flow_helpers.h"
#include "support/python.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSilhouetteFile = "caltech101_silhouettes_28_split1.mat";

std::string content_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A server of the folder `served`, and a folder `data` for downloads.
class FetchDataset : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.path("served"));
    if (!fs::exists(test_python())) GTEST_SKIP() << "no Python: set TPACK_PYTHON";
    ::setenv("no_proxy", "127.0.0.1", 1);
    serve(folder_.path("served"));
  }
  void TearDown() override { stop(); }
  void serve(const std::string& served) {
    stop();
    const std::string script = source_folder() + "/tests/python/serve_folder.py";
    server_ = ::popen(("'" + test_python() + "' '" + script + "' '" + served + "'").c_str(), "r");
    const std::string first = next_line();
    ASSERT_TRUE(first.starts_with("port ")) << first;
    address_ = "http://127.0.0.1:" + std::to_string(std::stoi(first.substr(5)));
  }
  /// Ends the server, and returns where its answers began.
  std::string stop() {
    std::string answers;
    if (server_ == nullptr) return answers;
    run_command("curl --silent " + address_ + "/quit");
    for (std::string line = next_line(); !line.empty(); line = next_line()) answers += line;
    ::pclose(server_);
    server_ = nullptr;
    return answers;
  }
  FetchedDataset fetch(const std::string& dataset, const std::string& below = "") const {
    return fetch_dataset({.dataset = dataset, .dir = folder_.path("data"), .url = address_ + below});
  }
  std::string downloaded() const { return folder_.path("data/caltech101-silhouettes/") + kSilhouetteFile; }

  TempFolder folder_;
  std::string address_;

 private:
  std::string next_line() const {
    std::array<char, 200> line{};
    return std::fgets(line.data(), line.size(), server_) == nullptr ? "" : line.data();
  }

  FILE* server_ = nullptr;
};

TEST_F(FetchDataset, downloads_once) {
  folder_.write_text(std::string("served/") + kSilhouetteFile, "content");
  const FetchedDataset fetched = fetch("Caltech101Silhouettes");
  EXPECT_EQ(fetched.paths, Texts{downloaded()});
  EXPECT_EQ(fetched.unpack, "");
  EXPECT_EQ(fetched.config, "Caltech101Silhouettes: {dir: " + folder_.path("data") + "}");
  EXPECT_EQ(content_of_file(downloaded()), "content");
  fetch("Caltech101Silhouettes");
  EXPECT_EQ(stop(), "from 0\n");
}

TEST_F(FetchDataset, continues_an_interrupted_download) {
  folder_.write_text(std::string("served/") + kSilhouetteFile, "content");
  folder_.write_text(std::string("data/caltech101-silhouettes/") + kSilhouetteFile + ".part", "cont");
  fetch("Caltech101Silhouettes");
  EXPECT_EQ(stop(), "from 4\n");
  EXPECT_EQ(content_of_file(downloaded()), "content");
  EXPECT_FALSE(fs::exists(downloaded() + ".part"));
}

TEST_F(FetchDataset, takes_a_download_that_was_complete) {
  folder_.write_text(std::string("served/") + kSilhouetteFile, "content");
  folder_.write_text(std::string("data/caltech101-silhouettes/") + kSilhouetteFile + ".part", "content");
  fetch("Caltech101Silhouettes");
  EXPECT_EQ(content_of_file(downloaded()), "content");
}

/// A server that is down for a while does not cost what was downloaded.
TEST_F(FetchDataset, keeps_a_part_if_the_server_fails) {
  folder_.write_text(std::string("data/caltech101-silhouettes/") + kSilhouetteFile + ".part", "cont");
  EXPECT_TRUE(fails([&] { fetch("Caltech101Silhouettes"); }, {"exit code 22", ".part"}));
  EXPECT_EQ(content_of_file(downloaded() + ".part"), "cont");
}

TEST_F(FetchDataset, starts_again_if_the_server_cannot_continue) {
  folder_.write_text(std::string("served/") + kSilhouetteFile, "content");
  folder_.write_text(std::string("data/caltech101-silhouettes/") + kSilhouetteFile + ".part", "xxxx");
  fetch("Caltech101Silhouettes", "/plain");
  EXPECT_EQ(content_of_file(downloaded()), "content");
}

TEST_F(FetchDataset, names_what_is_wrong) {
  EXPECT_TRUE(fails([&] { fetch("Caltech101Silhouettes"); },
                    {address_, kSilhouetteFile, "could not be downloaded", "exit code 22", downloaded()}));
  folder_.write_text("served/train-images-idx3-ubyte.gz", "other");
  EXPECT_TRUE(fails([&] { fetch("Mnist"); },
                    {"train-images-idx3-ubyte.gz: has the MD5 digest 795f3202b17cb6bc3d4b771d8c6c9eaf",
                     "f68b3c2dcbeaaa9fbdd348bbdeb94873", "was not kept"}));
  EXPECT_FALSE(fs::exists(folder_.path("data/mnist/train-images-idx3-ubyte.gz")));
  EXPECT_FALSE(fs::exists(folder_.path("data/mnist/train-images-idx3-ubyte.gz.part")));
  folder_.write_text("data/mnist/train-images-idx3-ubyte.gz", "other");
  EXPECT_TRUE(fails([&] { fetch("Mnist"); }, {"is there, but its MD5 digest", "remove it"}));
  EXPECT_TRUE(fails([&] { fetch("Cifar"); }, {"no dataset 'Cifar'", "Cifar10"}));
  EXPECT_TRUE(fails([&] { fetch("ILSVRC12"); }, {"cannot be downloaded", "https://image-net.org/"}));
}

TEST_F(FetchDataset, needs_curl) {
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", folder_.path().c_str(), 1);
  const std::string error = error_of([&] { fetch("Caltech101Silhouettes"); });
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_TRUE(
      says(error, {"curl, which is not installed", "apt-get install curl", kSilhouetteFile, downloaded()}));
}

TEST_F(FetchDataset, the_files_that_are_published_have_their_digests) {
  const char* const datasets = std::getenv("TPACK_DATASET");
  if (datasets == nullptr || !fs::exists(std::string(datasets) + "/fashion-mnist"))
    GTEST_SKIP() << "TPACK_DATASET has no fashion-mnist/";
  serve(std::string(datasets) + "/fashion-mnist");
  EXPECT_EQ(fetch("FashionMnist").paths.size(), 4U);
  EXPECT_EQ(yaml_flow("[FashionMnist: {split: test, dir: " + folder_.path("data") + "}]").size(), 10000);
}

}  // namespace
}  // namespace tpack
