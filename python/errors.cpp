#include <string>

#include "core/error.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "python/bindings.h"

namespace attnscope::python {

namespace {

constexpr EnumName<ErrorKind> kind_names[] = {{ErrorKind::usage, "usage"},
                                              {ErrorKind::not_this_format, "not_this_format"},
                                              {ErrorKind::damaged, "damaged"},
                                              {ErrorKind::unsupported, "unsupported"},
                                              {ErrorKind::io, "io"}};

void raise(const Error& error) {
  const py::object made =
      py::module_::import("attnscope.errors")
          .attr("error_of_kind")(text(name_of(kind_names, error.kind())), text(error.what()),
                                 text(error.message()), text(error.file().string()),
                                 text(error.subject()), text(error.expected_text()),
                                 text(error.found_text()), text(error.remedy_text()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

}  // namespace

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    } catch (const Cancelled&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
}

py::str text(std::string_view utf8) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

}  // namespace attnscope::python
