// How views and stores name an open subject.
#pragma once

#include <cstdint>

namespace attnscope {

/// Names one subject of a session for as long as the session lives: it stays the same while others
/// come and go, and is never used twice. The number users see is Session::place_of(id) + 1.
enum class SubjectId : std::int64_t { none = 0 };

}  // namespace attnscope
