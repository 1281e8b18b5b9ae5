// Roles of texts in the style sheet, which give their weight and colour.
#pragma once

class QWidget;

namespace attnscope {

/// Styles `widget` as "muted", "error", "warning" or "heading" (see window.qss), or plainly for any
/// other role; an earlier role is replaced.
void set_role(QWidget* widget, const char* role);

}  // namespace attnscope
