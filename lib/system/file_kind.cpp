#include "system/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tpack {
namespace {

using namespace std::string_view_literals;

using Form = FileKind::Form;

constexpr size_t kLooksAt = 512;

constexpr std::string_view kPull = "fetch the file with `git lfs pull`";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kPage = "the download returned a web page instead of the file";
constexpr std::string_view kExport = "save it as .npz for source Npz, or as text for source CSV";

/// Bytes at the beginning that identify a kind of file.
struct Signature {
  size_t offset;
  std::string_view bytes;
  FileKind kind;
};

constexpr std::array kSignatures = {
    Signature{0, kCheckpointWord, {Form::kCheckpoint, "a checkpoint"}},
    Signature{0, "\x89HDF\r\n\x1A\n"sv, {Form::kOther, "an HDF5 file", "source HDF5 reads it"}},
    Signature{0, "\xFF\xD8\xFF"sv, {Form::kOther, "a JPEG image"}},
    Signature{0, "\x89PNG\r\n\x1A\n"sv, {Form::kOther, "a PNG image"}},
    Signature{8, "WEBP"sv, {Form::kOther, "a WebP image"}},
    Signature{0, "GIF87a"sv, {Form::kOther, "a GIF image"}},
    Signature{0, "GIF89a"sv, {Form::kOther, "a GIF image"}},
    Signature{0, "II*\0"sv, {Form::kOther, "a TIFF image"}},
    Signature{0, "MM\0*"sv, {Form::kOther, "a TIFF image"}},
    Signature{0, "II+\0"sv, {Form::kPicture, "a BigTIFF image"}},
    Signature{0, "MM\0+"sv, {Form::kPicture, "a BigTIFF image"}},
    Signature{4, "ftypheic"sv, {Form::kPicture, "a HEIC image"}},
    Signature{4, "ftypheix"sv, {Form::kPicture, "a HEIC image"}},
    Signature{4, "ftyphevc"sv, {Form::kPicture, "a HEIC image"}},
    Signature{4, "ftypmif1"sv, {Form::kPicture, "a HEIC image"}},
    Signature{4, "ftypmsf1"sv, {Form::kPicture, "a HEIC image"}},
    Signature{4, "ftypavis"sv, {Form::kPicture, "an AVIF image"}},
    Signature{4, "ftypavif"sv, {Form::kPicture, "an AVIF image"}},
    Signature{4, "ftyp"sv, {Form::kOther, "an MP4 video"}},
    Signature{0, "\0\0\0\x0CjP  "sv, {Form::kPicture, "a JPEG 2000 image"}},
    Signature{0, "\xFF\x4F\xFF\x51"sv, {Form::kPicture, "a JPEG 2000 image"}},
    Signature{0, "\0\0\0\x0CJXL "sv, {Form::kPicture, "a JPEG XL image"}},
    Signature{0, "\xFF\x0A"sv, {Form::kPicture, "a JPEG XL image"}},
    Signature{0, "8BPS\0\x01"sv, {Form::kPicture, "a Photoshop image"}},
    Signature{128, "DICM"sv, {Form::kPicture, "a DICOM image"}},
    Signature{0, "%PDF-"sv, {Form::kPicture, "a PDF document"}},
    Signature{0, "version https://git-lfs.github.com/spec/"sv, {Form::kStandIn, "a Git LFS pointer", kPull}},
    Signature{0, "\x93NUMPY"sv, {Form::kOther, "an .npy array", "source Npz reads it"}},
    Signature{0, "\0\0\x08\x01"sv, {Form::kOther, "an IDX file", "source Mnist reads such files"}},
    Signature{0, "\0\0\x08\x03"sv, {Form::kOther, "an IDX file", "source Mnist reads such files"}},
    Signature{0, "PAR1\x15"sv, {Form::kOther, "a Parquet table", kExport}},
    Signature{0, "ARROW1\0\0"sv, {Form::kOther, "an Arrow table", kExport}},
    Signature{0, "SQLite format 3\0"sv, {Form::kOther, "an SQLite database", kExport}},
    Signature{0, "MATLAB 5.0 MAT-file"sv, {Form::kOther, "a MAT file of MATLAB", kExport}},
    Signature{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, {Form::kOther, "an Excel workbook", kExport}},
    Signature{0, "\x1F\x8B"sv, {Form::kOther, "a gzip archive", kUnpack}},
    Signature{0, "BZh91AY&SY"sv, {Form::kOther, "a bzip2 archive", kUnpack}},
    Signature{0, "\xFD\x37zXZ\0"sv, {Form::kOther, "an xz archive", kUnpack}},
    Signature{0, "\x28\xB5\x2F\xFD"sv, {Form::kOther, "a Zstandard archive", kUnpack}},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, {Form::kOther, "a 7-Zip archive", kUnpack}},
    Signature{0, "Rar!\x1A\x07"sv, {Form::kOther, "a RAR archive", kUnpack}},
    Signature{257, "ustar"sv, {Form::kOther, "a tar archive", kUnpack}},
    Signature{0,
              "\x7F"
              "ELF"sv,
              {Form::kOther, "a program"}},
    Signature{0, "\x80\x02"sv, {Form::kOther, "a Python pickle (.pt or .pth of PyTorch before 1.6)"}},
    Signature{0, "\x80\x03"sv, {Form::kOther, "a Python pickle"}},
    Signature{0, "\x80\x04\x95"sv, {Form::kOther, "a Python pickle"}},
    Signature{0, "\x80\x05\x95"sv, {Form::kOther, "a Python pickle"}},
};

/// The kind of a ZIP archive by the name of its first entry.
FileKind kind_of_zip(std::string_view bytes) {
  constexpr size_t kNameAt = 30;
  const size_t length = bytes.size() < kNameAt ? 0 : static_cast<uint8_t>(bytes[26]);
  const std::string_view name = length == 0 ? "" : bytes.substr(kNameAt, length);
  if (name.ends_with(".npy")) return {Form::kZip, "an .npz archive", "source Npz reads it"};
  if (name.ends_with("data.pkl") || name.ends_with("/.format_version") || name.ends_with("/version"))
    return {Form::kOther, "a PyTorch file (.pt, .pth)"};
  if (name == "metadata.json" || name == "config.json" || name == "model.weights.h5")
    return {Form::kOther, "a Keras file (.keras)"};
  if (name == "[Content_Types].xml" || name.starts_with("xl/") || name.starts_with("_rels/"))
    return {Form::kOther, "an Office document (Excel?)", kExport};
  return {Form::kZip, "a ZIP archive", kUnpack};
}

/// Eight bytes with the length of a JSON header, then the header.
bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes.substr(5, 3) == "\0\0\0"sv && bytes.substr(8, 2) == "{\"";
}

/// A header with two numbers that are 0 in every file; the letters alone could also begin a text.
bool is_bmp(std::string_view bytes) {
  return bytes.size() >= 26 && bytes.starts_with("BM") && bytes.substr(6, 4) == "\0\0\0\0"sv;
}

/// The binary formats; the others are text.
bool is_pnm(std::string_view bytes) {
  return bytes.size() > 3 && bytes[0] == 'P' && bytes[1] >= '4' && bytes[1] <= '6' && bytes[2] == '\n' &&
         (bytes[3] == '#' || std::isdigit(static_cast<unsigned char>(bytes[3])) != 0);
}

bool begins_with(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

/// Text in UTF-8 or Latin-1: bytes from 0x80 to 0x9F only follow others that are not ASCII.
bool is_text(std::string_view bytes) {
  unsigned char before = 0;
  return std::all_of(bytes.begin(), bytes.end(), [&before](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 && c != '\n' && c != '\r' && c != '\t';
    const bool follows_none = byte >= 0x80 && byte < 0xA0 && before < 0x80;
    before = byte;
    return !is_control && !follows_none;
  });
}

FileKind kind_of_text(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  if (begins_with(bytes, "<!doctype html") || begins_with(bytes, "<html") || begins_with(bytes, "<head"))
    return {Form::kStandIn, "an HTML page", kPage};
  if (begins_with(bytes, "<svg")) return {Form::kPicture, "an SVG drawing"};
  if (begins_with(bytes, "<?xml")) {
    if (bytes.find("<svg") != std::string_view::npos) return {Form::kPicture, "an SVG drawing"};
    return {Form::kStandIn, "an XML file"};
  }
  if (bytes.starts_with("/annex/objects/"))
    return {Form::kStandIn, "a git-annex pointer", "fetch it with `git annex get`"};
  return {Form::kText, "text"};
}

}  // namespace

std::string FileKind::rejected_as(std::string_view wanted, std::string_view own_remedy) const {
  std::string text = std::string(name) + ", not " + std::string(wanted);
  const std::string_view fix = form == Form::kStandIn || own_remedy.empty() ? remedy : own_remedy;
  return fix.empty() ? text : text + "; " + std::string(fix);
}

FileKind kind_of_content(std::string_view bytes) {
  bytes = bytes.substr(0, kLooksAt);
  if (bytes.empty()) return {Form::kOther, "an empty file"};
  const bool may_be_text = is_text(bytes);  // later words do not matter
  for (const Signature& one : kSignatures) {
    if (one.offset > 0 && (may_be_text || bytes.size() < one.offset)) continue;
    if (bytes.substr(one.offset).starts_with(one.bytes)) return one.kind;
  }
  if (bytes.starts_with("PK\x03\x04")) return kind_of_zip(bytes);
  if (is_safetensors(bytes)) return {Form::kOther, "a safetensors file"};
  if (is_bmp(bytes)) return {Form::kOther, "a BMP image"};
  if (!may_be_text && is_pnm(bytes)) return {Form::kOther, "a PNM image"};
  return may_be_text ? kind_of_text(bytes) : FileKind{};
}

}  // namespace tpack
