// The image decoders alone. Reads paths from the standard input, one per line, and answers each on the
// standard output: a line "image WIDTH HEIGHT" and the RGB pixels, or "error TEXT" for a DataError, or
// "failure TEXT" for what is no DataError. bench/odd_images.py compares the answers with Pillow.
#include <iostream>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/image_codec.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

void answer(const std::string& path) {
  const MappedFile file(path);
  const ImageSize size = read_image_header(file.bytes());
  cv::Mat pixels;
  decode_image(file.bytes(), {.region = {0, 0, size.width, size.height}}, 3, pixels);
  std::cout << "image " << pixels.cols << ' ' << pixels.rows << '\n';
  for (int y = 0; y < pixels.rows; ++y)
    std::cout.write(reinterpret_cast<const char*>(pixels.ptr(y)), std::streamsize{3} * pixels.cols);
}

void report(const char* kind, std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  std::cout << kind << ' ' << text << '\n';
}

void run() {
  for (std::string path; std::getline(std::cin, path);) {
    try {
      answer(path);
    } catch (const DataError& error) {
      report("error", error.what());
    } catch (const std::exception& error) {
      report("failure", error.what());
    }
    std::cout.flush();
  }
}

}  // namespace
}  // namespace tpack

int main() { tpack::run(); }
