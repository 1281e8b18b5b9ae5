// Passes calls and data between threads through Qt's queues, whose locks ThreadSanitizer (preset
// tsan) cannot see because Debian's Qt is not instrumented, and tells it what they order.
#pragma once

#include <QMetaObject>
#include <utility>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
// Declared by no header of GCC.
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace attnscope {

#ifdef __SANITIZE_THREAD__
inline char hand_over_place = 0;
inline void before_hand_over() { __tsan_release(&hand_over_place); }
inline void after_hand_over() { __tsan_acquire(&hand_over_place); }
#else
/// Everything that this thread did before happens before the code after after_hand_over in another
/// thread.
inline void before_hand_over() {}
inline void after_hand_over() {}
#endif

/// Calls `function` on the thread of `receiver` once its event loop runs, unless the receiver is
/// deleted before. Everything that this thread did before happens before the call.
template <class Receiver, class Function>
void queue_call(Receiver* receiver, Function function) {
  auto call = [function = std::move(function)]() mutable {
    after_hand_over();
    function();
  };
  before_hand_over();
#ifdef __SANITIZE_THREAD__
  // Qt's object that holds the call is written here and read by the other thread.
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  QMetaObject::invokeMethod(receiver, std::move(call), Qt::QueuedConnection);
#ifdef __SANITIZE_THREAD__
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#endif
}

}  // namespace attnscope
