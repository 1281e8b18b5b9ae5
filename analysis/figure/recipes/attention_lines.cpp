// Figure of attention over a text as lines from each query to the keys that it reads, a colour per
// head.
#include <algorithm>
#include <functional>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostTokensInOrder = 64;  // shown of a longer text
constexpr double kLongestToken = 9;              // ems

/// One weight of a map. Query and key are places among the tokens shown.
struct AttentionLink {
  std::int64_t head = 0;
  std::size_t query = 0, key = 0;
  double weight = 0;
};

/// The tokens that the setting selects of `count`.
std::vector<std::int64_t> tokens_in_order(const Settings& read, std::int64_t count) {
  if (read.is("tokens", "first")) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(std::min(count, kMostTokensInOrder)));
    std::iota(tokens.begin(), tokens.end(), std::int64_t{0});
    return tokens;
  }
  return read.indices("tokens", count);
}

class LinesOfText {
 public:
  explicit LinesOfText(const FigureRequest& request)
      : request_(request),
        read_(request),
        subject_(request.subjects.front()),
        layer_(*read_.index("layer", std::ssize(subject_.trace->layers))),
        maps_(maps_seen(*subject_.trace, layer_, read_.choice("identity", identity_view_names))),
        heads_(read_.indices("heads", maps_.extent(0))),
        queries_(tokens_in_order(read_, maps_.extent(1))),
        keys_(tokens_in_order(read_, maps_.extent(2))) {
    find_links();
  }

  [[nodiscard]] Figure make() {
    Figure figure;
    Panel panel;
    panel.keys = {{"model", subject_.label},
                  {"layer", std::to_string(layer_ + request_.first_layer)}};
    add_axes(figure, panel);
    add_links(panel);
    add_tokens(panel);
    if (heads_.size() > 1) {
      for (std::size_t place = 0; place < heads_.size(); ++place) {
        // The legend's line has the colour of a weight of 1.
        panel.marks.emplace_back(Line{.label = "head " + std::to_string(heads_[place]),
                                      .x = {},
                                      .y = {},
                                      .colour = subject_colour(place),
                                      .style = style_of(place)});
      }
      panel.legend = legend_of(read_);
    }
    figure.panels.push_back(std::move(panel));
    constexpr double token_mm = 3.2, around_mm = 8;
    const auto rows = static_cast<double>(std::max(queries_.size(), keys_.size()));
    figure.height_mm = rows * token_mm + around_mm + legend_mm(figure, request_.width_mm);
    figure.numbers["lines"] = {static_cast<double>(links_.size())};
    figure.numbers["weights_above_least"] = {static_cast<double>(found_)};
    figure.numbers["greatest_weight"] = {greatest_};
    figure.caption = caption();
    return figure;
  }

 private:
  /// Finds the weights of at least the least one; of too many, the greatest.
  void find_links() {
    const double least = read_.number("smallest-weight");
    const std::optional<std::int64_t> only = read_.index("query", maps_.extent(1));
    for (std::size_t place = 0; place < heads_.size(); ++place) {
      for (std::size_t query = 0; query < queries_.size(); ++query) {
        if (only && *only != queries_[query]) continue;
        const Eigen::RowVectorXf row = maps_.row(heads_[place], queries_[query]);
        for (std::size_t key = 0; key < keys_.size(); ++key) {
          const auto weight = static_cast<double>(row(keys_[key]));
          if (!(weight > 0 && weight >= least)) continue;
          links_.push_back({static_cast<std::int64_t>(place), query, key, weight});
        }
      }
    }
    found_ = std::ssize(links_);
    std::ranges::stable_sort(links_, std::greater(), &AttentionLink::weight);
    links_.resize(std::min(links_.size(), static_cast<std::size_t>(read_.whole("most-lines"))));
    if (!links_.empty()) greatest_ = links_.front().weight;
    std::ranges::reverse(links_);  // the greatest are drawn last, over the others
  }

  /// The colours repeat after seven heads; dashes tell the others apart.
  static LineStyle style_of(std::size_t place) {
    constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dotted,
                                    LineStyle::dash_dotted};
    constexpr std::size_t colours = 7;
    return styles[place / colours % std::size(styles)];
  }

  [[nodiscard]] std::string query_name(std::size_t place) const {
    return elided(query_layout(*subject_.trace, layer_).name(queries_[place]), kLongestToken);
  }
  [[nodiscard]] std::string key_name(std::size_t place) const {
    return elided(key_layout(*subject_.trace, layer_).name(keys_[place]), kLongestToken);
  }

  void add_axes(const Figure& figure, Panel& panel) const {
    panel.reversed_y = true;
    panel.y.minimum = -0.6;
    panel.y.maximum = static_cast<double>(std::max(queries_.size(), keys_.size())) - 0.4;
    panel.x.ticks = {{0, "query"}, {1, "key"}};
    double left_mm = 0, right_mm = 0;
    for (std::size_t place = 0; place < queries_.size(); ++place) {
      const std::string name = query_name(place);
      left_mm = std::max(left_mm, text_mm(name, figure.font_size_pt));
      panel.y.ticks.push_back({static_cast<double>(place), name});
    }
    for (std::size_t place = 0; place < keys_.size(); ++place) {
      right_mm = std::max(right_mm, text_mm(key_name(place), figure.font_size_pt));
    }
    // The frame also holds the names of the keys, to the right of their points.
    constexpr double around_mm = 6, least_mm = 20;
    const double frame_mm = std::max(least_mm, request_.width_mm - left_mm - around_mm);
    const double share = std::min(0.6, (right_mm + 3) / frame_mm);
    panel.x.minimum = -0.02;
    panel.x.maximum = (1 + 0.02 * share) / (1 - share);
  }

  void add_links(Panel& panel) const {
    for (const AttentionLink& link : links_) {
      const auto place = static_cast<std::size_t>(link.head);
      const double share = link.weight / greatest_;
      constexpr double least_alpha = 20;
      Line line;
      line.x = {0, 1};
      line.y = {static_cast<double>(link.query), static_cast<double>(link.key)};
      line.colour = with_alpha(subject_colour(place),
                               static_cast<int>(least_alpha + share * (255 - least_alpha)));
      line.style = style_of(place);
      line.width_pt = 0.3 + 1.7 * share;
      const std::string head = std::to_string(heads_[place]);
      line.name = "head " + head + ": " + query_name(link.query) + " → " + key_name(link.key) +
                  ", " + rounded_text(link.weight, 3);
      line.keys = {{"head", head},
                   {"query", std::to_string(queries_[link.query])},
                   {"key", std::to_string(keys_[link.key])},
                   {"weight", exact(link.weight)}};
      panel.marks.emplace_back(std::move(line));
    }
  }

  /// Adds a point for each token, and the keys' names.
  void add_tokens(Panel& panel) const {
    Line point;
    point.colour = neutral_colour;
    point.style = LineStyle::none;
    point.marker = MarkerShape::circle;
    for (std::size_t place = 0; place < queries_.size(); ++place) {
      point.x = {0};
      point.y = {static_cast<double>(place)};
      point.name = "query " + query_name(place);
      point.keys = {{"query", std::to_string(queries_[place])}};
      panel.marks.emplace_back(point);
    }
    point.name = "keys";
    point.keys.clear();
    point.x.assign(keys_.size(), 1);
    point.y.clear();
    for (std::size_t place = 0; place < keys_.size(); ++place) {
      const auto y = static_cast<double>(place);
      point.y.push_back(y);
      panel.marks.emplace_back(TextMark{
          .x = 1.02, .y = y, .text = key_name(place), .colour = {}, .align = TextAlign::start});
    }
    panel.marks.emplace_back(point);
  }

  [[nodiscard]] std::string caption() const {
    const std::int64_t tokens = maps_.extent(1);
    std::string text =
        "Attention weights of " + layer_name(request_, layer_) + ", " +
        chosen("head", read_.written("heads")) +
        ", as lines from each query (left) to the keys that it reads (right), a colour per head; "
        "width and opacity grow with the weight, up to " +
        rounded_text(greatest_, 3) + ". " + std::to_string(links_.size()) + " lines: ";
    text += found_ > std::ssize(links_) ? "the greatest of " + std::to_string(found_) + " weights"
                                        : std::string("all weights");
    text += " of at least " + read_.written("smallest-weight");
    if (!read_.is("query", "all")) text += " of query " + read_.written("query");
    text += ". ";
    if (std::ssize(queries_) < tokens) {
      text += std::to_string(queries_.size()) + " of " + std::to_string(tokens) +
              " tokens are shown; weights on the others are not drawn. ";
    }
    return text + subjects_in_words(request_) + ". " + made_with();
  }

  const FigureRequest& request_;
  Settings read_;
  const Subject& subject_;
  std::int64_t layer_;
  ImpliedMaps maps_;
  std::vector<std::int64_t> heads_, queries_, keys_;
  std::vector<AttentionLink> links_;
  std::int64_t found_ = 0;  ///< weights of at least the least one
  double greatest_ = 0;
};

Figure make_attention_lines(const FigureRequest& request, const Progress&) {
  return LinesOfText(request).make();
}

}  // namespace

FigureRecipe attention_lines_recipe() {
  return {.name = "attention-lines",
          .title = "Attention as lines over a text",
          .source = "BertViz, Vig 2019",
          .question = FigureQuestion::scores,
          .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer"),
                       indices_setting("heads", "heads, a colour each"),
                       setting::whole("query", 0, {.minimum = 0},
                                      "all queries, or the lines of one, by its index")
                           .or_word({"all"})
                           .by_default("all"),
                       indices_setting("tokens", "tokens of the text; first: the first 64")
                           .or_word({"first"})
                           .by_default("first"),
                       setting::number("smallest-weight", 0.02, {0, 1},
                                       "smallest weight that is drawn"),
                       setting::whole("most-lines", 1000, {1, 20000},
                                      "number of lines at most; the greatest weights are drawn"),
                       single_identity_setting(), legend_setting()},
          .needs = {.most = 1,
                    .input = InputNeed::text,
                    .tokens = false,
                    .missing = "needs a model that has run on a text"},
          .make = make_attention_lines};
}

}  // namespace attnscope
