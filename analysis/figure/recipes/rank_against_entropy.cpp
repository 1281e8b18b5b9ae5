// Figure of the rank of every map over the entropy of its rows, with the curves of random tokens
// behind the points: what is left of a difference of ranks between maps that are equally sharp.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/random_tokens.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

enum class Curves { on, off };
constexpr EnumName<Curves> curves_names[] = {{Curves::on, "on"}, {Curves::off, "off"}};

/// Random tokens of the shape of some maps, without or with I.
struct RandomFamily {
  RandomTokens tokens;
  bool identity = false;

  auto operator<=>(const RandomFamily&) const = default;
};

/// A curve takes draws × entropies spectra of N × M maps.
constexpr std::int64_t kMostCurveTokens = 1024;
constexpr std::size_t kMostFamilies = 4;  ///< one line style each

std::vector<double> curve_entropies() {
  std::vector<double> entropies;
  for (int twentieth = 1; twentieth < 20; ++twentieth) entropies.push_back(twentieth / 20.0);
  entropies.push_back(0.98);
  return entropies;
}

/// The random tokens like those of a layer. Empty if the head's width was not recorded, for masks
/// other than a causal one, and for too many tokens.
std::optional<RandomTokens> random_tokens_like(const Trace& trace, std::int64_t layer) {
  const LayerTrace& own = trace.layers[static_cast<std::size_t>(layer)];
  RandomTokens tokens{trace.queries(layer), trace.keys(layer)};
  if (own.queries.empty() || std::max(tokens.queries, tokens.keys) > kMostCurveTokens) return {};
  tokens.width = own.queries.shape().back();
  const bool square = tokens.queries == tokens.keys;
  tokens.causal =
      own.seen ? square && *own.seen == up_to_the_query(tokens.queries) : square && trace.causal;
  const bool masked = own.seen && own.seen->hides_any(tokens.queries, tokens.keys);
  return masked && !tokens.causal ? std::nullopt : std::optional(tokens);
}

std::string family_in_words(const RandomFamily& family) {
  const RandomTokens& tokens = family.tokens;
  return "d = " + std::to_string(tokens.width) + ", N = " + std::to_string(tokens.queries) +
         (tokens.keys == tokens.queries ? "" : " × " + std::to_string(tokens.keys)) +
         (tokens.causal ? ", causal" : "") + (family.identity ? ", + I" : "");
}

void add_random_tokens(Figure& figure, Panel& panel, const std::set<RandomFamily>& families,
                       const Settings& read, const Progress& progress) {
  constexpr Colour colours[] = {{60, 60, 60, 255}, {150, 150, 150, 255}};
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dotted,
                                  LineStyle::dash_dotted};
  constexpr int kBandAlpha = 40;
  const std::vector<double> entropies = curve_entropies();
  std::vector<Mark> lines;
  const auto count = 2 * static_cast<double>(std::min(families.size(), kMostFamilies));
  double done = 0;
  std::size_t index = 0;
  for (const RandomFamily& family : families) {
    if (index == kMostFamilies) break;
    for (const auto& [scores, name] : random_scores_names) {
      const RandomTokenCurve curve =
          random_token_curve(family.tokens, scores, family.identity, entropies, read.whole("draws"),
                             threshold_of(read), progress.part(done / count, (done + 1) / count));
      ++done;
      const std::string words = std::string(name) + ", " + family_in_words(family);
      Band band;
      band.x = curve.entropy;
      band.low = curve.least;
      band.high = curve.greatest;
      band.colour = with_alpha(colours[static_cast<std::size_t>(scores)], kBandAlpha);
      band.name = "random " + words + ", least and greatest draw";
      band.keys = {{"random_tokens", words}};
      Line line;
      line.label = "random: " + words;
      line.x = curve.entropy;
      line.y = curve.rank;
      line.colour = colours[static_cast<std::size_t>(scores)];
      line.style = styles[index];
      line.width_pt = 0.8;
      line.keys = band.keys;
      figure.numbers["random_entropy/" + words] = curve.entropy;
      figure.numbers["random_rank/" + words] = curve.rank;
      panel.marks.emplace_back(std::move(band));
      lines.emplace_back(std::move(line));
    }
    ++index;
  }
  std::ranges::move(lines, std::back_inserter(panel.marks));
}

/// Entropy and rank of each map (layer, head) of a group: sums over its inputs.
struct MapPoint {
  double entropy = 0, rank = 0, inputs = 0;
};

Figure make_rank_against_entropy(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const RankThreshold threshold = threshold_of(read);
  const MatrixChoice analysed{.identity = identity_views(read).front()};
  const bool curves = read.choice("curves", curves_names) == Curves::on;
  const std::vector<SubjectGroup> groups = subject_groups(request, averages_inputs(read));
  const auto runs = static_cast<double>(request.subjects.size());
  const Progress own = progress.part(0, curves ? 0.3 : 1);

  Figure figure;
  Panel panel;
  std::set<RandomFamily> families;
  std::vector<Line> points;
  std::int64_t unknown = 0, unlike = 0;
  double done = 0;
  for (std::size_t index = 0; index < groups.size(); ++index) {
    std::map<std::pair<std::int64_t, std::int64_t>, MapPoint> maps;
    bool with = false;
    for (const std::size_t member : groups[index].subjects) {
      const Trace& trace = *request.subjects[member].trace;
      const auto layers = read.indices("layers", std::ssize(trace.layers));
      const auto heads = read.indices("heads", trace.heads());
      for (const MapSpectrum& map :
           subject_spectra(request, member, analysed, {.threshold = threshold},
                           own.part(done / runs, (done + 1) / runs))) {
        if (std::ranges::find(layers, map.layer) == layers.end() ||
            std::ranges::find(heads, map.head) == heads.end()) {
          continue;
        }
        const double entropy = entropy_share_at(trace, {map.layer, map.head});
        if (std::isnan(entropy) || map.state != SpectrumState::ready) {
          ++unknown;
          continue;
        }
        MapPoint& point = maps[{map.layer, map.head}];
        point.entropy += entropy;
        point.rank += static_cast<double>(map.equivalent_rank);
        ++point.inputs;
        with = with || map.identity;
        if (const auto tokens = random_tokens_like(trace, map.layer)) {
          families.insert({*tokens, map.identity});
        } else {
          ++unlike;
        }
      }
      ++done;
    }
    Line line;
    line.label = seen_label(groups[index].short_label, with);
    line.keys = {{"model", groups[index].label}};
    line.colour = subject_colour(index);
    line.style = LineStyle::none;
    line.marker = subject_marker(index);
    for (const auto& [place, point] : maps) {
      line.x.push_back(point.entropy / point.inputs);
      line.y.push_back(point.rank / point.inputs);
    }
    const std::string label = seen_label(groups[index].label, with);
    figure.numbers["entropy/" + label] = line.x;
    figure.numbers["rank/" + label] = line.y;
    points.push_back(std::move(line));
  }
  if (curves) add_random_tokens(figure, panel, families, read, progress.part(0.3, 1));
  std::ranges::move(points, std::back_inserter(panel.marks));
  panel.x.label = "entropy of a row / ln n, mean";
  panel.x.minimum = 0;
  panel.x.maximum = 1;
  panel.y.label = "equivalent rank (" + to_string(threshold) + ")";
  panel.y.minimum = 0;
  panel.legend = legend_of(read);
  figure.panels.push_back(std::move(panel));
  figure.title = "Rank against entropy";
  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption =
      "Equivalent rank (" + to_string(threshold) +
      ") of each map over the entropy of its rows without I, mean of H / ln n, n the keys that a "
      "query sees: " +
      chosen("layer", layers_written(request, "layers")) + ", " +
      chosen("head", read.written("heads")) + " of " + subjects_in_words(request) + ". ";
  if (curves && !families.empty()) {
    figure.caption += "Grey: random tokens, q and k of N(0, 1), at every temperature; means of " +
                      std::to_string(read.whole("draws")) +
                      " draws, bands from the least to the greatest. ";
  }
  if (curves && families.size() > kMostFamilies) {
    figure.caption += "Random tokens like those of " +
                      std::to_string(families.size() - kMostFamilies) +
                      " more kinds of maps are not drawn. ";
  }
  if (curves && unlike > 0) {
    figure.caption += std::to_string(unlike) +
                      " maps have no curve: the width of their heads was not recorded, their mask "
                      "is not causal, or they have more than " +
                      std::to_string(kMostCurveTokens) + " tokens. ";
  }
  if (unknown > 0) {
    figure.caption +=
        std::to_string(unknown) + " maps whose rank or entropy is not known were left out. ";
  }
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe rank_against_entropy_recipe() {
  return {.name = "rank-against-entropy",
          .title = "Does the rank follow from the entropy?",
          .question = FigureQuestion::rank,
          .settings = {threshold_setting(), share_setting(), single_identity_setting(),
                       indices_setting("layers", "layers whose maps are points"),
                       indices_setting("heads", "heads whose maps are points"), inputs_setting(),
                       setting::choice("curves", names_of(curves_names), "on",
                                       "random tokens as wide and as many as those of the models"),
                       setting::whole("draws", 4, {1, 100}, "draws of the random tokens"),
                       legend_setting()},
          .needs = {.vectors = true, .tokens = false},
          .make = make_rank_against_entropy};
}

}  // namespace attnscope
