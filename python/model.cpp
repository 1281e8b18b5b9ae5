// Models in Python: opened from files, run on inputs.
#include "core/model/model.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "analysis/intervention/patching.h"
#include "analysis/tables/patch_report.h"
#include "analysis/tables/reports.h"
#include "core/attention/mechanism.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hub_cache.h"
#include "core/error.h"
#include "core/model/transformer/generation.h"
#include "core/model/weights/learned_tensors.h"
#include "python/computing.h"
#include "python/report.h"
#include "python/trace.h"

namespace attnscope::python {

namespace {

PythonModel open_model(const std::string& file, const Settings& options,
                       const std::string& description, const py::object& show) {
  return {computed(show, [&](const Progress& progress) {
    return load_model(model_path(file), {options, description}, progress);
  })};
}

DType dtype_of(const std::string& name, const py::array& array) {
  struct Known {
    char kind;
    py::ssize_t bytes;
    DType dtype;
  };
  constexpr Known all[] = {{'f', 8, DType::f64}, {'f', 4, DType::f32}, {'f', 2, DType::f16},
                           {'i', 8, DType::i64}, {'i', 4, DType::i32}, {'i', 2, DType::i16},
                           {'i', 1, DType::i8},  {'u', 8, DType::u64}, {'u', 4, DType::u32},
                           {'u', 2, DType::u16}, {'u', 1, DType::u8},  {'b', 1, DType::boolean}};
  for (const Known& known : all) {
    if (array.dtype().kind() == known.kind && array.itemsize() == known.bytes) return known.dtype;
  }
  throw Error(ErrorKind::unsupported, "the tensor's element type is not supported")
      .about(name)
      .found(py::str(array.dtype()));
}

/// The tensor of a contiguous array, which it keeps.
StoredTensor stored(const std::string& name, py::array array) {
  const auto release = [](const py::array* held) {
    const py::gil_scoped_acquire lock;  // the last view may be released on any thread
    delete held;
  };
  const std::shared_ptr<const py::array> held(new py::array(std::move(array)), release);
  TensorView view;
  view.dtype = dtype_of(name, *held);
  view.shape = shape_of(*held);
  view.strides = TensorView::contiguous_strides(view.shape);
  view.data = static_cast<const std::byte*>(held->data());
  view.storage = held;
  StoredTensor tensor;
  tensor.name = name;
  tensor.dtype = view.dtype;
  tensor.shape = view.shape;
  tensor.bytes = held->nbytes();
  tensor.view = [view] { return view; };
  return tensor;
}

/// A model of arrays in memory, each contiguous and of its own.
PythonModel read_arrays(const std::vector<std::pair<std::string, py::array>>& arrays,
                        const std::string& name, const Settings& options,
                        const std::string& description, const py::object& show) {
  std::vector<StoredTensor> tensors;
  tensors.reserve(arrays.size());
  for (const auto& [tensor, array] : arrays) tensors.push_back(stored(tensor, array));
  return {computed(show, [&](const Progress& progress) {
    const Checkpoint checkpoint(name, "state dict", std::move(tensors), {});
    return read_model(checkpoint, name, {options, description}, progress);
  })};
}

std::string card_of(const PythonModel& of) {
  const Model& model = *of.model;
  const ModelSpec& spec = model.spec();
  std::string card =
      "<Model " + model.name() + ": " + model.architecture() + ", " + std::to_string(spec.layers) +
      " layers of " + std::to_string(spec.layer.attention.heads) + " heads, width " +
      std::to_string(spec.width) + "\n  mechanism  " + attnscope::in_words(spec.mechanism) +
      "\n  status     " + attnscope::in_words(model.status());
  for (const Assumption& assumed : model.assumptions()) {
    card += std::string("\n  ") + (assumed.stated ? "stated     " : "assumed    ") +
            assumed.option + "=" + assumed.value + ": " + assumed.reason;
  }
  return card + ">";
}

py::list assumptions_of(const PythonModel& of) {
  py::list list;
  for (const Assumption& assumed : of.model->assumptions()) {
    py::dict one;
    one["option"] = text(assumed.option);
    one["value"] = text(assumed.value);
    one["reason"] = text(assumed.reason);
    one["stated"] = assumed.stated;
    list.append(one);
  }
  return list;
}

/// An input from a locator, a picture of uint8, or an array of float32 that the model takes as it
/// is.
Input input_of(const py::object& given) {
  if (py::isinstance<py::str>(given)) return open_input(given.cast<std::string>());
  const py::array array = py::array::ensure(given);
  if (!array) throw py::error_already_set();
  Input input;
  input.label = "array " + to_string(shape_of(array));
  if (py::isinstance<py::array_t<std::uint8_t>>(array)) {
    input.content = image_of(array);
  } else {
    input.content = tensor_of(FloatArray(array));
  }
  return input;
}

/// A Python function as TraceRequest::change_map: it changes the array [N, M] in place, or returns
/// another one.
std::function<void(std::int64_t, std::int64_t, MatrixMap)> change_by(const py::object& function) {
  if (function.is_none()) return {};
  return [&function](std::int64_t layer, std::int64_t head, MatrixMap map) {
    const py::gil_scoped_acquire held;
    // The base keeps NumPy from copying the numbers; they live until the function returns.
    py::array_t<float> array({map.rows(), map.cols()}, map.data(), py::none());
    const py::object changed = function(layer, head, array);
    if (changed.is_none() || changed.is(array)) return;
    const FloatArray values = FloatArray::ensure(changed);
    if (!values) throw py::error_already_set();
    if (values.ndim() != 2 || values.shape(0) != map.rows() || values.shape(1) != map.cols()) {
      throw Error(ErrorKind::usage, "the changed map must keep its shape")
          .about("change")
          .expected(to_string(Shape{map.rows(), map.cols()}))
          .found(to_string(shape_of(values)));
    }
    map = ConstMatrixMap(values.data(), map.rows(), map.cols());
  };
}

/// The records that attnscope.Model.run asks for.
struct Recorded {
  bool vectors, hidden, factors, quantities, token_logits;
};

std::shared_ptr<PythonTrace> run_model(const PythonModel& of, const py::object& given,
                                       const std::string& mechanism, const Settings& settings,
                                       const Recorded& recorded,
                                       const std::vector<std::int64_t>& layers,
                                       std::optional<std::int64_t> channel,
                                       const std::string& codes, const py::object& change,
                                       const py::object& show) {
  const Model& model = *of.model;
  auto made = std::make_shared<PythonTrace>();
  made->model = of.model;
  MechanismChoice trained = model.spec().mechanism;
  std::string name = mechanism;
  if (!codes.empty()) {
    const LearnedTensors learned = read_learned_codes(codes, name, "mechanism");
    trained = learned.mechanism;
    name = trained.name;
    made->parameters = learned.layers;
  }
  made->mechanism = choose_mechanism(name, settings, trained);
  made->input = std::make_shared<const Input>(input_of(given));
  TraceRequest request;
  request.queries_keys_values = recorded.vectors;
  request.tokens = recorded.hidden;
  request.factors = recorded.factors;
  request.quantities = recorded.quantities;
  request.token_logits = recorded.token_logits;
  request.layers = layers;
  request.channel = channel;
  request.parameters = made->parameters;
  request.change_map = change_by(change);
  made->trace = computed(show, [&](const Progress& progress) {
    return std::make_shared<const Trace>(
        model.run(*made->input, made->mechanism, request, progress));
  });
  made->label = subject_name(model, made->trace->mechanism, made->parameters != nullptr);
  return made;
}

/// The continuation of a text: a row for each new token, and the text as a heading.
SharedReport generate_text(const PythonModel& of, const py::object& given,
                           const std::string& mechanism, const Settings& settings,
                           const GenerationSettings& generation, const py::object& show) {
  const Model& model = *of.model;
  const MechanismChoice choice = choose_mechanism(mechanism, settings, model.spec().mechanism);
  const Input input = input_of(given);
  const auto text = computed(show, [&](const Progress& progress) {
    return std::make_shared<const GeneratedText>(
        generate(model, input, choice, generation, {}, progress));
  });
  return made_of(generated_tokens_report(*text), text, text->text());
}

/// The arguments of attnscope.Model.patch, with texts as on the command line.
struct PatchCall {
  std::string of, answer, against, to;
  std::vector<std::int64_t> layers, heads, positions;
  std::int64_t place;
  bool through_mlps, together;
};

/// A patched run for each place: a row for each, or one for all together.
SharedReport patch_model(const PythonModel& of, const py::object& own, const py::object& other,
                         const PatchCall& call, const std::string& mechanism,
                         const Settings& settings, const py::object& show) {
  PatchRequest request{.of = value_of(patched_part_names, call.of, "patched part"),
                       .where = {call.layers, call.heads},
                       .positions = call.positions,
                       .answer = call.answer,
                       .against = call.against,
                       .place = call.place,
                       .through_mlps = call.through_mlps};
  if (!call.to.empty()) request.path = path_receivers(call.to, "to");
  Subject subject;
  subject.model = of.model;
  subject.mechanism = choose_mechanism(mechanism, settings, of.model->spec().mechanism);
  subject.label = subject_name(*of.model, subject.mechanism);
  Input input = input_of(own), from = input_of(other);
  double joint = 0;
  const auto table = computed(show, [&](const Progress& progress) {
    auto patching =
        std::make_shared<const Patching>(std::move(subject), std::move(input), std::move(from),
                                         std::move(request), progress.part(0, 0.1));
    if (!call.together) {
      return std::make_shared<const PatchTable>(
          patch_each(std::move(patching), {}, progress.part(0.1, 1)));
    }
    joint = patching->difference(patching->places(), progress.silent());
    return std::make_shared<const PatchTable>(PatchTable{std::move(patching), {}});
  });
  std::string heading = patching_in_words(*table->patching);
  return call.together
             ? made_of(joint_patch_report(*table->patching, joint), table, std::move(heading))
             : made_of(patched_places_report(*table), table, std::move(heading));
}

}  // namespace

void bind_models(py::module_& module) {
  using Owner = const PythonModel&;
  py::class_<PythonModel>(module, "Model",
                          "A model with its weights, ready to run under any mechanism.")
      .def_property_readonly("name", [](Owner of) { return text(of.model->name()); })
      .def_property_readonly("file", [](Owner of) { return text(of.model->file().string()); })
      .def_property_readonly("architecture",
                             [](Owner of) { return text(of.model->architecture()); })
      .def_property_readonly(
          "status", [](Owner of) { return text(attnscope::in_words(of.model->status())); },
          "'known', or the evidence that the model computes the same as its own code.")
      .def_property_readonly("is_doubtful",
                             [](Owner of) { return of.model->status().is_doubtful(); })
      .def_property_readonly("layers", [](Owner of) { return of.model->spec().layers; })
      .def_property_readonly("heads",
                             [](Owner of) { return of.model->spec().layer.attention.heads; })
      .def_property_readonly(
          "width", [](Owner of) { return of.model->spec().width; }, "D, the width of a token.")
      .def_property_readonly(
          "mechanism", [](Owner of) { return text(to_string(of.model->spec().mechanism)); },
          "The mechanism that the weights were trained with.")
      .def_property_readonly("labels", [](Owner of) { return texts(of.model->spec().labels); })
      .def_property_readonly("assumptions", &assumptions_of,
                             "What the file does not say: option, value, reason, stated.")
      .def("__repr__", [](Owner of) { return text(card_of(of)); })
      .def("_run",
           [](Owner of, const py::object& input, const std::string& mechanism,
              const Settings& settings, bool vectors, bool hidden, bool factors, bool quantities,
              bool token_logits, const std::vector<std::int64_t>& layers,
              std::optional<std::int64_t> channel, const std::string& codes,
              const py::object& change, const py::object& show) {
             return run_model(of, input, mechanism, settings,
                              {vectors, hidden, factors, quantities, token_logits}, layers, channel,
                              codes, change, show);
           })
      .def("_generate",
           [](Owner of, const py::object& input, const std::string& mechanism,
              const Settings& settings, std::int64_t tokens, double temperature, std::int64_t top_k,
              double top_p, std::uint64_t seed, std::int64_t alternatives, const py::object& show) {
             return generate_text(of, input, mechanism, settings,
                                  {tokens, {temperature, top_k, top_p, seed}, alternatives}, show);
           })
      .def("_patch",
           [](Owner of, const py::object& input, const py::object& other, const std::string& part,
              const std::string& answer, const std::string& against, const std::string& to,
              const std::vector<std::int64_t>& layers, const std::vector<std::int64_t>& heads,
              const std::vector<std::int64_t>& positions, std::int64_t place, bool through_mlps,
              bool together, const std::string& mechanism, const Settings& settings,
              const py::object& show) {
             return patch_model(of, input, other,
                                {part, answer, against, to, layers, heads, positions, place,
                                 through_mlps, together},
                                mechanism, settings, show);
           });
  module.def("open_model", &open_model);
  module.def("read_arrays", &read_arrays);
}

}  // namespace attnscope::python
