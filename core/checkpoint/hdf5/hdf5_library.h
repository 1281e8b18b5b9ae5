// Restricted use of the HDF5 library: one thread at a time, no filter plug-ins, no external links,
// no messages, no exit handlers. Includes the HDF5 library's header; only for .cpp files of core.
#pragma once

#include <hdf5.h>
#include <utility>

namespace attnscope {

/// Type, address and times of an object, as H5Oget_info_by_name2 writes them. HDF5 1.12 gave the
/// name H5O_info_t to another layout.
#if H5_VERSION_GE(1, 12, 0)
using Hdf5ObjectInfo = H5O_info1_t;
#else
using Hdf5ObjectInfo = H5O_info_t;
#endif

/// Owns an identifier of the HDF5 library.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Id() = default;
  /// Takes the result of a library call. Throws Error(damaged) with the message `what` if `id` is
  /// negative.
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
  /// Closes the identifier before the destructor does. Returns a negative number on failure.
  [[nodiscard]] herr_t close();

 private:
  void reset();

  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Scope in which only this thread may call the library (others wait), and the library prints no
/// error stack. Required around every call; may be nested. The first one initialises the library.
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

}  // namespace attnscope
