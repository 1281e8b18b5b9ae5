// The parts of the extension module; each adds its classes and functions. Reports come first, since
// signatures in docstrings name the classes that exist already.
#pragma once

#include <pybind11/pybind11.h>
#include <string_view>

namespace attnscope::python {

namespace py = pybind11;

void bind_reports(py::module_& module);   ///< Report: a table that a command prints
void bind_traces(py::module_& module);    ///< Trace, open_trace, maps
void bind_models(py::module_& module);    ///< Model, open
void bind_kernels(py::module_& module);   ///< attend: every mechanism on plain arrays
void bind_analyses(py::module_& module);  ///< spectrum, heads, compare and others
void bind_networks(py::module_& module);  ///< mixing, lens, energy: analyses of a whole network
void bind_studies(py::module_& module);   ///< truncate, ablate, sweep, train: many runs each
void bind_figures(py::module_& module);   ///< Figure, figure
void bind_pages(py::module_& module);     ///< trace_page

// Functions take their arguments by position from the package's own modules, which check them,
// convert them, and have the docstrings.

/// Translates Error into attnscope.Error or one of its subclasses (attnscope/errors.py), with the
/// words of the command line, and Cancelled into KeyboardInterrupt.
void translate_errors();

/// A str of UTF-8 in which bytes that are not valid, as in names of files, are replaced.
[[nodiscard]] py::str text(std::string_view utf8);

}  // namespace attnscope::python
