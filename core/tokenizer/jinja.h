// Templates in a subset of Jinja, as chat templates of tokenizers use it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

/// Renders `source` with the members of the object `variables`, like Jinja 2 with trim_blocks and
/// lstrip_blocks. Understood are outputs, comments, if, for (with a condition, else, break and
/// continue), set (also of a namespace's member, and as a block), macro and generation; literals,
/// conditional expressions, operators except **, indices and slices; and the filters, tests and
/// methods that the tables in jinja_operations.cpp name. A function `raise_exception(text)` throws
/// Error(usage) with that text. Throws Error(unsupported) for all else, naming the line, and for
/// templates that do not end within 2 · 10⁶ steps or 16 MiB.
[[nodiscard]] std::string render_jinja(const std::string& source,
                                       const nlohmann::ordered_json& variables);

}  // namespace attnscope
