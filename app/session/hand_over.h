// Tells ThreadSanitizer (preset tsan) about data passed between threads through Qt's queues, whose
// locks it cannot see because Debian's Qt is not instrumented. Empty functions otherwise.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
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

}  // namespace attnscope
