// What one thread leaves to another through Qt's queues, told to ThreadSanitizer (preset tsan),
// which does not see the locks inside of Qt: Debian's library is not compiled for it. Else nothing.
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
/// All that this thread did before happens before what follows after_hand_over in another.
inline void before_hand_over() {}
inline void after_hand_over() {}
#endif

}  // namespace attnscope
