// Figures in Python: as data, and as the files that need no drawing.
#include <map>
#include <pybind11/stl.h>

#include "analysis/figure/figure_bytes.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/text_export.h"
#include "python/computing.h"
#include "python/trace.h"

namespace attnscope::python {

namespace {

/// A trace as it is, or a model without a run.
Subject subject_of(const py::object& thing) {
  if (py::isinstance<PythonTrace>(thing)) return thing.cast<PythonTrace>();
  Subject subject;
  subject.model = thing.cast<PythonModel>().model;
  subject.mechanism = subject.model->spec().mechanism;
  subject.label = subject_name(*subject.model, subject.mechanism);
  return subject;
}

/// `labels` has a label for each subject, "" for its own.
std::shared_ptr<Figure> make(const std::string& name, const std::vector<py::object>& things,
                             const std::vector<std::string>& labels,
                             const std::map<std::string, std::string>& settings, double width_mm,
                             std::int64_t first_layer, const py::object& show) {
  FigureRequest request;
  for (std::size_t index = 0; index < things.size(); ++index) {
    Subject& subject = request.subjects.emplace_back(subject_of(things[index]));
    if (!labels.at(index).empty()) subject.label = labels[index];
  }
  request.settings = parse_settings(name, settings);
  request.width_mm = width_mm;
  request.first_layer = first_layer;
  return computed(show, [&](const Progress& progress) {
    return std::make_shared<Figure>(make_figure(name, request, progress));
  });
}

/// The runs that the figure needs, and what they record.
py::dict needs(const std::string& name, const std::map<std::string, std::string>& settings) {
  const FigureNeeds of = needs_of(find_figure(name), parse_settings(name, settings));
  py::dict needs;
  needs["runs"] = wants_runs(of);
  needs["vectors"] = of.vectors;
  needs["hidden"] = of.tokens;
  return needs;
}

py::dict tex_of(const Figure& figure, const std::string& name) {
  const TexFigure tex = figure_as_tex(figure, name);
  py::dict files;
  files[text(name + ".tex")] = py::bytes(tex.source);
  for (const TexFigure::File& image : tex.images) files[text(image.name)] = py::bytes(image.bytes);
  return files;
}

py::list recipe_descriptions() {
  py::list list;
  for (const FigureRecipe& recipe : figure_recipes()) {
    py::list settings;
    for (const ParameterDescription& setting : recipe.settings) {
      settings.append(py::make_tuple(text(setting.name), text(to_string(setting.default_value)),
                                     text(range_of(setting)), text(setting.explanation)));
    }
    list.append(
        py::make_tuple(text(recipe.name), text(recipe.title), text(recipe.source), settings));
  }
  return list;
}

}  // namespace

void bind_figures(py::module_& module) {
  py::class_<Figure, std::shared_ptr<Figure>>(
      module, "Figure", "A figure as data: panels, marks and numbers. See Figure.save.")
      .def_property_readonly("name", [](const Figure& figure) { return text(figure.name); })
      .def_property_readonly("title", [](const Figure& figure) { return text(figure.title); })
      .def_property_readonly("caption", [](const Figure& figure) { return text(figure.caption); })
      .def_property_readonly(
          "command", [](const Figure& figure) { return text(figure.command); },
          "The command line that draws it as PDF, SVG or PNG.")
      .def_readonly("width_mm", &Figure::width_mm)
      .def_readonly("height_mm", &Figure::height_mm)
      .def_property_readonly(
          "numbers",
          [](const Figure& figure) {
            py::dict numbers;
            for (const auto& [name, values] : figure.numbers)
              numbers[text(name)] = array_of(values);
            return numbers;
          },
          "Numbers behind the figure, by name.")
      .def(
          "_bytes",
          [](const Figure& figure, const std::string& command) {
            Figure drawn = figure;
            drawn.command = command;
            return py::bytes(figure_as_bytes(std::move(drawn)));
          },
          "The figure with this command line, for the program to draw.")
      .def("to_csv", [](const Figure& figure) { return text(figure_as_csv(figure)); })
      .def("to_json", [](const Figure& figure) { return text(figure_as_json(figure)); })
      .def("_files",
           [](const Figure& figure, const std::string& format, const std::string& name) {
             if (format == "tex") return tex_of(figure, name);
             py::dict files;
             files[text(name + "." + format)] =
                 py::bytes(format == "csv"    ? figure_as_csv(figure)
                           : format == "json" ? figure_as_json(figure)
                           : format == "h5"   ? figure_as_hdf5(figure)
                                              : figure_as_npz(figure));
             return files;
           })
      .def("__repr__", [](const Figure& figure) {
        return text("<Figure " + figure.name + ": " + figure.title + "\n  " + figure.caption + ">");
      });
  module.def("make_figure", &make);
  module.def("figure_needs", &needs);
  module.def("figures", &recipe_descriptions);
}

}  // namespace attnscope::python
