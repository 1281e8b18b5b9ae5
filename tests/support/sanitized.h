// Detects AddressSanitizer and ThreadSanitizer, which reserve addresses and handle signals
// themselves.
#pragma once

namespace attnscope {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__clang__)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace attnscope
