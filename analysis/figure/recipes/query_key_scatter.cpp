// Figure of all queries and keys of one head in the plane of their greatest variance.
#include <algorithm>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/head_steps/head_steps.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// Up to this number of points each is a series of its own, with the name of its token.
constexpr std::size_t kMostPointsNamed = 1000;

struct PlanePoints {
  const char* name;  ///< "query"
  const std::vector<double>&x, &y;
  const TokenLayout& layout;
  Colour colour;
  MarkerShape marker;
};

void add_plane_points(Panel& panel, const PlanePoints& points, bool named, bool texts) {
  Line line;
  line.colour = with_alpha(points.colour, 200);
  line.style = LineStyle::none;
  line.marker = points.marker;
  line.label = points.name;
  line.keys = {{"side", points.name}};
  if (!named) {
    line.x = points.x;
    line.y = points.y;
    panel.marks.emplace_back(std::move(line));
    return;
  }
  panel.marks.emplace_back(line);  // without points: the side's entry in the legend
  line.label.clear();
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const std::string token = points.layout.name(static_cast<std::int64_t>(i));
    line.x = {points.x[i]};
    line.y = {points.y[i]};
    line.name = points.name + (" " + token);
    line.keys = {{"side", points.name}, {points.name, std::to_string(i)}};
    panel.marks.emplace_back(line);
    if (texts) {
      panel.marks.emplace_back(TextMark{.x = points.x[i],
                                        .y = points.y[i],
                                        .text = elided(token, 8),
                                        .colour = points.colour,
                                        .align = TextAlign::start});
    }
  }
}

/// Sets a range slightly larger than that of the points, so that no marker is clipped.
void hold_points(Axis& axis, const std::vector<double>& queries, const std::vector<double>& keys) {
  std::vector<double> all = queries;
  all.insert(all.end(), keys.begin(), keys.end());
  const auto [least, greatest] = std::ranges::minmax(all);
  if (!(least < greatest)) return;
  const double around = 0.05 * (greatest - least);
  axis.minimum = least - around;
  axis.maximum = greatest + around;
}

std::string axis_in_words(const char* which, double share) {
  return std::string(which) + " component (" + rounded_text(100 * share, 2) + " %)";
}

/// True if keys are moved: as asked, or by default for a softmax of q·k.
bool balances(const Settings& read, const Trace& trace, std::int64_t layer) {
  if (!read.is("balance", "auto")) return read.is("balance", "on");
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  return mechanism_of(trace, recorded).name == "softmax";
}

std::string balance_in_words(const QueryKeyPlane& plane) {
  if (plane.balance == 0) return "Queries and keys are as recorded. ";
  return "Keys are moved by one vector, queries multiplied and keys divided by c = " +
         rounded_text(plane.balance, 3) +
         ", so that both have one mean and one spread; a softmax of q·k stays the same. ";
}

Figure make_query_key_scatter(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const Subject& subject = request.subjects.front();
  const Trace& trace = *subject.trace;
  const std::int64_t layer = *read.index("layer", std::ssize(trace.layers));
  const std::int64_t head = read.whole("head");
  const QueryKeyPlane plane = query_key_plane(trace, layer, head, balances(read, trace, layer));
  const std::size_t points = plane.query_x.size() + plane.key_x.size();
  const bool named = points <= kMostPointsNamed, texts = named && read.flag("names");
  Figure figure;
  Panel panel;
  panel.keys = {{"model", subject.label},
                {"layer", std::to_string(layer + request.first_layer)},
                {"head", std::to_string(head)}};
  add_plane_points(panel,
                   {"key", plane.key_x, plane.key_y, key_layout(trace, layer), subject_colour(1),
                    MarkerShape::square},
                   named, texts);
  add_plane_points(panel,
                   {"query", plane.query_x, plane.query_y, query_layout(trace, layer),
                    subject_colour(0), MarkerShape::circle},
                   named, texts);
  hold_points(panel.x, plane.query_x, plane.key_x);
  hold_points(panel.y, plane.query_y, plane.key_y);
  panel.x.label = axis_in_words("first", plane.share[0]);
  panel.y.label = axis_in_words("second", plane.share[1]);
  panel.legend = legend_of(read);
  figure.panels.push_back(std::move(panel));
  figure.height_mm = 0.72 * request.width_mm + 3 + legend_mm(figure, request.width_mm);
  figure.numbers["balance"] = {plane.balance};
  figure.numbers["share_of_variance"] = {plane.share[0], plane.share[1]};
  figure.caption = "Queries and keys of " + layer_name(request, layer) + ", head " +
                   std::to_string(head) +
                   ", in the plane of the greatest variance of both together (PCA). " +
                   balance_in_words(plane) + subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe query_key_scatter_recipe() {
  return {
      .name = "query-key-scatter",
      .title = "Queries and keys in one plane",
      .source = "AttentionViz, Yeh et al. 2023",
      .question = FigureQuestion::scores,
      .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer"),
                   setting::whole("head", 0, {.minimum = 0}, "the head"),
                   setting::choice("balance", {"auto", "on", "off"}, "auto",
                                   "on: keys moved, and both scaled, to one mean and one "
                                   "spread, which leaves softmax(q·k) as it is; auto: on for "
                                   "softmax attention"),
                   setting::flag("names", false, "the token's name at each point"),
                   legend_setting(true)},
      .needs = {.most = 1,
                .vectors = true,
                .tokens = false,
                .shows =
                    [](const Subject& subject) { return has_queries_and_keys(*subject.trace); },
                .missing = "needs attention that compares queries with keys, and both recorded"},
      .make = make_query_key_scatter};
}

}  // namespace attnscope
