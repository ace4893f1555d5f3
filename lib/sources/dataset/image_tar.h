#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/dataset/labeled_files.h"
#include "sources/format/tar.h"
#include "system/input_file.h"

namespace tpack {

/// The files in an uncompressed tar archive, which stays open: they are read where they lie in it. Finding
/// them reads two small pieces for each. Threads: any number at once.
class ImageTar {
 public:
  /// Errors: DataError.
  explicit ImageTar(const std::string& path);

  const std::shared_ptr<const InputFile>& file() const { return file_; }
  /// By the last parts of their names, sorted, without hidden files. Errors: DataError, also for two files of
  /// one name.
  std::vector<TarMember> members() const;
  /// The files of an archive in the archive. Their positions are those in the outer one.
  std::vector<TarMember> members_of(const TarMember& inner) const;
  /// The archives of classes in the archive: the class of n01440764.tar is n01440764. Errors: DataError for
  /// other files, or if there are none.
  std::vector<TarMember> class_tars() const;

 private:
  std::vector<TarMember> members(uint64_t begin, uint64_t size, const std::string& where) const;

  std::string path_;
  std::shared_ptr<const InputFile> file_;
};

/// The name of a class from that of its archive.
std::string class_of_tar(const TarMember& tar);
/// As list_class_folders, of an archive that has an archive of images for each class. Errors: DataError.
FileListing list_class_tars(const std::string& path);

}  // namespace tpack
