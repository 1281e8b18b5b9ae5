#include "core/checkpoint/hdf5/hdf5_library.h"

#include <mutex>

#include "core/error.h"

namespace attnscope {

namespace {

/// Nesting depth per thread. A recursive mutex would not work in a forked child, which has another
/// thread id than the owner.
std::mutex library_mutex;
thread_local int nested = 0;

/// Initialises the library once per process. It must not load filters from shared objects, follow
/// links into other files, or close anything at exit. All files are closed explicitly; for a file
/// that could not be closed (broken file, full disk), an exit handler would only print messages or
/// crash.
void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    H5dont_atexit();
    H5open();
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
  });
}

}  // namespace

Hdf5Id::Hdf5Id(hid_t id, Close close, const char* what) : id_(id), close_(close) {
  if (id < 0) throw Error(ErrorKind::damaged, what);
}

herr_t Hdf5Id::close() {
  if (id_ < 0) return 0;
  const QuietHdf5 quiet;
  return close_(std::exchange(id_, -1));
}

void Hdf5Id::reset() { (void)close(); }

QuietHdf5::QuietHdf5() {
  if (nested++ == 0) library_mutex.lock();
  start_library();
  H5Eget_auto2(H5E_DEFAULT, &report_, &context_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() {
  H5Eset_auto2(H5E_DEFAULT, report_, context_);
  if (--nested == 0) library_mutex.unlock();
}

}  // namespace attnscope
