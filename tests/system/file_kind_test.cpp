#include "system/file_kind.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

using namespace std::string_literals;
using Form = FileKind::Form;

/// A local file header of a ZIP archive (APPNOTE.TXT 4.3.7) with the name of its first entry.
std::string zip_of(const std::string& name) {
  std::string header = "PK\x03\x04"s + std::string(22, '\0');
  header += static_cast<char>(name.size());
  return header + std::string(3, '\0') + name + "content";
}

TEST(KindOfContent, knows_formats_by_their_first_bytes) {
  const std::pair<std::string, const char*> files[] = {
      {"RIFF\x24\0\0\0WEBPVP8 "s, "a WebP image"},
      {"GIF89a\x01\0"s, "a GIF image"},
      {"BM\x9A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x04\0\0\0\x04\0\0\0"s, "a BMP image"},
      {"II*\0\x08\0\0\0"s, "a TIFF image"},
      {"\0\0\0\x18"s + "ftypheic"s, "a HEIC image"},
      {"\0\0\0\x1C"s + "ftypavif"s, "an AVIF image"},
      {"\xFF\xD8\xFF\xE0\0"s, "a JPEG image"},
      {"P5\n4 4\n255\n\0\x01"s, "a PNM image"},
      {"II+\0\x08\0\0\0"s, "a BigTIFF image"},
      {"%PDF-1.4\n", "a PDF document"},
      {"\x89PNG\r\n\x1A\n\0"s, "a PNG image"},
      {"<!DOCTYPE html>\n<html>", "an HTML page"},
      {"\n  <HTML><body>", "an HTML page"},
      {"<?xml version=\"1.0\"?>\n<Error>AccessDenied</Error>", "an XML file"},
      {"<?xml version=\"1.0\"?><svg>", "an SVG drawing"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", "a Git LFS pointer"},
      {"\x89HDF\r\n\x1A\n\0\0"s, "an HDF5 file"},
      {"tpack checkpoint 1\n", "a checkpoint"},
      {"\x93NUMPY\x01\0"s, "an .npy array"},
      {zip_of("x_train.npy"), "an .npz archive"},
      {zip_of("model/data.pkl"), "a PyTorch file (.pt, .pth)"},
      {zip_of("metadata.json"), "a Keras file (.keras)"},
      {zip_of("[Content_Types].xml"), "an Office document (Excel?)"},
      {zip_of("cats/1.jpg"), "a ZIP archive"},
      {"\x80\x02}q\0."s, "a Python pickle (.pt or .pth of PyTorch before 1.6)"},
      {"\x46\0\0\0\0\0\0\0{\"__metadata__\":{}}"s, "a safetensors file"},
      {"\x1F\x8B\x08\0"s, "a gzip archive"},
      {"", "an empty file"},
      {"a,b\n1,2\n", "text"},
      {"caf\xE9,1\n", "text"},
      {"\xE2\x80\x9Cquoted\xE2\x80\x9D\n", "text"},
      {"\x89PN", ""},
  };
  for (const auto& [bytes, name] : files) EXPECT_EQ(kind_of_content(bytes).name, name);
}

TEST(KindOfContent, takes_text_for_text_whatever_its_words) {
  for (const std::string text :
       {"abc,ftype,PAR1\n1,2,3\n", "PAR1,PAR2\n", "BM,MM\n", "RIFF....WEBP\n", "RAR!,x\n"})
    EXPECT_EQ(kind_of_content(text).form, Form::kText) << text;
  std::string long_text(300, 'x');
  long_text.replace(257, 5, "ustar");
  EXPECT_EQ(kind_of_content(long_text).form, Form::kText);
}

TEST(KindOfContent, does_not_guess) {
  EXPECT_FALSE(kind_of_content("\x01\x02\x03"s).is_known());
  EXPECT_FALSE(kind_of_content("\x01"s).is_no_text());
}

TEST(FileKind, is_rejected_with_the_nearest_remedy) {
  EXPECT_EQ(kind_of_content("\x1F\x8B\x08\0"s).rejected_as("a config"),
            "a gzip archive, not a config; unpack it first");
  EXPECT_EQ(kind_of_content("GIF89a\x01\0"s).rejected_as("a config", "write YAML"),
            "a GIF image, not a config; write YAML");
  EXPECT_EQ(
      kind_of_content("version https://git-lfs.github.com/spec/v1\n").rejected_as("a config", "write YAML"),
      "a Git LFS pointer, not a config; fetch the file with `git lfs pull`")
      << "a pointer stands in for a file that may be right";
  EXPECT_EQ(kind_of_content("%PDF-1.4").rejected_as("a config"), "a PDF document, not a config");
}

}  // namespace
}  // namespace tpack
