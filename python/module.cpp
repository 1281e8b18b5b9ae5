// The extension module attnscope._attnscope: what the package attnscope needs of core and analysis.
#include <algorithm>

#include "core/attention/mechanism.h"
#include "core/parameters/parameters.h"
#include "core/training/attention/trained_attention.h"
#include "python/arrays.h"
#include "python/bindings.h"
#include "python/computing.h"

namespace attnscope::python {

namespace {

py::list parameter_descriptions(const std::vector<ParameterDescription>& parameters) {
  py::list list;
  for (const ParameterDescription& parameter : parameters) {
    py::dict described;
    described["name"] = text(parameter.name);
    described["default"] = text(to_string(parameter.default_value));
    described["range"] = text(range_of(parameter));
    described["explanation"] = text(parameter.explanation);
    list.append(described);
  }
  return list;
}

/// The mechanisms that can run, each a dictionary of what its entry says.
py::list mechanism_descriptions() {
  py::list list;
  for (const MechanismEntry& entry : mechanisms()) {
    py::list tensors;
    for (const TensorDescription& tensor : entry.tensors) {
      tensors.append(py::make_tuple(text(tensor.name), text(tensor.explanation)));
    }
    py::dict described;
    described["name"] = text(entry.name);
    described["title"] = text(entry.title);
    described["source"] = text(entry.source);
    described["formula"] = text(entry.formula);
    described["parameters"] = parameter_descriptions(entry.parameters);
    described["tensors"] = tensors;
    described["causal"] = entry.causal;
    described["scaled"] = entry.scaled;
    described["grouped"] = entry.terms;
    described["gradient"] = std::ranges::any_of(
        trained_attentions(), [&](const auto& trained) { return trained.name == entry.name; });
    list.append(described);
  }
  return list;
}

}  // namespace

}  // namespace attnscope::python

PYBIND11_MODULE(_attnscope, module) {
  using namespace attnscope::python;
  module.doc() = "Attention maps, spectra and kernels of Attnscope; use the package attnscope.";
  module.attr("__version__") = ATTNSCOPE_VERSION;
  // OpenBLAS chooses its kernels anew now, not later, while another thread may multiply.
  const OneBlasThread chooses_kernels;
  translate_errors();
  bind_reports(module);
  bind_traces(module);
  bind_models(module);
  bind_kernels(module);
  bind_analyses(module);
  bind_networks(module);
  bind_studies(module);
  bind_figures(module);
  bind_pages(module);
  module.def("mechanisms", &mechanism_descriptions,
             "The mechanisms that can run: name, title, source, formula, parameters and tensors.");
}
