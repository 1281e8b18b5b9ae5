// Names of open subjects in views and stores.
#pragma once

namespace attnscope {

/// Identifies one subject for the lifetime of a session: it stays the same while others open and
/// close, and is never reused. The number that users see is Session::place_of(id) + 1.
// The underlying type is that of qint64, because Qt's signals carry only enumerations of its own
// integer types.
enum class SubjectId : long long { none = 0 };

}  // namespace attnscope
