#include "core/attention/costs/list.h"

#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using Values = const ParameterValues&;
using Shape = const AttentionShape&;

std::int64_t whole(Values values, std::string_view name) {
  return std::get<std::int64_t>(values.find(name)->second);
}
bool flag(Values values, std::string_view name) {
  return std::get<bool>(values.find(name)->second);
}
const std::string& text(Values values, std::string_view name) {
  return std::get<std::string>(values.find(name)->second);
}

ParameterDescription number(std::string name, std::int64_t value, std::int64_t minimum,
                            std::string explanation) {
  constexpr double kLargest = 1e9;
  return setting::whole(std::move(name), value, {static_cast<double>(minimum), kLargest},
                        std::move(explanation));
}
ParameterDescription yes_or_no(std::string name, bool value, std::string explanation) {
  return setting::flag(std::move(name), value, std::move(explanation));
}
ParameterDescription choice(std::string name, std::vector<std::string> choices,
                            std::string explanation) {
  std::string first = choices.front();
  return setting::choice(std::move(name), std::move(choices), first, std::move(explanation));
}

const ParameterDescription adder_parameters[] = {
    yes_or_no("identity", false, "adds the identity matrix I to the normalised map"),
    yes_or_no("identity_products", false, "counts I·V as multiplications (inferred from Table 1)")};
const ParameterDescription hash_parameters[] = {
    choice("codes", {"learned", "klsh", "lsh", "sign"},
           "how codes are made: kernelised (learned, klsh: Eq. 10), lsh (Table 5), sign (Table 4)"),
    number("bits", 16, 1, "b, bits of a code"), number("supports", 25, 1, "m, support samples"),
    number("features", 256, 1, "F, random features, for lsh and binary codes"),
    choice("mode", {"paper", "upstream"}, "which biases are added; both are counted alike")};
const ParameterDescription performer_parameters[] = {
    number("features", 256, 1, "F, random features"),
    yes_or_no("released", false, "counts as EcoFormer's released hook does")};
const ParameterDescription linformer_parameters[] = {
    number("landmarks", 256, 1, "k, rows keys and values are projected to"),
    yes_or_no("mask", false, "counts masking keys and values")};
const ParameterDescription reformer_parameters[] = {
    number("hashes", 2, 1, "rounds of hashing"), number("chunk", 64, 1, "tokens a bucket"),
    yes_or_no("rotations", true, "counts the random rotations"),
    yes_or_no("scaled", false, "scales the scores instead of normalising the keys"),
    yes_or_no("shared", true, "queries and keys share one projection")};
const ParameterDescription synthesizer_parameters[] = {
    choice("scores", {"random", "dense", "factorised"}, "where the scores come from"),
    number("factors", 8, 1, "inner width of factorised scores")};
const ParameterDescription mixer_parameters[] = {
    number("expansion", 4, 1, "hidden tokens of the mixing MLP over tokens")};
const ParameterDescription daft_full_parameters[] = {
    number("factors", 128, 0, "n, columns of pe0 and pe1; 0: w is a free matrix")};
const ParameterDescription daft_conv_parameters[] = {
    number("kernel", 11, 1, "extent of the window"),
    number("conv_heads", 16, 1, "h, heads of the position bias"),
    number("dimensions", 2, 1, "of the window: 1 or 2"),
    yes_or_no("full_keys", false, "projects the keys to D instead of h channels")};
const ParameterDescription additive_parameters[] = {
    yes_or_no("causal", false, "Fastformer-LM instead of Fastformer"),
    number("window", 0, 0, "tokens each attends to, causal only; 0: all")};

std::vector<Projection> separate(std::int64_t width, Shape shape, Values) {
  const std::int64_t keys = (Count(shape.heads) * shape.head_width).value();
  const std::int64_t values = (Count(shape.heads) * shape.value_width).value();
  return {{"query projection", width, keys},
          {"key projection", width, keys, true},
          {"value projection", width, values, true},
          {"output projection", values, width}};
}

std::vector<Projection> shared(std::int64_t width, Shape shape, Values values) {
  std::vector<Projection> list = separate(width, shape, values);
  list[0].component = "query-key projection";
  list.erase(list.begin() + 1);
  return list;
}

std::vector<Projection> reformer_projections(std::int64_t width, Shape shape, Values values) {
  return flag(values, "shared") ? shared(width, shape, values) : separate(width, shape, values);
}

std::vector<Projection> synthesizer_projections(std::int64_t width, Shape shape, Values values) {
  std::vector<Projection> list = separate(width, shape, values);
  list.erase(list.begin(), list.begin() + 2);
  return list;
}

std::vector<Projection> daft_conv_projections(std::int64_t width, Shape shape, Values values) {
  std::vector<Projection> list = separate(width, shape, values);
  if (!flag(values, "full_keys")) list[1].outputs = whole(values, "conv_heads");
  return list;
}

std::vector<Projection> no_projections(std::int64_t, Shape, Values) { return {}; }

std::int64_t none(Shape, Values) { return 0; }

std::int64_t mixer_own(Shape shape, Values values) {
  const Count n = shape.queries, hidden = n * whole(values, "expansion");
  return (2 * n * hidden + hidden + n).value();
}

costs::CodeKind code_kind(const std::string& name) {
  if (name == "lsh") return costs::CodeKind::lsh;
  return name == "sign" ? costs::CodeKind::binary : costs::CodeKind::kernel;
}

std::int64_t hash_own(Shape shape, Values values) {
  const Count h = shape.heads, c = shape.head_width, b = whole(values, "bits");
  if (code_kind(text(values, "codes")) == costs::CodeKind::kernel) {
    const Count m = whole(values, "supports");
    return (h * (m * b + m * c + m)).value();  // A, the supports, and μ
  }
  const Count f = whole(values, "features");
  return (h * (f * c + (text(values, "codes") == "lsh" ? f * b : Count(0)))).value();
}

std::int64_t linformer_own(Shape shape, Values values) {
  return (2 * Count(whole(values, "landmarks")) * shape.keys).value();
}

std::int64_t synthesizer_own(Shape shape, Values values) {
  const Count h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width;
  const std::string& source = text(values, "scores");
  if (source == "random") return (h * n * m).value();
  if (source == "factorised") return (h * (n + m) * whole(values, "factors")).value();
  return (h * (d * d + d + d * m + m)).value();
}

std::int64_t daft_full_own(Shape shape, Values values) {
  const Count n = shape.queries, m = shape.keys, factors = whole(values, "factors");
  return (factors == Count(0) ? n * m : (n + m) * factors).value();
}

std::int64_t daft_conv_own(Shape, Values values) {
  const Count h = whole(values, "conv_heads"), kernel = whole(values, "kernel");
  const Count taps = whole(values, "dimensions") == 2 ? kernel * kernel : kernel;
  return (h * taps + 2 * h).value();  // r, γ and β
}

costs::DaftConvOptions daft_conv_options(Values values) {
  return {.kernel = whole(values, "kernel"),
          .heads = whole(values, "conv_heads"),
          .dimensions = whole(values, "dimensions")};
}

/// Without global connectivity there are no sums over all tokens.
std::vector<OperationCount> daft_local(Shape shape, CostConvention convention, Values values) {
  auto counts = costs::daft_conv(shape, convention, daft_conv_options(values));
  std::erase_if(counts, [](const auto& count) { return count.component == "global sums"; });
  return counts;
}

/// One bias a head is indexing: a window of one token.
std::vector<OperationCount> daft_one_hot(Shape shape, CostConvention convention, Values values) {
  costs::DaftConvOptions options = daft_conv_options(values);
  options.kernel = 1;
  return costs::daft_conv(shape, convention, options);
}

std::int64_t additive_own(Shape shape, Values values) {
  const Count h = shape.heads, width = h * shape.head_width;
  if (flag(values, "causal")) return (2 * width).value();
  return (2 * (width * h + h)).value();
}

costs::ScoreSource score_source(const std::string& name) {
  if (name == "dense") return costs::ScoreSource::dense;
  return name == "factorised" ? costs::ScoreSource::factorised : costs::ScoreSource::random;
}

const AttentionCost list[] = {
    {"softmax",
     "Softmax attention",
     "Vaswani et al. 2017",
     {},
     [](Shape shape, CostConvention convention, Values) {
       return costs::softmax(shape, convention);
     },
     separate,
     none},
    {"adder", "Adder attention", "Shu et al. 2021, Eq. 7", adder_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::adder(shape, convention, flag(values, "identity"),
                           flag(values, "identity_products"));
     },
     separate, none},
    {"hash", "Hashed attention", "EcoFormer, Eq. 7 to 11", hash_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::hash(shape, convention,
                          {.codes = code_kind(text(values, "codes")),
                           .bits = whole(values, "bits"),
                           .supports = whole(values, "supports"),
                           .features = whole(values, "features")});
     },
     shared, hash_own},
    {"performer", "Performer", "Choromanski et al. 2020", performer_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::performer(shape, convention, whole(values, "features"),
                               flag(values, "released"));
     },
     separate, none},
    {"linear",
     "Linear Transformer",
     "Katharopoulos et al. 2020",
     {},
     [](Shape shape, CostConvention convention, Values) {
       return costs::linear(shape, convention);
     },
     separate,
     none},
    {"linformer", "Linformer", "Wang et al. 2020", linformer_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::linformer(shape, convention, whole(values, "landmarks"), flag(values, "mask"));
     },
     separate, linformer_own},
    {"reformer", "Reformer", "Kitaev et al. 2020", reformer_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::reformer(shape, convention,
                              {.hashes = whole(values, "hashes"),
                               .chunk = whole(values, "chunk"),
                               .rotations = flag(values, "rotations"),
                               .scaled = flag(values, "scaled")});
     },
     reformer_projections, none},
    {"synthesizer", "Synthesizer", "Tay et al. 2020", synthesizer_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::synthesizer(shape, convention, score_source(text(values, "scores")),
                                 whole(values, "factors"));
     },
     synthesizer_projections, synthesizer_own},
    {"daft-full", "DAFT-full", "DAFT, Eq. 5 and 6", daft_full_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::daft_full(shape, convention, whole(values, "factors"));
     },
     separate, daft_full_own},
    {"daft-conv", "DAFT-conv", "DAFT, Eq. 7 to 9", daft_conv_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::daft_conv(shape, convention, daft_conv_options(values));
     },
     daft_conv_projections, daft_conv_own},
    {"daft-local", "DAFT-local", "DAFT, section 5.1", daft_conv_parameters, daft_local,
     daft_conv_projections, daft_conv_own},
    {"daft-one-hot", "DAFT-one-hot", "DAFT, appendix C", daft_conv_parameters, daft_one_hot,
     daft_conv_projections, daft_conv_own},
    {"mixer", "MLP-Mixer", "Tolstikhin et al. 2021", mixer_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::mixer(shape, convention, whole(values, "expansion"));
     },
     no_projections, mixer_own},
    {"additive", "Additive attention", "Wu et al. 2021; Fastformer-LM, Eq. 4 to 15",
     additive_parameters,
     [](Shape shape, CostConvention convention, Values values) {
       return costs::additive(shape, convention,
                              flag(values, "causal") ? costs::AdditiveKind::causal
                                                     : costs::AdditiveKind::bidirectional,
                              whole(values, "window"));
     },
     separate, additive_own},
};

}  // namespace

std::span<const AttentionCost> attention_costs() { return list; }

const AttentionCost& find_attention_cost(std::string_view name) {
  for (const AttentionCost& cost : list) {
    if (cost.name == name) return cost;
  }
  throw unknown_name("mechanism", name, name_list(list, &AttentionCost::name));
}

ParameterValues complete_parameters(const AttentionCost& cost, const ParameterValues& values) {
  return complete_values(cost.name, cost.parameters, values);
}

}  // namespace attnscope
