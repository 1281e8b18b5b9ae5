// How views and stores name an open subject.
#pragma once

namespace attnscope {

/// Names one subject of a session for as long as the session lives: it stays the same while others
/// come and go, and is never used twice. The number users see is Session::place_of(id) + 1.
// long long as qint64: Qt has signals carry enumerations of its own integers alone.
enum class SubjectId : long long { none = 0 };

}  // namespace attnscope
