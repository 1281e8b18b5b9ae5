// Classes and tokens as people name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// The class or token of the trace's logits that `text` names: an index from 0, or a label exactly
/// as the trace has it ("Bag"). Indices are not checked against the number of classes. Throws
/// Error(usage) about `option` for a label that is unknown or that several classes have.
[[nodiscard]] std::int64_t target_named(const Trace& trace, const std::string& text,
                                        const std::string& option);

/// The same of several, separated by commas; "3-5" is a range of indices. A label may have commas
/// itself where it is the only one.
[[nodiscard]] std::vector<std::int64_t> targets_named(const Trace& trace, const std::string& text,
                                                      const std::string& option);

}  // namespace attnscope
