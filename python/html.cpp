// A page of HTML in Python: the text of analysis/html.
#include <pybind11/stl.h>

#include "analysis/html/trace_page.h"
#include "python/computing.h"
#include "python/trace.h"

namespace attnscope::python {

namespace {

struct PageCall {
  std::vector<std::shared_ptr<PythonTrace>> subjects;
  TracePageOptions options;
};

std::string page_of(const PageCall& call, const py::object& show) {
  FigureRequest request;
  for (const auto& subject : call.subjects) request.subjects.push_back(*subject);
  return computed(
      show, [&](const Progress& progress) { return trace_page(request, call.options, progress); });
}

}  // namespace

void bind_pages(py::module_& module) {
  module.def("trace_page", [](const std::vector<std::shared_ptr<PythonTrace>>& subjects,
                              const std::string& identity, const std::vector<std::int64_t>& layers,
                              const std::vector<std::int64_t>& heads,
                              const NamedThreshold& threshold, const std::string& title,
                              const py::object& show) {
    PageCall call{subjects, {}};
    call.options.shown = {layers, heads, threshold_named(threshold)};
    call.options.identity = value_of(identity_view_names, identity, "view of the identity mapping");
    call.options.title = title;
    return text(page_of(call, show));
  });
}

}  // namespace attnscope::python
