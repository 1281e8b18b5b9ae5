// HDF5 files from strangers, opened so that nothing outside the file is reached and nothing is
// executed: no external links, no filter plug-ins, no drivers that name other files, no locking.
// Includes the HDF5 library's header: for .cpp files of core only.
#pragma once

#include <filesystem>
#include <functional>
#include <hdf5.h>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/file/mapped_file.h"

namespace attnscope {

/// Owns an identifier of the HDF5 library.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id() = default;
  /// Throws Error(damaged) saying `what` if `id` is negative, as the library's calls return it.
  Hdf5Id(hid_t id, Close close, const char* what);
  ~Hdf5Id() { reset(); }
  Hdf5Id(Hdf5Id&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(std::exchange(other.close_, nullptr)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  [[nodiscard]] hid_t get() const { return id_; }
  /// Before the destructor, to hear whether it succeeded: negative if not.
  [[nodiscard]] herr_t close();

 private:
  void reset();

  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Keeps the library from printing its own error stack on this thread while it lives. Stands before
/// the first call of the library: it also starts it, with its doors closed.
class QuietHdf5 {
 public:
  QuietHdf5();
  ~QuietHdf5();
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t report_ = nullptr;
  void* context_ = nullptr;
};

/// Opens `path` read-only. Throws Error(io), Error(not_this_format) without HDF5's signature,
/// Error(damaged) for a file that is cut off or whose superblock is impossible.
[[nodiscard]] Hdf5Id open_hdf5_file(const std::filesystem::path& path);

/// What addresses in an HDF5 file count from: its bytes from the superblock on.
[[nodiscard]] std::span<const std::byte> hdf5_bytes(const MappedFile& file);

/// The numeric data sets at and below the group `root` ("/" for all), in the order of their names,
/// each named by its path from `root` without a leading slash; soft links inside the file count as
/// names too. `skipped` receives the names of data sets that are not numeric. Refuses external and
/// user-defined links, virtual data sets and external storage with Error(unsupported).
/// Uncompressed little-endian data sets are mapped, others are read when viewed.
[[nodiscard]] std::vector<StoredTensor> hdf5_data_sets(const std::filesystem::path& path,
                                                       const std::shared_ptr<const Hdf5Id>& file,
                                                       const std::string& root,
                                                       std::vector<std::string>& skipped);

/// Attributes of the object `name` as text: strings as they are, numbers printed, arrays as
/// "[1, 2]". Attributes of other kinds, and those above 16 MiB, are left out. Throws Error(damaged)
/// for a text that is not where the file says.
[[nodiscard]] std::map<std::string, std::string> hdf5_attributes(const std::filesystem::path& path,
                                                                 const Hdf5Id& file,
                                                                 const std::string& name);

}  // namespace attnscope
