#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "image/image.h"

namespace tpack {

/// Number of files per format that a source without class folders inspects.
constexpr int kFirstImages = 10;

/// Inspects the first image files of a source for remarks to the user: opening every file takes too long.
class FirstImages {
 public:
  /// `source`: its name in a config. `with_image`: its annotations of images, such as "'masks'"; empty: none.
  FirstImages(const ImageForm& form, std::string source, std::string with_image)
      : form_(form), source_(std::move(source)), with_image_(std::move(with_image)) {}

  /// Limits the number of files of each format from now on.
  void start(int most_of_format) {
    most_ = most_of_format;
    seen_.clear();
  }
  /// `shown`: the name of the file for users. Unreadable files are skipped: reading them fails later.
  void look_at(const std::string& path, const std::string& shown);
  std::vector<std::string> remarks() const;

 private:
  ImageForm form_;
  std::string source_;
  std::string with_image_;
  int most_ = 0;
  std::map<std::string_view, int> seen_;  // by the format of the file name
  int decoded_ = 0;
  // The first one of each kind; empty: none.
  std::string deep_;         // 16 bits, where the lower 8 are dropped
  std::string transparent_;  // transparent pixels get the background
  std::string turned_;       // by Exif data
};

}  // namespace tpack
