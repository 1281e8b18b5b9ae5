// Mechanisms on plain arrays.
#include <map>
#include <optional>
#include <pybind11/stl.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/training/attention/trained_attention.h"
#include "python/arrays.h"
#include "python/computing.h"

namespace attnscope::python {

namespace {

/// The settings of one call besides the arrays.
struct KernelCall {
  std::int64_t heads = 1, key_heads = 0, layer = 0, prefix = 0, rows = 0, columns = 0;
  bool causal = false, with_output = true, with_map = true;
  std::optional<double> scale;
  std::optional<std::int64_t> channel;
};

void check(bool fits, const char* rule, const char* subject, const std::string& expected,
           const std::string& found) {
  if (fits) return;
  throw Error(ErrorKind::usage, rule).about(subject).expected(expected).found(found);
}

/// Kernels trust the shapes that a model gives them; here they come from anywhere.
void check_call(const MechanismEntry& entry, const Tensor& q, const Tensor& k, const Tensor& v,
                const KernelCall& call) {
  const std::int64_t key_heads = call.key_heads ? call.key_heads : call.heads;
  for (const auto& [tensor, name] : {std::pair(&q, "q"), std::pair(&k, "k"), std::pair(&v, "v")}) {
    check(tensor->rank() == 2 && !tensor->empty(), "the array must have heads, tokens and channels",
          name, "[heads, tokens, channels], at least one of each", to_string(tensor->shape()));
  }
  check(call.heads >= 1 && key_heads >= 1 && call.heads % key_heads == 0,
        "the heads of keys must divide the heads of queries", "k", std::to_string(call.heads),
        std::to_string(key_heads));
  check(key_heads == call.heads || entry.terms,
        "the mechanism needs as many heads of keys as of queries", "k", std::to_string(call.heads),
        std::to_string(key_heads));
  const std::int64_t width = q.extent(1) / call.heads;
  check(k.extent(1) == width * key_heads, "the channels of keys and queries must agree", "k",
        std::to_string(width), std::to_string(k.extent(1) / key_heads));
  check(v.extent(0) == k.extent(0), "there must be a value for each key", "v",
        std::to_string(k.extent(0)), std::to_string(v.extent(0)));
  check(!call.causal || entry.causal, "the mechanism has no causal form", "causal", "False",
        "True");
  check(!call.causal || q.extent(0) == k.extent(0), "a causal mask needs as many keys as queries",
        "causal", std::to_string(q.extent(0)) + " keys", std::to_string(k.extent(0)));
  check(!call.scale || entry.scaled, "the mechanism has no factor of its scores", "scale", "None",
        call.scale ? std::to_string(*call.scale) : "");
  const bool has_grid = call.rows > 0 && call.columns > 0;
  check(!has_grid || call.prefix + call.rows * call.columns == q.extent(0),
        "the token grid does not fit the queries", "grid", std::to_string(q.extent(0)) + " tokens",
        std::to_string(call.prefix) + " + " + std::to_string(call.rows) + " × " +
            std::to_string(call.columns));
}

py::tuple attend(const std::string& name, const std::map<std::string, std::string>& settings,
                 const FloatArray& queries, const FloatArray& keys, const FloatArray& values,
                 const std::map<std::string, FloatArray>& tensors, const KernelCall& call) {
  const MechanismEntry& entry = find_mechanism(name);
  const Tensor q = tensor_of(queries), k = tensor_of(keys), v = tensor_of(values);
  check_call(entry, q, k, v, call);
  const bool has_grid = call.rows > 0 && call.columns > 0;
  const auto mechanism =
      make_mechanism(choice_over_tokens(choose_mechanism(name, settings, {name, {}}), has_grid));
  NamedTensors parameters;
  for (const auto& [tensor, array] : tensors) parameters.emplace(tensor, tensor_of(array));
  const TokenLayout layout{.prefix = call.prefix, .rows = call.rows, .columns = call.columns};
  const AttentionInput input{.queries = q.matrix(),
                             .keys = k.matrix(),
                             .values = v.matrix(),
                             .heads = call.heads,
                             .parameters = parameters.empty() ? nullptr : &parameters,
                             .layout = has_grid || call.prefix > 0 ? &layout : nullptr,
                             .causal = call.causal,
                             .layer = call.layer,
                             .channel = call.channel,
                             .scale = call.scale,
                             .key_heads = call.key_heads == call.heads ? 0 : call.key_heads};
  Attended attended;
  {
    const py::gil_scoped_release released;
    const OneBlasThread one_blas_thread;
    if (call.with_output && call.with_map) {
      attended = mechanism->forward_with_map(input);
    } else if (call.with_output) {
      attended.output = mechanism->forward(input);
    } else {
      attended.implied_map = mechanism->implied_map(input);
    }
  }
  const auto result = [](Tensor tensor) {
    return tensor.empty() ? py::object(py::none()) : array_of(std::move(tensor));
  };
  return py::make_tuple(result(std::move(attended.output)),
                        result(std::move(attended.implied_map)));
}

// --- gradients ---------------------------------------------------------------------------------

/// The tensors that a mechanism learns, with their gradients, in the order of own_parameters.
struct OwnTensors {
  std::vector<std::string> names;
  std::vector<Tensor> values, gradients;
  std::vector<const float*> value_data;
  std::vector<float*> gradient_data;

  OwnTensors(const TrainedAttention& attention, const std::map<std::string, FloatArray>& given) {
    const std::vector<OwnParameter> parameters = attention.own_parameters();
    for (const OwnParameter& own : parameters) {
      const auto found = given.find(own.name);
      check(found != given.end(), "the mechanism learns a tensor that is missing", "tensors",
            own.name + " " + to_string(own.shape), "none");
      values.push_back(tensor_of(found->second));
      check(values.back().size() == Tensor(own.shape).size(), "the tensor's shape must fit",
            own.name.c_str(), to_string(own.shape), to_string(values.back().shape()));
      names.push_back(own.name);
      gradients.emplace_back(own.shape);
    }
    for (const Tensor& value : values) value_data.push_back(value.data());
    for (Tensor& gradient : gradients) gradient_data.push_back(gradient.data());
  }
};

StridedMatrixMap all_rows(Tensor& tensor) {
  return {tensor.data(), tensor.extent(0), tensor.extent(1),
          Eigen::OuterStride<>(tensor.extent(1))};
}
ConstStridedMatrixMap seen_rows(const Tensor& tensor) {
  return {tensor.data(), tensor.extent(0), tensor.extent(1),
          Eigen::OuterStride<>(tensor.extent(1))};
}

py::tuple attend_gradient(const std::string& name,
                          const std::map<std::string, std::string>& settings,
                          const std::string& score_gradient, const FloatArray& queries,
                          const FloatArray& keys, const FloatArray& values,
                          const FloatArray& d_outputs,
                          const std::map<std::string, FloatArray>& tensors,
                          const KernelCall& call) {
  const MechanismEntry& entry = find_mechanism(name);
  const Tensor q = tensor_of(queries), k = tensor_of(keys), v = tensor_of(values),
               d_output = tensor_of(d_outputs);
  check_call(entry, q, k, v, call);
  const Shape expected = {q.extent(0), v.extent(1)};
  check(d_output.shape() == expected, "there must be a gradient of each output", "d_output",
        to_string(expected), to_string(d_output.shape()));
  TrainedAttentionForm form;
  form.mechanism = choose_mechanism(name, settings, {name, {}});
  form.causal = call.causal;
  form.score_gradient = value_of(difference_gradient_names, score_gradient, "score gradient");
  form.shape = {q.extent(0), k.extent(0), call.heads, q.extent(1) / call.heads,
                v.extent(1) / call.heads};
  form.layer = call.layer;
  if (call.rows > 0)
    form.layout = {.prefix = call.prefix, .rows = call.rows, .columns = call.columns};
  const auto attention = make_trained_attention(form);
  OwnTensors own(*attention, tensors);
  Tensor d_q(q.shape()), d_k(k.shape()), d_v(v.shape());
  {
    const py::gil_scoped_release released;
    const OneBlasThread one_blas_thread;
    AttentionRoom room;
    const AttentionTensors all{.queries = seen_rows(q),
                               .keys = seen_rows(k),
                               .values = seen_rows(v),
                               .heads = call.heads,
                               .own = own.value_data};
    attention->backward(all, seen_rows(d_output),
                        {all_rows(d_q), all_rows(d_k), all_rows(d_v), own.gradient_data}, room);
  }
  py::dict learned;
  for (std::size_t i = 0; i < own.names.size(); ++i) {
    learned[text(own.names[i])] = array_of(std::move(own.gradients[i]));
  }
  return py::make_tuple(array_of(std::move(d_q)), array_of(std::move(d_k)),
                        array_of(std::move(d_v)), learned);
}

}  // namespace

void bind_kernels(py::module_& module) {
  module.def(
      "attend_gradient",
      [](const std::string& name, const std::map<std::string, std::string>& settings,
         const std::string& score_gradient, const FloatArray& queries, const FloatArray& keys,
         const FloatArray& values, const FloatArray& d_outputs,
         const std::map<std::string, FloatArray>& tensors, std::int64_t heads, bool causal,
         std::int64_t layer, std::int64_t prefix, std::int64_t rows, std::int64_t columns) {
        KernelCall call;
        call.heads = heads;
        call.layer = layer;
        call.prefix = prefix;
        call.rows = rows;
        call.columns = columns;
        call.causal = causal;
        return attend_gradient(name, settings, score_gradient, queries, keys, values, d_outputs,
                               tensors, call);
      },
      "Gradients of q, k and v and, by name, of learned tensors, given that of the output.");
  module.def(
      "attend",
      [](const std::string& name, const std::map<std::string, std::string>& settings,
         const FloatArray& queries, const FloatArray& keys, const FloatArray& values,
         const std::map<std::string, FloatArray>& tensors, std::int64_t heads,
         std::int64_t key_heads, bool causal, std::optional<double> scale, std::int64_t layer,
         std::int64_t prefix, std::int64_t rows, std::int64_t columns,
         std::optional<std::int64_t> channel, bool with_output, bool with_map) {
        return attend(name, settings, queries, keys, values, tensors,
                      {heads, key_heads, layer, prefix, rows, columns, causal, with_output,
                       with_map, scale, channel});
      },
      "Output [N, H·dv] and map [H, N, M] of a mechanism on q [N, H·d], k [M, Hk·d] and "
      "v [M, Hk·dv].");
}

}  // namespace attnscope::python
