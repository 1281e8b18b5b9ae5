#include "python/trace.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace_contents.h"
#include "core/trace/trace_file.h"
#include "python/computing.h"

namespace attnscope::python {

namespace {

using SharedTrace = std::shared_ptr<const Trace>;

/// The records of one kind in each layer of a trace, as a sequence.
struct LayerList {
  SharedTrace trace;
  std::function<py::object(const SharedTrace& trace, std::size_t layer)> get;
};

/// The index counted from the front. Raises IndexError, which ends iterations.
std::size_t layer_at(const Trace& trace, std::int64_t index) {
  const std::int64_t layers = std::ssize(trace.layers);
  if (index < -layers || index >= layers) {
    throw py::index_error("layer " + std::to_string(index) + " of a trace with " +
                          std::to_string(layers));
  }
  return static_cast<std::size_t>(index < 0 ? index + layers : index);
}

/// The maps of a layer without a copy if they are stored whole; those of windows, or of texts so
/// long that their maps are computed, are filled in.
py::object maps_of(const SharedTrace& trace, std::size_t layer) {
  const ImpliedMaps& maps = trace->layers[layer].implied_map;
  if (maps.empty()) (void)maps_seen(*trace, static_cast<std::int64_t>(layer), IdentityView::as_is);
  if (maps.is_held_whole()) return view_of(maps.whole(), trace);
  return array_of(maps.all());
}

template <class Member>
std::function<LayerList(const PythonTrace&)> tensors_of(Member member) {
  return [member](const PythonTrace& of) {
    return LayerList{of.trace, [member](const SharedTrace& trace, std::size_t layer) {
                       return view_of(trace->layers[layer].*member, trace);
                     }};
  };
}

py::dict quantities_of(const SharedTrace& trace, std::size_t layer) {
  py::dict quantities;
  for (const auto& [name, tensor] : trace->layers[layer].quantities) {
    quantities[text(name)] = view_of(tensor, trace);
  }
  return quantities;
}

py::list token_names(const PythonTrace& of) {
  py::list names;
  for (std::int64_t token = 0; token < of.trace->tokens(); ++token) {
    names.append(text(query_layout(*of.trace, 0).name(token)));
  }
  return names;
}

std::string trace_in_words(const PythonTrace& of) {
  const Trace& trace = *of.trace;
  return "<Trace of " + of.label + ": " + run_in_words(trace) + "; " +
         std::to_string(trace.layers.size()) + " layers, " + std::to_string(trace.heads()) +
         " heads, " + std::to_string(trace.tokens()) + " tokens>";
}

/// Maps of one layer with float64 kept beside their float32.
LayerTrace layer_of_maps(const py::array& maps) {
  if (maps.ndim() != 3 || maps.size() == 0) {
    throw Error(ErrorKind::usage, "maps must have heads, queries and keys")
        .expected("[heads, N, M]")
        .found(to_string(shape_of(maps)));
  }
  LayerTrace layer;
  layer.implied_map = tensor_of(FloatArray(maps));
  if (py::isinstance<py::array_t<double>>(maps)) {
    const py::array_t<double, py::array::c_style> exact(maps);
    layer.exact_map =
        std::make_shared<const std::vector<double>>(exact.data(), exact.data() + exact.size());
  }
  return layer;
}

/// The vectors of a layer, [heads, count, d]; an empty tensor for None.
Tensor vectors_of(const py::object& vectors, const char* name, std::int64_t heads,
                  std::int64_t count) {
  if (vectors.is_none()) return {};
  Tensor tensor = tensor_of(FloatArray::ensure(vectors));
  const Shape& shape = tensor.shape();
  if (shape.size() == 3 && shape[0] == heads && shape[1] == count && shape[2] > 0) return tensor;
  throw Error(ErrorKind::usage, "the vectors do not fit the maps")
      .about(name)
      .expected("[" + std::to_string(heads) + ", " + std::to_string(count) + ", d]")
      .found(to_string(shape));
}

/// The settings of attnscope.maps that are not arrays of layers.
struct MapsOf {
  std::string name, input, mechanism;
  std::vector<std::string> tokens;
  std::int64_t prefix = 0, rows = 0, columns = 0;
  bool identity = false, causal = false;
  std::optional<double> scale;
};

std::shared_ptr<PythonTrace> trace_of_maps(const std::vector<py::array>& layers,
                                           const std::vector<py::object>& queries,
                                           const std::vector<py::object>& keys,
                                           const std::vector<py::object>& values,
                                           const py::object& image, MapsOf of) {
  auto trace = std::make_shared<Trace>();
  trace->model_name = of.name;
  trace->input_label = of.input;
  trace->mechanism.name = of.mechanism;
  trace->identity_in_maps = of.identity;
  trace->causal = of.causal;
  trace->layout = {
      .prefix = of.prefix, .rows = of.rows, .columns = of.columns, .texts = std::move(of.tokens)};
  if (!image.is_none()) trace->images = {image_of(py::array::ensure(image))};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerTrace layer = layer_of_maps(layers[i]);
    const std::int64_t heads = layer.implied_map.extent(0), count = layer.implied_map.extent(1),
                       keys_count = layer.implied_map.extent(2);
    const bool has_names = !trace->layout.texts.empty();
    if (has_names && std::ssize(trace->layout.texts) != count) {
      throw Error(ErrorKind::usage, "the number of texts differs from the number of tokens")
          .about("tokens")
          .expected(std::to_string(count))
          .found(std::to_string(trace->layout.texts.size()));
    }
    if (trace->layout.has_grid() && of.prefix + of.rows * of.columns != count) {
      throw Error(ErrorKind::usage, "the token grid does not fit the maps")
          .about("grid")
          .expected(std::to_string(count) + " tokens")
          .found(std::to_string(of.prefix) + " + " + std::to_string(of.rows) + " × " +
                 std::to_string(of.columns));
    }
    layer.queries = vectors_of(queries[i], "q", heads, count);
    layer.keys = vectors_of(keys[i], "k", heads, keys_count);
    layer.values = vectors_of(values[i], "v", heads, keys_count);
    layer.layout = trace->layout;
    if (count == keys_count) layer.key_layout = trace->layout;
    if (of.causal && count == keys_count) layer.seen = up_to_the_query(count);
    layer.score_scale = of.scale;
    trace->layers.push_back(std::move(layer));
  }
  auto made = std::make_shared<PythonTrace>();
  made->label = trace->model_name;
  made->mechanism = trace->mechanism;
  made->trace = std::move(trace);
  return made;
}

std::shared_ptr<PythonTrace> open_trace(const std::string& file, const py::object& show) {
  auto trace = computed(
      show, [&](const Progress&) { return std::make_shared<const Trace>(read_trace(file)); });
  auto made = std::make_shared<PythonTrace>();
  made->label = trace->model_name;
  made->mechanism = trace->mechanism;
  made->trace = std::move(trace);
  return made;
}

/// The element type of an array that shows a trace's memory.
py::dtype numpy_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return py::dtype::of<double>();
    case DType::i64:
      return py::dtype::of<std::int64_t>();
    case DType::u8:
      return py::dtype::of<std::uint8_t>();
    default:
      return py::dtype::of<float>();
  }
}

/// The attributes and arrays of a trace by their names in trace files; whole maps and vectors
/// without a copy.
py::tuple contents_in_python(const PythonTrace& of) {
  const TraceContents contents = contents_of(*of.trace);
  py::dict attributes, arrays;
  for (const auto& [name, value] : contents.attributes) {
    std::visit(
        [&attributes, key = text(name)](const auto& known) {
          if constexpr (std::is_same_v<std::decay_t<decltype(known)>, std::string>) {
            attributes[key] = text(known);
          } else {
            attributes[key] = known;
          }
        },
        value);
  }
  for (const TraceArray& array : contents.arrays) {
    const std::shared_ptr<const void> owner = array.storage ? array.storage : of.trace;
    py::array shown = array_over(array.data, numpy_type(array.dtype), array.shape, owner);
    shown.attr("flags").attr("writeable") = false;
    arrays[text(array.name)] = shown;
  }
  return py::make_tuple(attributes, arrays);
}

}  // namespace

std::string run_in_words(const Trace& trace) {
  const std::string input = trace.input_label.empty() ? "" : ", " + trace.input_label;
  return to_string(trace.mechanism) + input;
}

std::string heading_of(const PythonTrace& of) {
  return of.label + ": " + run_in_words(*of.trace) + training_note(of.trace->mechanism_trained) +
         "\n";
}

void bind_traces(py::module_& module) {
  py::class_<LayerList>(module, "Layers", "What each layer recorded; an array for each layer.")
      .def("__len__", [](const LayerList& list) { return list.trace->layers.size(); })
      .def("__getitem__", [](const LayerList& list, std::int64_t layer) {
        return list.get(list.trace, layer_at(*list.trace, layer));
      });

  using Owner = const PythonTrace&;
  py::class_<PythonTrace, std::shared_ptr<PythonTrace>>(
      module, "Trace",
      "The record of one run: maps, queries, keys and values of each layer, and the answer. Arrays "
      "show its memory without a copy and are read-only; they keep the trace alive.")
      .def_property_readonly("label", [](Owner of) { return text(of.label); })
      .def_property_readonly("model_name", [](Owner of) { return text(of.trace->model_name); })
      .def_property_readonly("input", [](Owner of) { return text(of.trace->input_label); })
      .def_property_readonly("mechanism",
                             [](Owner of) { return text(to_string(of.trace->mechanism)); })
      .def_property_readonly(
          "mechanism_trained", [](Owner of) { return of.trace->mechanism_trained; },
          "False if the weights were trained with another mechanism.")
      .def_property_readonly(
          "identity", [](Owner of) { return of.trace->identity_in_maps; },
          "True if square maps contain I.")
      .def_property_readonly("causal", [](Owner of) { return of.trace->causal; })
      .def_property_readonly("status", [](Owner of) { return text(in_words(status_of(of))); })
      .def_property_readonly("layers", [](Owner of) { return of.trace->layers.size(); })
      .def_property_readonly(
          "heads", [](Owner of) { return of.trace->heads(); },
          "Number of heads, the greatest of the layers.")
      .def_property_readonly("tokens", &token_names, "Names of the first layer's tokens.")
      .def_property_readonly("labels", [](Owner of) { return texts(of.trace->labels); })
      .def_property_readonly(
          "maps",
          [](Owner of) {
            return LayerList{of.trace, maps_of};
          },
          "maps[layer] is float32 [heads, N, M], rows are queries; without a copy if the layer "
          "holds its maps whole.")
      .def_property_readonly("q", tensors_of(&LayerTrace::queries),
                             "q[layer] is float32 [heads, N, d], or None if not recorded.")
      .def_property_readonly("k", tensors_of(&LayerTrace::keys),
                             "k[layer] is float32 [heads, M, d], or None if not recorded.")
      .def_property_readonly("v", tensors_of(&LayerTrace::values),
                             "v[layer] is float32 [heads, M, d], or None if not recorded.")
      .def_property_readonly(
          "hidden", tensors_of(&LayerTrace::tokens),
          "hidden[layer] is float32 [N, D], the tokens after the layer, or None if not recorded.")
      .def_property_readonly(
          "quantities",
          [](Owner of) {
            return LayerList{of.trace, quantities_of};
          },
          "quantities[layer] has the mechanism's own quantities by name.")
      .def_property_readonly(
          "embedded", [](Owner of) { return view_of(of.trace->embedded, of.trace); },
          "float32 [N, D], the input of the first layer, or None.")
      .def_property_readonly(
          "features", [](Owner of) { return view_of(of.trace->features, of.trace); },
          "float32 [D], the input of the head, or None.")
      .def_property_readonly(
          "logits", [](Owner of) { return view_of(of.trace->logits, of.trace); },
          "float32 [classes], or None without a head.")
      .def_property_readonly(
          "token_logits", [](Owner of) { return view_of(of.trace->token_logits, of.trace); },
          "float32 [N, vocabulary], or None if not recorded.")
      .def_property_readonly(
          "image",
          [](Owner of) {
            const Image* const image = of.trace->image();
            return image ? py::object(array_of(*image)) : py::none();
          },
          "uint8 [height, width, channels], or None; the first of several pictures in a text.")
      .def_property_readonly(
          "images",
          [](Owner of) {
            py::list images;
            for (const Image& image : of.trace->images) images.append(array_of(image));
            return images;
          },
          "The pictures of the input, each uint8 [height, width, channels].")
      .def_property_readonly("provenance",
                             [](Owner of) {
                               py::dict provenance;
                               for (const auto& [name, value] : of.trace->provenance) {
                                 provenance[text(name)] = text(value);
                               }
                               return provenance;
                             })
      .def(
          "layer_name",
          [](Owner of, std::int64_t layer) {
            const std::size_t index = layer_at(*of.trace, layer);
            return text(layer_name(*of.trace, static_cast<std::int64_t>(index)));
          },
          "Name of a layer: 'layer 3', or 'cross 0' in an encoder-decoder.")
      .def(
          "save",
          [](Owner of, const py::object& file) {
            const std::string path = py::str(py::module_::import("os").attr("fspath")(file));
            compute_apart(py::none(), [&](const Progress&) { write_trace(path, *of.trace); });
          },
          py::arg("file"),
          "Writes an HDF5 file that open_trace, the command line and the window read.")
      .def("__len__", [](Owner of) { return of.trace->layers.size(); })
      .def("__repr__", [](Owner of) { return text(trace_in_words(of)); });

  module.def("open_trace", &open_trace);
  module.def("is_trace_file", [](const std::string& file) { return is_trace_file(file); });
  module.def("trace_contents", &contents_in_python);
  module.def("trace_of_maps",
             [](const std::vector<py::array>& layers, const std::vector<py::object>& queries,
                const std::vector<py::object>& keys, const std::vector<py::object>& values,
                const py::object& image, const std::vector<std::string>& tokens,
                std::int64_t prefix, std::int64_t rows, std::int64_t columns, bool identity,
                bool causal, std::optional<double> scale, const std::string& name,
                const std::string& input, const std::string& mechanism) {
               return trace_of_maps(layers, queries, keys, values, image,
                                    {name, input, mechanism, tokens, prefix, rows, columns,
                                     identity, causal, scale});
             });
}

}  // namespace attnscope::python
