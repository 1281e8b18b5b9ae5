#include "app/session/shown_figure.h"

#include "analysis/figure/figure_command.h"
#include "app/session/session.h"

namespace attnscope {

FigureRequest request_of(const Session& session) {
  FigureRequest request;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.subject.trace) continue;
    request.subjects.push_back(open.subject);
    const std::string source = subject_source(open.subject);
    request.sources.push_back(source.empty() ? open.file.string() : source);
  }
  return request;
}

}  // namespace attnscope
