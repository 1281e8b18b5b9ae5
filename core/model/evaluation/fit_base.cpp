#include "core/model/evaluation/fit_base.h"

#include <algorithm>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/spec_members.h"
#include "core/error.h"
#include "core/model/evaluation/reference.h"
#include "core/model/model.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

/// True if all weights outside of `sees` are 0 in all maps.
bool hides(const std::vector<Tensor>& maps, const auto& sees) {
  for (const Tensor& map : maps) {
    for (std::int64_t head = 0; head < map.extent(0); ++head) {
      const ConstMatrixMap weights = map.slice(head);
      for (Eigen::Index i = 0; i < weights.rows(); ++i) {
        for (Eigen::Index j = 0; j < weights.cols(); ++j) {
          if (weights(i, j) != 0 && !sees(i, j)) return false;
        }
      }
    }
  }
  return true;
}

/// The value of `member` to open a model with that requires it; empty if there is no default.
std::string first_value(const std::string& member) {
  static const std::map<std::string, std::string> values = {
      {"heads", "1"},
      {"norm_position", "pre"},
      {"norm", "layer"},
      {"activation", "gelu"},
      {"scale", "head_width^-1/2"},
      {"layer.scores.causal", "true"},
      {"positions", "none"},
      {"layer.rotary.form", "none"},
      {"positions.sinusoid_order", "alternating"},
      {"embedding_scale", "1"},
      {"layer.residual", "sequential"},
      {kQkvRowsOption, "parts_first"}};
  const auto found = values.find(member);
  return found == values.end() ? std::string() : found->second;
}

std::vector<std::string> listed_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(", ", at), list.size());
    names.push_back(list.substr(at, comma - at));
    at = comma + 2;
  }
  return names;
}

}  // namespace

const Tensor& ReferenceArrays::maps(std::size_t input, std::int64_t layer) const {
  return all_maps.at(input).at(static_cast<std::size_t>(layer));
}

const Tensor* ReferenceArrays::tokens(std::size_t input, std::int64_t layer) const {
  const auto at = static_cast<std::size_t>(layer);
  return has_tokens() && at < all_tokens[input].size() ? &all_tokens[input][at] : nullptr;
}

std::vector<Tensor> ReferenceArrays::first_maps() const {
  std::vector<Tensor> first;
  for (const std::vector<Tensor>& layers : all_maps) first.push_back(layers.front());
  return first;
}

std::map<std::string, std::string> ReferenceArrays::options() const {
  const std::vector<Tensor> maps = first_maps();
  std::map<std::string, std::string> options = {{"heads", std::to_string(maps.front().extent(0))}};
  std::int64_t tokens = 0;
  for (const Tensor& map : maps) tokens = std::max(tokens, map.extent(1));
  if (!std::holds_alternative<Text>(inputs.front().content)) return options;
  const bool causal = hides(maps, [](auto i, auto j) { return j <= i; });
  options["layer.scores.causal"] = causal ? "true" : "false";
  for (std::int64_t window = 1; window < tokens; ++window) {
    const char* form = nullptr;
    if (causal && hides(maps, [&](auto i, auto j) { return j <= i && i - j < window; }))
      form = "before";
    if (!form && !causal &&
        hides(maps, [&](auto i, auto j) { return std::abs(i - j) <= window / 2; }))
      form = "around";
    if (!form && hides(maps, [&](auto i, auto j) {
          return i / window == j / window && (!causal || j <= i);
        }))
      form = "chunk";
    if (!form) continue;
    options["layer.scores.window"] = std::to_string(window);
    options["layer.scores.window_form"] = form;
    break;
  }
  return options;
}

ReferenceArrays read_reference(const std::filesystem::path& file) {
  const Reference reference(file);
  const std::int64_t layers = reference.layers();
  ReferenceArrays arrays;
  for (std::int64_t i = 0; i < reference.inputs(); ++i) {
    arrays.inputs.push_back(reference.input(i));
    std::vector<Tensor> maps, tokens;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      maps.push_back(reference.maps(i, layer, layers));
      if (reference.has("tokens")) tokens.push_back(reference.of("tokens", i, layer, layers));
    }
    arrays.all_maps.push_back(std::move(maps));
    if (!tokens.empty()) arrays.all_tokens.push_back(std::move(tokens));
    if (reference.has("logits")) arrays.logits.push_back(reference.of("logits", i));
  }
  const std::vector<Tensor>& first = arrays.all_maps.front();
  const auto is_map = [](const Tensor& map) { return map.rank() == 3; };
  if (!first.empty() && std::ranges::all_of(first, is_map)) return arrays;
  throw Error(ErrorKind::usage, "the reference holds no attention maps, which --fit begins with")
      .in_file(file)
      .about("maps")
      .expected("[B, L, H, N, N]: docs/self-test.md");
}

FitBase open_for_fit(const std::filesystem::path& file, const ModelOptions& said,
                     const std::map<std::string, std::string>& seen) {
  FitBase base;
  base.file = file;
  base.checkpoint = std::make_shared<const Checkpoint>(open_model_file(file, said));
  ModelOptions options = said;
  options.overrides.insert(seen.begin(), seen.end());
  for (const auto& [option, value] : seen) base.given[option] = options.overrides.at(option);
  while (true) {
    try {
      base.architecture = recognise_architecture(*base.checkpoint, options);
      break;
    } catch (const Error& error) {
      bool more = false;
      for (const std::string& member : listed_names(error.subject())) {
        const std::string value = first_value(member);
        if (value.empty() || !options.overrides.emplace(member, value).second) continue;
        base.asked.insert(member);
        more = true;
      }
      if (!more) throw;
    }
  }
  for (const auto& [role, source] : base.architecture.sources) {
    constexpr std::string_view weight = ".weight";
    const bool norm = role.starts_with("layer.0.norm") && role.ends_with(weight);
    if (norm &&
        !base.architecture.sources.contains(role.substr(0, role.size() - weight.size()) + ".bias"))
      base.biased_norms = false;
    const bool queries = role == "layer.0.qkv.weight" || role == "layer.0.query.weight";
    if (queries && stored_parts(*base.checkpoint, source) > 0) base.heads_apart = true;
  }
  if (base.architecture.spec.reads_texts()) {
    base.vocabulary = make_vocabulary(base.architecture.spec, base.checkpoint->path().parent_path(),
                                      base.checkpoint->key_values());
  }
  return base;
}

std::vector<Trace> FitBase::run(const std::map<std::string, std::string>& changes,
                                const std::vector<Input>& inputs, std::int64_t layers, bool vectors,
                                const Progress& progress) const {
  Architecture changed = architecture;
  for (const auto& [option, value] : changes) {
    if (option == kQkvRowsOption) {
      changed.qkv_rows = *enum_named<QkvRows>(value);
    } else {
      apply_override(changed.spec, option, value);
    }
  }
  ModelSpec& spec = changed.spec;
  validate(spec);
  const bool whole = spec.tail.kind != Tail::none || spec.is_pyramid() || spec.stored_layers > 0 ||
                     !spec.layer_mechanisms.empty() || !spec.multiplicative_layers.empty();
  if (!whole && layers < spec.layers) {
    spec.layers = layers;
    spec.readout.kind = Readout::none;
    spec.readout.final_norm = false;
  }
  TransformerWeights weights = read_transformer_weights(*checkpoint, changed, progress.silent());
  const Transformer model(file, "", std::move(changed), std::move(weights), vocabulary);
  TraceRequest request;
  request.tokens = true;
  request.queries_keys_values = vectors;
  std::vector<Trace> traces;
  for (const Input& input : inputs) {
    traces.push_back(model.run(input, model.spec().mechanism, request, progress.silent()));
  }
  return traces;
}

}  // namespace attnscope
