// The HDF5 library as the program uses it: one thread at a time, with its doors closed: no filter
// plug-ins, no external links, nothing printed, nothing done when the process ends.
// Includes the HDF5 library's header: for .cpp files of core only.
#pragma once

#include <hdf5.h>
#include <utility>

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

/// While it lives, this thread alone may call the library (others wait), and the library prints no
/// error stack of its own. Stands before every call; may be nested. Lives in one scope of one
/// thread. The first one starts the library.
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
