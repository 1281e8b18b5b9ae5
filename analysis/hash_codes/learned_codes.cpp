#include "analysis/hash_codes/learned_codes.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// [H][inputs]: examples of each head.
using LayerExamples = std::vector<std::vector<HashExample>>;

LayerExamples examples_of(const Model& model, const MechanismChoice& mechanism,
                          const std::vector<std::shared_ptr<const Input>>& inputs,
                          std::int64_t layer, const HashLearningOptions& options,
                          std::shared_ptr<const std::vector<NamedTensors>> below,
                          const Progress& progress) {
  TraceRequest request = request_for_imitation(layer);
  request.parameters = std::move(below);
  LayerExamples examples;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double share = 1.0 / static_cast<double>(inputs.size());
    const auto done = static_cast<double>(i) * share;
    const Trace trace =
        model.run(*inputs[i], mechanism, request, progress.part(done, done + share));
    const Tensor& queries = trace.layers[static_cast<std::size_t>(layer)].queries;
    const auto heads = static_cast<std::size_t>(queries.empty() ? 0 : queries.extent(0));
    examples.resize(heads);
    for (std::size_t head = 0; head < heads; ++head) {
      examples[head].push_back(
          hash_example(trace, layer, static_cast<std::int64_t>(head), options.pairs));
    }
  }
  return examples;
}

NamedTensors tensors_of(const std::vector<LearnedHash>& heads, const HashLearningOptions& options) {
  const auto count = static_cast<std::int64_t>(heads.size());
  const std::int64_t width = heads.front().function.anchors.cols();
  Tensor weights({count, options.bits, options.supports}), means({count, options.supports}),
      anchors({count, options.supports, width});
  for (std::int64_t head = 0; head < count; ++head) {
    const HashFunction& function = heads[static_cast<std::size_t>(head)].function;
    weights.slice(head) = function.weights.cast<float>();
    means.matrix().row(head) = function.means.transpose().cast<float>();
    anchors.slice(head) = function.anchors.cast<float>();
  }
  NamedTensors tensors;
  tensors.emplace("ksh.A", std::move(weights));
  tensors.emplace("ksh.mvec", std::move(means));
  tensors.emplace("ksh.anchor", std::move(anchors));
  return tensors;
}

/// True if `mechanism` is a learned hash with the same numbers of bits and supports.
bool runs_with_them(const MechanismChoice& mechanism, const HashLearningOptions& options) {
  if (mechanism.name != "hash") return false;
  const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
  const TypedValues read(parameters);
  return read.is("codes", "learned") && read.whole("bits") == options.bits &&
         read.whole("supports") == options.supports;
}

std::map<std::string, std::string> codes_provenance(
    const Model& model, const MechanismChoice& mechanism,
    const std::vector<std::shared_ptr<const Input>>& inputs, const HashLearningOptions& options) {
  std::string locators;
  for (const auto& input : inputs) locators += (locators.empty() ? "" : ", ") + input->locator;
  return {{"model", model.file().filename().string()},
          {"learned_from", to_string(mechanism)},
          {"inputs", locators},
          {"pairs", std::to_string(options.pairs)},
          {"steps", std::to_string(options.steps)},
          {"rate", exact(options.rate)},
          {"momentum", exact(options.momentum)},
          {"seed", std::to_string(options.seed)}};
}

bool is_hashed(const Trace& trace, const LayerTrace& layer) {
  return mechanism_of(trace, layer).name == "hash";
}

void require_tokens(const Trace& trace, std::int64_t layer, std::int64_t head) {
  const LayerTrace& recorded = recorded_layer(trace, layer);
  if (recorded.queries.empty() || recorded.keys.empty()) {
    throw Error(ErrorKind::usage, "the trace did not record queries and keys")
        .about(trace.model_name)
        .remedy("record them: attnscope trace --record qkv, or give the model's weight file");
  }
  if (head < 0 || head >= recorded.queries.extent(0)) {
    throw Error(ErrorKind::usage, "the layer has no such head")
        .expected("0 to " + std::to_string(recorded.queries.extent(0) - 1))
        .found(std::to_string(head));
  }
  const bool fits = recorded.queries.extent(2) == recorded.keys.extent(2) &&
                    recorded.queries.extent(0) == recorded.keys.extent(0);
  if (!fits) {
    throw Error(ErrorKind::usage, "queries and keys that differ in heads or width cannot be hashed")
        .about(to_string(trace.mechanism));
  }
}

ConstStridedMatrixMap strided(const ConstMatrixMap& rows) {
  return {rows.data(), rows.rows(), rows.cols(), Eigen::OuterStride<>(rows.cols())};
}

}  // namespace

LearnedCodes learn_hash_codes(const Model& model, const MechanismChoice& mechanism,
                              const std::vector<std::shared_ptr<const Input>>& inputs,
                              const HashLearningOptions& options, const Progress& progress) {
  check(options);
  if (inputs.empty()) throw Error(ErrorKind::usage, "learning hash codes needs at least one input");
  const std::int64_t layers = model.spec().layers;
  auto tensors = std::make_shared<std::vector<NamedTensors>>(static_cast<std::size_t>(layers));
  const bool hashed = runs_with_them(mechanism, options);
  LearnedCodes codes;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const Progress own =
        progress.part(static_cast<double>(layer) / static_cast<double>(layers),
                      static_cast<double>(layer + 1) / static_cast<double>(layers));
    const LayerExamples examples = examples_of(model, mechanism, inputs, layer, options,
                                               hashed ? tensors : nullptr, own.part(0, 0.2));
    const std::size_t heads = examples.size();
    if (codes.error_before.cols() < static_cast<Eigen::Index>(heads)) {
      const Eigen::Index known = codes.error_before.cols();
      for (MatrixD* errors : {&codes.error_before, &codes.error_after, &codes.error_of_chance}) {
        errors->conservativeResize(layers, static_cast<Eigen::Index>(heads));
        errors->rightCols(errors->cols() - known)
            .setConstant(std::numeric_limits<double>::quiet_NaN());
      }
    }
    std::vector<LearnedHash> learned(heads);
    const std::string what = "learning hash codes of layer " + std::to_string(layer);
    std::atomic<std::int64_t> bits_done{0};
    const auto bits = static_cast<double>(options.bits) * static_cast<double>(heads);
    const Progress descent = own.part(0.2, 1);
    tbb::parallel_for(std::size_t{0}, heads, [&](std::size_t head) {
      const Progress of_head(
          [&](double, std::string_view) {
            descent.step(static_cast<double>(bits_done++) / bits, what);
          },
          {});
      learned[head] = learn_hash(examples[head], static_cast<std::int64_t>(head), options, of_head);
    });
    (*tensors)[static_cast<std::size_t>(layer)] = tensors_of(learned, options);
    for (std::size_t head = 0; head < heads; ++head) {
      codes.error_before(layer, static_cast<Eigen::Index>(head)) = learned[head].error_before;
      codes.error_after(layer, static_cast<Eigen::Index>(head)) = learned[head].error_after;
      codes.error_of_chance(layer, static_cast<Eigen::Index>(head)) = learned[head].error_of_chance;
    }
  }
  codes.tensors.mechanism = make_mechanism({"hash",
                                            {{"codes", std::string("learned")},
                                             {"bits", options.bits},
                                             {"supports", options.supports}}})
                                ->choice();
  codes.tensors.layers = std::move(tensors);
  codes.tensors.provenance = codes_provenance(model, mechanism, inputs, options);
  progress.step(1, "learning hash codes");
  return codes;
}

TraceRequest request_for_imitation(std::int64_t layer) {
  TraceRequest request;
  request.queries_keys_values = true;
  request.large_maps = TraceRequest::LargeMaps::computed;
  request.layers = {layer};
  return request;
}

Matrix imitated_attention(const Trace& trace, std::int64_t layer, std::int64_t head) {
  require_tokens(trace, layer, head);
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  if (!is_hashed(trace, recorded)) {
    const ImpliedMaps maps = maps_seen(trace, layer, IdentityView::without);
    if (maps.rank() != 3 || maps.extent(0) != recorded.queries.extent(0)) {
      throw Error(ErrorKind::usage, "the attention does not have one map per head")
          .about(to_string(trace.mechanism));
    }
    return maps.head(head);
  }
  const ConstMatrixMap queries = recorded.queries.slice(head), keys = recorded.keys.slice(head);
  const MatrixD scores = queries.cast<double>() * keys.cast<double>().transpose() /
                         std::sqrt(static_cast<double>(queries.cols()));
  Matrix attention(scores.rows(), scores.cols());
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    const Eigen::Index seen = trace.causal ? i + 1 : scores.cols();
    const Eigen::RowVectorXd logits = scores.row(i).head(seen);
    const Eigen::RowVectorXd weights = (logits.array() - logits.maxCoeff()).exp();
    attention.row(i).setZero();
    attention.row(i).head(seen) = (weights / weights.sum()).cast<float>();
  }
  return attention;
}

HashExample hash_example(const Trace& trace, std::int64_t layer, std::int64_t head,
                         std::int64_t pairs) {
  const Matrix attention = imitated_attention(trace, layer, head);
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  const ConstMatrixMap queries = recorded.queries.slice(head), keys = recorded.keys.slice(head);
  return {.queries = unit_rows(strided(queries)),
          .keys = unit_rows(strided(keys)),
          .shared = queries.rows() == keys.rows() && queries == keys,
          .causal = trace.causal,
          .pairs = similar_pairs({attention.data(), attention.rows(), attention.cols()}, pairs)};
}

}  // namespace attnscope
