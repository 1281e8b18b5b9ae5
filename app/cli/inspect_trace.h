// The command attnscope inspect for a trace file.
#pragma once

#include <string>

namespace attnscope {

/// Prints the content of the trace and returns the exit status. Throws Error.
int inspect_trace(const std::string& file, bool json);

/// Prints one line of inspect's output, such as "mechanism      adder".
void print_line(const char* what, const std::string& value);

}  // namespace attnscope
