#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "image/image.h"

namespace tpack {

/// Files of each format that a source without folders of classes looks at.
constexpr int kFirstImages = 10;

/// Looks at the first image files of a source for what a person should know of all of them: to open every
/// file takes too long.
class FirstImages {
 public:
  /// `source`: its name in a config. `with_image`: what it has that belongs to places in an image, such as
  /// "'masks'"; empty: nothing.
  FirstImages(const ImageForm& form, std::string source, std::string with_image)
      : form_(form), source_(std::move(source)), with_image_(std::move(with_image)) {}

  /// Looks at no more than this number of files of each format from now on.
  void start(int most_of_format) {
    most_ = most_of_format;
    seen_.clear();
  }
  /// `shown`: the name of the file for a person. Files that cannot be read say nothing: reading them fails.
  void look_at(const std::string& path, const std::string& shown);
  std::vector<std::string> remarks() const;

 private:
  ImageForm form_;
  std::string source_;
  std::string with_image_;
  int most_ = 0;
  std::map<std::string_view, int> seen_;  // by the format that names stand for
  int decoded_ = 0;
  // The first one of each kind; empty: none.
  std::string deep_;         // of 16 bits, of which the lower 8 are dropped
  std::string transparent_;  // put onto the background
  std::string turned_;       // by Exif data
};

}  // namespace tpack
