// An HDF5 identifier that closes itself.
#pragma once

#include <hdf5.h>
#include <utility>

namespace attnscope {

class Hdf5Object {
 public:
  Hdf5Object() = default;
  /// `id` may be negative: what the library returns when it failed.
  explicit Hdf5Object(hid_t id) : id_(id) {}
  ~Hdf5Object() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }

  [[nodiscard]] hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

/// Keeps the library from printing its own errors on stderr; per thread.
inline void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace attnscope
