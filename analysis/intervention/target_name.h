// Parsing of class and token names in options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Class or token of the trace's logits that `text` names: an index from 0, or a label exactly as
/// in the trace ("Bag"). Indices are not checked against the number of classes. Throws Error(usage)
/// about `option` for a label that is unknown or not unique.
[[nodiscard]] std::int64_t target_named(const Trace& trace, const std::string& text,
                                        const std::string& option);

/// Classes or tokens separated by commas; "3-5" is a range of indices. A label that contains commas
/// is only recognised if it is the whole text. Throws like target_named.
[[nodiscard]] std::vector<std::int64_t> targets_named(const Trace& trace, const std::string& text,
                                                      const std::string& option);

/// Class or token of `trace`, a run of `model`, that `text` names: an index from 0, the exact text
/// of a token of a language model (" Mary"), or a label as in target_named. Throws Error(usage)
/// about `option` for an unknown label, an index beyond the logits, and a text of several tokens.
[[nodiscard]] std::int64_t answer_index(const Model& model, const Trace& trace,
                                        const std::string& text, const std::string& option);

}  // namespace attnscope
