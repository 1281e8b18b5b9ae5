// Figure of transformers with random weights: rank of maps and likeness of tokens over depth, with
// bands over seeds, for networks that differ in one thing.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "analysis/depth/random_network.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The one difference of the compared networks.
enum class Compared { parts, norms, mechanisms, skips };
constexpr EnumName<Compared> compared_names[] = {{Compared::parts, "parts"},
                                                 {Compared::norms, "norms"},
                                                 {Compared::mechanisms, "mechanisms"},
                                                 {Compared::skips, "skips"}};

constexpr double kResidualRounding = 1e-12;  ///< residuals below are rounding
constexpr int kBandAlpha = 45;
constexpr std::size_t kMostColumns = 3;

struct Variant {
  std::string label;
  RandomNetwork network;
};

RandomNetwork chosen_network(const Settings& read) {
  return {.mechanism = {read.names("mechanisms").front(), {}},
          .depth = read.whole("depth"),
          .width = read.whole("width"),
          .heads = read.whole("heads"),
          .tokens = read.whole("tokens"),
          .skip = read.number("skip"),
          .mlp = read.flag("mlp"),
          .norm = read.choice("layer-norm", network_norm_names),
          .causal = read.flag("causal")};
}

std::vector<Variant> variants_of(const Settings& read) {
  const RandomNetwork chosen = chosen_network(read);
  std::vector<Variant> variants;
  switch (read.choice("compare", compared_names)) {
    case Compared::parts:
      for (const auto& [label, skip, mlp] :
           {std::tuple("attention alone", false, false), std::tuple("with MLP", false, true),
            std::tuple("with skip", true, false), std::tuple("with both", true, true)}) {
        Variant& added = variants.emplace_back(label, chosen);
        added.network.skip = skip ? chosen.skip : 0;
        added.network.mlp = mlp;
      }
      break;
    case Compared::norms:
      for (const auto& [norm, name] : network_norm_names) {
        const std::string label =
            norm == NetworkNorm::none ? "no norm" : std::string(name) + "-norm";
        variants.emplace_back(label, chosen).network.norm = norm;
      }
      break;
    case Compared::mechanisms:
      for (const std::string& name : read.names("mechanisms")) {
        variants.emplace_back(name, chosen).network.mechanism = {name, {}};
      }
      break;
    case Compared::skips:
      for (const double skip : read.numbers("skips")) {
        variants.emplace_back("α = " + rounded_text(skip), chosen).network.skip = skip;
      }
      break;
  }
  return variants;
}

std::string measure_title(const NetworkMeasure& measure, const RankThreshold& threshold) {
  return std::string(measure.title) +
         (measure.by_threshold ? " (" + to_string(threshold) + ")" : "");
}

void add_variant(Figure& figure, Panel& panel, const NetworkMeasure& measure,
                 const std::vector<std::vector<NetworkDepth>>& networks, const Variant& variant,
                 std::size_t index) {
  Line line;
  line.label = variant.label;
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dash_dotted,
                                  LineStyle::dotted};
  line.colour = subject_colour(index);
  line.style = styles[index % std::size(styles)];
  line.keys = {{"network", variant.label}};
  Band band;
  band.colour = with_alpha(line.colour, kBandAlpha);
  band.name = variant.label + ", least and greatest seed";
  band.keys = line.keys;
  const bool logarithmic = panel.y.logarithmic;
  for (std::size_t depth = measure.of_maps ? 1 : 0; depth < networks.front().size(); ++depth) {
    const OverSeeds value = over_seeds(networks, depth, measure);
    if (std::isnan(value.mean) || (logarithmic && value.least < kResidualRounding)) continue;
    line.x.push_back(static_cast<double>(depth));
    line.y.push_back(value.mean);
    band.low.push_back(value.least);
    band.high.push_back(value.greatest);
  }
  band.x = line.x;
  figure.numbers[std::string(measure.name) + "/" + variant.label] = line.y;
  if (networks.size() > 1) panel.marks.emplace_back(std::move(band));
  panel.marks.emplace_back(std::move(line));
}

std::string described(const Settings& read, Compared compared) {
  const RandomNetwork network = chosen_network(read);
  std::string words = std::to_string(network.depth) + " layers of " +
                      std::to_string(network.heads) + " heads, width " +
                      std::to_string(network.width) + ", " + std::to_string(network.tokens) +
                      " tokens of N(0, 1)";
  if (network.causal) words += ", causal";
  if (compared != Compared::mechanisms) words += ", " + network.mechanism.name + " attention";
  if (compared != Compared::norms) {
    words += network.norm == NetworkNorm::none
                 ? ", no norm"
                 : ", " + std::string(name_of(network_norm_names, network.norm)) + "-norm";
  }
  if (compared != Compared::parts && !network.mlp) words += ", without MLP";
  if (compared != Compared::skips) words += ", skip α = " + rounded_text(network.skip);
  return words;
}

Figure make_random_networks(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const RankThreshold threshold = threshold_of(read);
  const auto compared = read.choice("compare", compared_names);
  const std::vector<Variant> variants = variants_of(read);
  const std::vector<std::string>& measures = read.names("measures");
  if (measures.empty()) {
    throw Error(ErrorKind::usage, "the figure shows no measure").about("measures");
  }

  Figure figure;
  for (const std::string& name : measures) {
    const auto measure =
        std::ranges::find(network_measures(), std::string_view(name), &NetworkMeasure::name);
    Panel& panel = figure.panels.emplace_back();
    const auto place = static_cast<std::size_t>(figure.panels.size() - 1);
    const std::size_t columns = std::min(measures.size(), kMostColumns);
    panel.row = static_cast<std::int64_t>(place / columns);
    panel.column = static_cast<std::int64_t>(place % columns);
    panel.x.label = "layer";
    panel.x.minimum = 0;
    panel.x.maximum = static_cast<double>(read.whole("depth"));
    panel.x.ticks = layer_ticks(read.whole("depth") + 1);
    panel.x.key = "layer";
    panel.y.label = measure_title(*measure, threshold);
    panel.y.logarithmic = measure->value == &NetworkDepth::residual;
    if (!panel.y.logarithmic) panel.y.minimum = 0;
    panel.legend = legend_of(read);
  }
  for (std::size_t index = 0; index < variants.size(); ++index) {
    const auto count = static_cast<double>(variants.size()), first = static_cast<double>(index);
    const auto networks = random_networks(variants[index].network, read.whole("seeds"), threshold,
                                          progress.part(first / count, (first + 1) / count));
    for (std::size_t i = 0; i < measures.size(); ++i) {
      const auto measure = std::ranges::find(network_measures(), std::string_view(measures[i]),
                                             &NetworkMeasure::name);
      add_variant(figure, figure.panels[i], *measure, networks, variants[index], index);
    }
  }
  figure.shared_legend = figure.panels.size() > 1;
  const std::int64_t rows = figure.panels.back().row + 1;
  const double column_mm =
      request.width_mm / static_cast<double>(std::min(measures.size(), kMostColumns));
  figure.title = "Networks with random weights";
  figure.height_mm = static_cast<double>(rows) * std::clamp(0.75 * column_mm, 40.0, 60.0) +
                     legend_mm(figure, request.width_mm);
  figure.caption =
      "Transformers at initialisation, matrices of N(0, 1 / inputs): " + described(read, compared) +
      ". Means over " + std::to_string(read.whole("seeds")) +
      " seeds; bands from the least to the greatest. Layer 0: the tokens before the "
      "first layer. " +
      made_with();
  return figure;
}

std::vector<std::string> names_of_measures() {
  std::vector<std::string> names;
  for (const NetworkMeasure& measure : network_measures()) names.emplace_back(measure.name);
  return names;
}

std::vector<std::string> names_of_mechanisms() {
  std::vector<std::string> names;
  for (const MechanismEntry& entry : mechanisms()) names.emplace_back(entry.name);
  return names;
}

}  // namespace

FigureRecipe random_networks_recipe() {
  const RandomNetwork usual;
  return {
      .name = "random-networks",
      .title = "What does depth do at initialisation?",
      .source = "Dong et al. 2021, Fig. 2; Noci et al. 2022; Nait Saada et al. 2024",
      .question = FigureQuestion::rank,
      .settings = {setting::choice("compare", names_of(compared_names), "parts",
                                   "what the networks differ in: skip connection and MLP, the "
                                   "place of the norm, the attention, the weight of the skip "
                                   "connection"),
                   setting::names("measures", names_of_measures(), {"rank", "cosine"},
                                  "what is drawn over depth: rank, σ₂/σ₁ and entropy of the maps; "
                                  "rank, mean cosine and distance from equal rows of the tokens"),
                   setting::whole("depth", usual.depth, {1, 256}, "layers"),
                   setting::whole("width", usual.width, {1, 2048}, "channels of a token"),
                   setting::whole("heads", usual.heads, {1, 64}, "heads, a divisor of the width"),
                   setting::whole("tokens", usual.tokens, {2, 1024}, "tokens"),
                   setting::choice("layer-norm", names_of(network_norm_names), "pre",
                                   "layer norm before each part (pre), after its sum (post), or "
                                   "none"),
                   setting::flag("mlp", usual.mlp, "with an MLP in each layer"),
                   setting::number("skip", usual.skip, {0, 2}, "α, weight of the skip connection"),
                   setting::numbers("skips", {1, 0.5, 0}, {0, 10},
                                    "the weights α that are compared"),
                   setting::names("mechanisms", names_of_mechanisms(), {"softmax", "adder"},
                                  "the attentions that are compared; otherwise the first"),
                   setting::flag("causal", usual.causal, "no token sees later ones"),
                   setting::whole("seeds", 3, {1, 100}, "networks per line"), threshold_setting(),
                   share_setting(), legend_setting()},
      .needs = {.subject = SubjectNeed::none, .least = 0},
      .make = make_random_networks};
}

}  // namespace attnscope
