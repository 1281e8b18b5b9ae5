// The table of tokens' relevance to an answer, as the command line prints it and Python returns it.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/relevance/relevance.h"
#include "analysis/report/report.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The given tokens of one target, in that order: token, name, relevance, and in text its share of
/// the sum over all tokens. `trace` and `found` must outlive the report.
[[nodiscard]] Report relevant_tokens_report(const Trace& trace, const TokenRelevance& found,
                                            std::vector<std::size_t> tokens);

}  // namespace attnscope
