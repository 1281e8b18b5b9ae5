// attnscope inspect of a trace file.
#pragma once

#include <string>

namespace attnscope {

/// Prints what the trace holds; returns the exit status. Throws Error.
int inspect_trace(const std::string& file, bool json);

/// "mechanism      adder": a line of what inspect says.
void print_line(const char* what, const std::string& value);

}  // namespace attnscope
