#include "core/checkpoint/hdf5/hdf5_library.h"

#include <mutex>

#include "core/error.h"

namespace attnscope {

namespace {

/// Counted by the thread and not by a recursive mutex, whose owner would be another thread in the
/// eyes of a forked child.
std::mutex library_mutex;
thread_local int nested = 0;

/// Once a process, before anything else: the library must load no filter from a shared object,
/// follow no link into another file even where a path passes through one, and close nothing by
/// itself when the process ends. We close all files; what it could not close then (a broken file, a
/// full disk) it would only try again, print about, or fall over.
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
