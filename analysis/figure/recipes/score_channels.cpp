// Figure of the scores of one query, channel by channel: what each channel of query and key adds to
// the score of each key.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/head_steps/head_steps.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr double kLongestKey = 9;  // ems

/// The term of one channel, as in a label.
std::string term_in_words(ScoreOf of) {
  switch (of) {
    case ScoreOf::distance:
      return "−|q_c − k_c|";
    case ScoreOf::codes:
      return "h_c h′_c";
    default:
      return "q_c k_c";
  }
}

HeadSteps steps_shown(const FigureRequest& request, const Settings& read) {
  const Subject& subject = request.subjects.front();
  const std::int64_t layer = *read.index("layer", std::ssize(subject.trace->layers));
  HeadSteps steps = head_steps(*subject.trace, layer, read.whole("head"), read.whole("query"));
  if (!steps.query.empty() && !steps.scores.empty()) return steps;
  const LayerTrace& recorded = subject.trace->layers[static_cast<std::size_t>(layer)];
  throw Error(ErrorKind::usage, "the scores are not a sum over channels of a query and a key")
      .about(subject.label + ", " + layer_name(request, layer))
      .expected("softmax, adder or hashed attention, with queries and keys recorded")
      .found(mechanism_of(*subject.trace, recorded).name);
}

/// The keys that the query sees, of the greatest weight first.
std::vector<std::size_t> keys_by_weight(const HeadSteps& steps, std::int64_t most) {
  std::vector<std::size_t> keys(steps.weights.size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  std::erase_if(keys, [&](std::size_t key) { return std::isinf(steps.scores[key]); });
  std::ranges::stable_sort(keys, [&](std::size_t one, std::size_t other) {
    return steps.weights[one] > steps.weights[other];
  });
  keys.resize(std::min(keys.size(), static_cast<std::size_t>(most)));
  return keys;
}

/// At most five channels, at multiples of a power of two.
std::vector<Tick> channel_ticks(std::size_t channels) {
  const std::size_t step = std::bit_ceil((channels + 4) / 5);
  std::vector<Tick> ticks;
  for (std::size_t channel = 0; channel < channels; channel += step) {
    ticks.push_back({static_cast<double>(channel), std::to_string(channel)});
  }
  return ticks;
}

/// Sets a range with 0 and all scores shown, slightly larger, so that no marker is clipped.
void hold_scores(Axis& axis, const HeadSteps& steps, const std::vector<std::size_t>& keys) {
  double least = 0, greatest = 0;
  for (const std::size_t key : keys) {
    least = std::min(least, steps.scores[key]);
    greatest = std::max(greatest, steps.scores[key]);
  }
  const double around = 0.06 * (greatest - least);
  if (!(around > 0)) return;
  axis.minimum = least - around;
  axis.maximum = greatest + around;
}

std::string caption_of_channels(const FigureRequest& request, const HeadSteps& steps,
                                std::size_t shown) {
  const Settings read(request);
  const Trace& trace = *request.subjects.front().trace;
  const std::int64_t layer = read.whole("layer"), query = read.whole("query");
  std::string text =
      "Scores of query " + std::to_string(query) + " (" + query_layout(trace, layer).name(query) +
      ") in " + layer_name(request, layer) + ", head " + std::to_string(read.whole("head")) +
      ", with its " + std::to_string(shown) +
      " keys of greatest weight, channel by channel. Left: " + term_in_words(steps.score_of);
  if (steps.score_of == ScoreOf::codes) text += ", the bits of the binary codes";
  text += "; its sum over the channels c";
  if (!steps.factor_words.empty()) text += " times " + steps.factor_words;
  if (steps.offset != 0) text += " plus " + rounded_text(steps.offset, 6);
  text += " is the score (right). After each key its weight in the map without I, ";
  text += steps.softmax ? "the softmax of the scores of all keys. "
                        : "the score divided by the sum over all keys. ";
  if (!steps.agrees()) {
    text += "The weights differ by up to " + rounded_text(steps.difference, 2) +
            " from what these scores give: the model adds other terms, or the map was changed. ";
  }
  return text + subjects_in_words(request) + ". ";
}

Figure make_score_channels(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const HeadSteps steps = steps_shown(request, read);
  const Subject& subject = request.subjects.front();
  const std::vector<std::size_t> keys = keys_by_weight(steps, read.whole("keys"));
  const TokenLayout& layout = key_layout(*subject.trace, read.whole("layer"));
  Figure figure;
  Panel terms;
  terms.reversed_y = true;
  terms.y.minimum = terms.x.minimum = -0.5;
  terms.y.maximum = static_cast<double>(keys.size()) - 0.5;
  terms.x.maximum = static_cast<double>(steps.query.size()) - 0.5;
  terms.x.label = "channel c";
  terms.x.key = "channel";
  terms.x.ticks = channel_ticks(steps.query.size());
  terms.keys = {{"model", subject.label},
                {"layer", std::to_string(read.whole("layer") + request.first_layer)},
                {"head", std::to_string(read.whole("head"))}};
  Panel scores = terms;
  scores.column = 1;
  scores.x = Axis{.label = "score", .minimum = {}, .maximum = {}, .ticks = {}};
  hold_scores(scores.x, steps, keys);
  terms.title = term_in_words(steps.score_of);
  scores.title = steps.factor_words.empty() ? "sum" : "sum × " + steps.factor_words;
  HeatMap heat;
  heat.rows = std::ssize(keys);
  heat.columns = std::ssize(steps.query);
  Line points;
  points.name = "score";
  points.colour = subject_colour(0);
  points.style = LineStyle::none;
  points.marker = MarkerShape::circle;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::size_t key = keys[row];
    for (const double term : steps.terms(static_cast<std::int64_t>(key))) {
      heat.values.push_back(static_cast<float>(term));
    }
    const auto y = static_cast<double>(row);
    const std::string name = elided(layout.name(static_cast<std::int64_t>(key)), kLongestKey);
    terms.y.ticks.push_back({y, name + "  " + rounded_text(100 * steps.weights[key], 2) + " %"});
    points.x.push_back(steps.scores[key]);
    points.y.push_back(y);
    figure.numbers["key"].push_back(static_cast<double>(key));
    figure.numbers["sum"].push_back(steps.raw[key]);
    figure.numbers["score"].push_back(steps.scores[key]);
    figure.numbers["weight"].push_back(steps.weights[key]);
  }
  figure.numbers["factor"] = {steps.factor};
  figure.numbers["offset"] = {steps.offset};
  scores.y.ticks = terms.y.ticks;
  scores.y.visible = false;  // the rows are those of the cells to its left
  const HeatScale scale = heat_scale(read, heat.values, term_in_words(steps.score_of));
  figure.colour_scales.push_back(scale.scale);
  terms.marks.emplace_back(std::move(heat));
  scores.marks.emplace_back(Rule{.at = 0, .text = {}, .colour = neutral_colour});
  scores.marks.emplace_back(std::move(points));
  figure.panels = {std::move(terms), std::move(scores)};
  constexpr double row_mm = 3.3, around_mm = 13, least_mm = 26;
  figure.height_mm = std::max(least_mm, around_mm + row_mm * static_cast<double>(keys.size()));
  figure.caption =
      caption_of_channels(request, steps, keys.size()) + clipping_in_words(scale) + made_with();
  return figure;
}

}  // namespace

FigureRecipe score_channels_recipe() {
  return {
      .name = "score-channels",
      .title = "Scores of one query, channel by channel",
      .source = "BertViz, Vig 2019",
      .question = FigureQuestion::scores,
      .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer"),
                   setting::whole("head", 0, {.minimum = 0}, "the head"),
                   setting::whole("query", 0, {.minimum = 0}, "the query, by its index"),
                   setting::whole("keys", 20, {1, 200}, "how many keys, those of greatest weight"),
                   colour_map_setting("diverging"), norm_setting(), range_setting("full")},
      .needs = {.most = 1,
                .vectors = true,
                .tokens = false,
                .shows = [](const Subject& subject) { return has_score_terms(*subject.trace); },
                .missing = "needs softmax, adder or hashed attention and its queries and keys"},
      .make = make_score_channels};
}

}  // namespace attnscope
