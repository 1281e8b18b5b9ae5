#include "analysis/hash_codes/report.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/hash_codes/learned_codes.h"
#include "core/error.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

/// The subject's run with the tensors that the report needs of one layer.
std::shared_ptr<const Trace> recorded_run(const Subject& subject, std::int64_t layer,
                                          const Progress& progress) {
  if (!subject.model || !subject.input) {
    if (subject.trace) return subject.trace;
    throw Error(ErrorKind::usage, "hash codes are computed from a run")
        .about(subject.label)
        .expected("a model with an input, or a trace")
        .found(subject.model ? "a model without an input" : "neither");
  }
  TraceRequest request = request_for_imitation(layer);
  request.quantities = true;
  request.parameters = subject.parameters;
  return std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, request, progress));
}

std::int64_t whole_parameter(const MechanismChoice& mechanism, const char* name,
                             std::int64_t absent) {
  const TypedValues values(mechanism.parameters);
  return mechanism.name == "hash" && values.has(name) ? values.whole(name) : absent;
}

/// True if the run's codes come from learned buffers, of the file or learned here.
bool has_learned_codes(const Subject& subject, const Trace& trace, const LayerTrace& layer) {
  const MechanismChoice& mechanism = mechanism_of(trace, layer);
  const TypedValues values(mechanism.parameters);
  if (mechanism.name != "hash" || !values.has("codes") ||
      !(values.is("codes", name_of(HashKind::learned)) || values.is("codes", "auto"))) {
    return false;
  }
  if (!layer.quantities.contains("codes")) return false;
  return trace.mechanism_trained || subject.parameters != nullptr;
}

HashCodes codes_from(const Tensor& signs, std::int64_t head) {
  HashCodes codes;
  codes.signs = signs.slice(head);
  for (Eigen::Index i = 0; i < codes.signs.rows(); ++i) {
    std::uint64_t word = 0;
    for (Eigen::Index r = 0; r < codes.signs.cols(); ++r) {
      if (codes.signs(i, r) > 0) word |= std::uint64_t{1} << r;
      codes.has_zeros |= codes.signs(i, r) == 0;
    }
    codes.words.push_back(word);
  }
  return codes;
}

}  // namespace

HashCodesReport hash_codes_report(const Subject& subject, const HashCodesRequest& request,
                                  const Progress& progress) {
  const std::shared_ptr<const Trace> trace =
      recorded_run(subject, request.layer, progress.part(0, 0.3));
  HashCodesReport report;
  report.layer = request.layer;
  report.head = request.head;
  report.attention = imitated_attention(*trace, request.layer, request.head);
  const LayerTrace& layer = trace->layers[static_cast<std::size_t>(request.layer)];
  report.layout = layer.layout;
  const std::int64_t keys = report.attention.cols();
  const MechanismChoice& mechanism = mechanism_of(*trace, layer);
  const std::int64_t own_bits = whole_parameter(mechanism, "bits", 16);
  const std::int64_t own_supports = whole_parameter(mechanism, "supports", 25);
  report.bits = request.bits.value_or(own_bits);
  report.supports = request.supports.value_or(std::min(own_supports, keys));
  report.pairs =
      request.pairs.value_or(std::max<std::int64_t>(1, std::min<std::int64_t>(10, keys / 2)));

  std::vector<HashExample> examples = {
      hash_example(*trace, request.layer, request.head, report.pairs)};
  const SimilarPairs& pairs = examples.front().pairs;
  report.shared = examples.front().shared;
  const Matrix query_tokens = layer.queries.slice(request.head),
               key_tokens = layer.keys.slice(request.head);
  const HashLearningOptions options{
      .bits = report.bits, .supports = report.supports, .pairs = report.pairs};
  check(options);
  report.error_of_chance = error_of_chance(pairs, report.bits, report.shared);

  for (std::size_t i = 0; i < request.kinds.size(); ++i) {
    const double share = 0.7 / static_cast<double>(request.kinds.size());
    const double first = 0.3 + share * static_cast<double>(i);
    const Progress part = progress.part(first, first + share);
    part.step(0, "hash codes");
    CodesOfKind codes;
    codes.kind = request.kinds[i];
    codes.own = codes.kind == HashKind::learned && report.bits == own_bits &&
                report.supports == own_supports && has_learned_codes(subject, *trace, layer);
    if (codes.own) {
      codes.queries = codes_from(layer.quantities.at("codes"), request.head);
      codes.keys = codes_from(layer.quantities.at("key_codes"), request.head);
    } else {
      // Random codes equal those of the mechanism: they depend only on the head.
      const HashFunction function =
          codes.kind == HashKind::learned
              ? learn_hash(examples, request.head, options, part).function
              : hash_function(nullptr, request.head + 1, request.head, strided(key_tokens),
                              {.kind = codes.kind,
                               .bits = report.bits,
                               .supports = report.supports,
                               .causal = trace->causal});
      codes.queries = function.codes_of(strided(query_tokens), false);
      codes.keys = function.codes_of(strided(key_tokens), false);
    }
    codes.statistics = code_statistics(codes.queries);
    codes.distances = pair_distances(codes.queries, codes.keys, pairs);
    codes.error = reconstruction_error(codes.queries, codes.keys, pairs);
    report.kinds.push_back(std::move(codes));
  }
  progress.step(1, "hash codes");
  return report;
}

}  // namespace attnscope
