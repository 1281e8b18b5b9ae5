// Names of the identity views in options, settings and sessions.
#pragma once

#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

inline constexpr EnumName<IdentityView> identity_view_names[] = {{IdentityView::as_is, "as-is"},
                                                                 {IdentityView::without, "without"},
                                                                 {IdentityView::with, "with"}};

}  // namespace attnscope
