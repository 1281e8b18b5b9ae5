// The display that a window needs.
#pragma once

#include <string>

namespace attnscope {

/// Throws Error(io) if there is no display to open a window on, because Qt would end the program.
/// `remedy` tells what to do without one.
void require_display(const std::string& remedy);

}  // namespace attnscope
