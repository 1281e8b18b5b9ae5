// What flags, settings and sessions call the views of a map's identity.
#pragma once

#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

inline constexpr EnumName<IdentityView> identity_view_names[] = {{IdentityView::as_is, "as-is"},
                                                                 {IdentityView::without, "without"},
                                                                 {IdentityView::with, "with"}};

}  // namespace attnscope
