#include "analysis/figure/caption.h"

#include "core/trace/trace_channel.h"

namespace attnscope {

std::string subjects_in_words(const FigureRequest& request) {
  std::string words;
  for (const Subject& subject : request.subjects) {
    const Trace& trace = *subject.trace;
    std::string mechanism = to_string(trace.mechanism);  // "adder (identity=true)"
    if (const std::size_t opening = mechanism.find(" ("); opening != std::string::npos) {
      mechanism = mechanism.substr(0, opening) + ", " +
                  mechanism.substr(opening + 2, mechanism.size() - opening - 3);
    }
    words += (words.empty() ? "" : "; ") + subject.label + " (" + mechanism;
    if (!trace.mechanism_trained)
      words += ", not trained: laid over weights trained with another mechanism";
    if (const std::string channel = channel_in_words(trace); !channel.empty()) {
      words += ", " + channel;
    }
    words += ")";
    if (!trace.input_label.empty()) words += " on " + trace.input_label;
  }
  return words;
}

std::string chosen(const std::string& what, const std::string& indices) {
  if (indices == "all") return "all " + what + "s";
  const bool several = indices.find_first_of(",-") != std::string::npos;
  return what + (several ? "s " : " ") + indices;
}

std::string made_with() { return "Made with attnscope " ATTNSCOPE_VERSION "."; }

}  // namespace attnscope
