#include "sources/dataset/image_tar.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/map_in_order.h"
#include "core/text_encoding.h"
#include "dataflow/flow_settings.h"
#include "image/image.h"

namespace tpack {
namespace {

constexpr std::string_view kTarEnding = ".tar";

}  // namespace

ImageTar::ImageTar(const std::string& path) : path_(path), file_(std::make_shared<InputFile>(path)) {}

std::vector<TarMember> ImageTar::members() const { return members(0, file_->size(), path_); }

std::vector<TarMember> ImageTar::members_of(const TarMember& inner) const {
  return members(inner.data, inner.size, path_ + ": " + printable(inner.name));
}

std::vector<TarMember> ImageTar::members(uint64_t begin, uint64_t size, const std::string& where) const {
  const auto read = [&](uint64_t offset, void* to, size_t wanted) -> size_t {
    if (offset >= size) return 0;
    return read_at(*file_, path_, begin + offset, to, std::min<uint64_t>(wanted, size - offset));
  };
  std::vector<TarMember> all;
  TarWalk walk(read, where);
  while (auto member = walk.next()) {
    member->name.erase(0, member->name.rfind('/') + 1);
    if (is_hidden(member->name)) continue;
    member->data += begin;
    all.push_back(std::move(*member));
  }
  std::ranges::sort(all, {}, &TarMember::name);
  const auto twice = std::ranges::adjacent_find(all, {}, &TarMember::name);
  if (twice != all.end()) throw DataError(where, "has two files '" + printable(twice->name) + "'");
  return all;
}

std::vector<TarMember> ImageTar::class_tars() const {
  std::vector<TarMember> all = members();
  const auto is_tar = [](const TarMember& member) { return member.name.ends_with(kTarEnding); };
  const auto other = std::ranges::find_if_not(all, is_tar);
  if (other != all.end() || all.empty())
    throw DataError(path_, (all.empty() ? "has no files" : "has the file '" + printable(other->name) + "'") +
                               std::string("; must have an archive of images for each class, such as "
                                           "n01440764.tar"));
  return all;
}

std::string class_of_tar(const TarMember& tar) {
  return valid_utf8(tar.name.substr(0, tar.name.size() - kTarEnding.size()));
}

FileListing list_class_tars(const std::string& path) {
  const ImageTar archive(path);
  const std::vector<TarMember> tars = archive.class_tars();
  FileListing listing{.folder = path, .classes = {}, .files = {}, .archive = archive.file()};
  size_t next = 0;
  // Reads wait for the disk more than for a processor.
  MapInOrder<size_t, std::vector<TarMember>>(
      [&] { return next < tars.size() ? std::optional(next++) : std::nullopt; },
      [&](size_t i) { return archive.members_of(tars[i]); },
      [&](const std::vector<TarMember>& images) {
        const auto label = static_cast<int32_t>(listing.classes.size());
        listing.classes.push_back(class_of_tar(tars[listing.classes.size()]));
        for (const TarMember& image : images)
          if (is_image_file(image.name))
            listing.files.push_back(
                {listing.classes.back() + "/" + image.name, label, image.data, image.size});
      })
      .run("tpack-tar", std::min(tars.size(), WorkerCount{}.resolved()));
  if (listing.files.empty()) throw DataError(path, "has no images in its archives of classes");
  return listing;
}

}  // namespace tpack
