// What a text is in the window, as the style sheet has it: its weight and colour.
#pragma once

class QWidget;

namespace attnscope {

/// Shows `widget` as "muted", "error", "warning" or "heading", as window.qss has them, and plainly
/// as any other; also after it was shown as another.
void set_role(QWidget* widget, const char* role);

}  // namespace attnscope
