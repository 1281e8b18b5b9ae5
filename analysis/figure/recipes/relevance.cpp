// Figure of the relevance of tokens for an answer, from gradients, over the image or the text.
#include "analysis/relevance/relevance.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/recipes/text_heat.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/intervention/target_name.h"
#include "core/error.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

struct RelevantTokens {
  const Subject* subject = nullptr;
  std::string label;  ///< label of the subject; empty if there is only one
  TokenRelevance relevance;
};

std::string answer_named(const TokenRelevance& relevance) {
  return relevance.label.empty() ? std::to_string(relevance.target) : shown_text(relevance.label);
}

/// Relevance of the grid's cells in multiples of their mean; NaN if all are 0.
HeatMap relevance_of_cells(const RelevantTokens& one) {
  const TokenLayout& layout = one.subject->trace->layout;
  HeatMap heat;
  heat.rows = layout.rows;
  heat.columns = layout.columns;
  const auto cells = static_cast<std::size_t>(layout.rows * layout.columns);
  const auto first = static_cast<std::size_t>(layout.prefix);
  double sum = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) sum += one.relevance.tokens.at(first + cell);
  const double mean = sum / static_cast<double>(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    heat.values.push_back(mean > 0 ? static_cast<float>(one.relevance.tokens[first + cell] / mean)
                                   : std::nanf(""));
  }
  return heat;
}

/// Relevance without the token's own initial 1; NaN for tokens that a causal model does not attend
/// to.
std::vector<double> given_by_attention(const RelevantTokens& one) {
  std::vector<double> weights = one.relevance.tokens;
  if (one.relevance.place < 0) return weights;
  const auto place = static_cast<std::size_t>(one.relevance.place);
  weights[place] -= 1;
  if (!one.subject->trace->causal) return weights;
  std::fill(weights.begin() + static_cast<std::ptrdiff_t>(place) + 1, weights.end(), std::nan(""));
  return weights;
}

bool is_over_image(const std::vector<RelevantTokens>& all) {
  const bool image = all.front().subject->trace->layout.has_grid();
  for (const RelevantTokens& one : all) {
    if (one.subject->trace->layout.has_grid() == image) continue;
    throw Error(ErrorKind::usage, "images and texts cannot share a figure")
        .about(one.subject->label);
  }
  return image;
}

HeatScale draw_over_images(Figure& figure, const Settings& read,
                           const std::vector<RelevantTokens>& all, std::int64_t columns,
                           double width_mm) {
  std::vector<float> values;
  const double opacity = read.number("opacity");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RelevantTokens& one = all[i];
    const auto at = static_cast<std::int64_t>(i);
    Panel panel = map_panel(at / columns, at % columns);
    panel.keys = {{"model", one.subject->label}, {"class", answer_named(one.relevance)}};
    panel.title = answer_named(one.relevance);
    if (at % columns == 0) panel.y.label = one.label;
    HeatMap heat = relevance_of_cells(one);
    if (one.subject->trace->image()) {
      panel.marks.emplace_back(Picture{*one.subject->trace->image()});
      heat.opacity = opacity;
    }
    values.insert(values.end(), heat.values.begin(), heat.values.end());
    panel.marks.emplace_back(std::move(heat));
    figure.panels.push_back(std::move(panel));
  }
  HeatScale scale = heat_scale(read, std::move(values), "relevance (1 = even)");
  figure.colour_scales.push_back(scale.scale);
  const TokenLayout& layout = all.front().subject->trace->layout;
  finish_map_grid(
      figure,
      {.rows = (std::ssize(all) + columns - 1) / columns,
       .columns = columns,
       .aspect = static_cast<double>(layout.rows) / static_cast<double>(layout.columns)},
      width_mm);
  return scale;
}

HeatScale draw_over_texts(Figure& figure, const Settings& read,
                          const std::vector<RelevantTokens>& all, double width_mm) {
  std::vector<float> values;
  for (const RelevantTokens& one : all) {
    for (const double value : given_by_attention(one)) {
      values.push_back(static_cast<float>(value));
    }
  }
  HeatScale scale = heat_scale(read, std::move(values), "relevance");
  figure.colour_scales.push_back(scale.scale);
  const std::size_t columns = signs_across(width_mm, figure.font_size_pt);
  figure.height_mm = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RelevantTokens& one = all[i];
    Panel panel =
        text_heat_panel(one.subject->trace->layout, given_by_attention(one), columns, scale.scale);
    panel.row = static_cast<std::int64_t>(i);
    panel.keys = {{"model", one.subject->label}, {"token", answer_named(one.relevance)}};
    panel.title = (one.label.empty() ? "" : one.label + ", ") + std::string("\"") +
                  answer_named(one.relevance) + "\" after token " +
                  std::to_string(one.relevance.place);
    figure.height_mm += text_heat_height_mm(panel, figure.font_size_pt);
    figure.panels.push_back(std::move(panel));
  }
  // A bar as high as one line has no space for its numbers.
  constexpr double least_mm = 20;
  figure.height_mm = std::max(figure.height_mm, least_mm);
  ColourScale& shown = figure.colour_scales.front();
  shown.label = fitted(shown.label, figure.height_mm - 5.5, figure.font_size_pt);
  return scale;
}

Figure make_relevance(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const std::int64_t place = read.is("place", "end") ? -1 : read.whole("place");
  const std::vector<std::string> labels = short_labels(request);
  std::vector<RelevantTokens> all;
  std::int64_t columns = 1;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    const std::vector<std::int64_t> targets =
        read.is("targets", "likeliest")
            ? std::vector<std::int64_t>{-1}
            : targets_named(*subject.trace, read.text("targets"), "targets");
    columns = std::ssize(targets);
    for (TokenRelevance& found : token_relevance(subject, targets, place, progress.silent())) {
      all.push_back({&subject, request.subjects.size() > 1 ? labels[i] : "", std::move(found)});
    }
  }
  Figure figure;
  for (const RelevantTokens& one : all) {
    const std::string key = one.subject->label + "/" + answer_named(one.relevance);
    figure.numbers["relevance/" + key] = one.relevance.tokens;
    figure.numbers["logit/" + key] = {one.relevance.logit};
  }
  const bool over_image = is_over_image(all);
  const HeatScale scale = over_image
                              ? draw_over_images(figure, read, all, columns, request.width_mm)
                              : draw_over_texts(figure, read, all, request.width_mm);
  figure.caption =
      "Which " + std::string(over_image ? "patches" : "tokens") +
      " the answer rests on: R ← R + ĀR through all layers, Ā = mean over heads of max(0, ∇A ⊙ A), "
      "∇A the gradient of the " +
      (over_image ? "class's logit" : "token's logit") +
      (over_image ? ", relative to the mean over patches. "
                  : ", without the 1 that the token that is read has of itself. ") +
      subjects_in_words(request) + ". " + clipping_in_words(scale) + made_with();
  return figure;
}

}  // namespace

FigureRecipe relevance_recipe() {
  return {
      .name = "relevance",
      .title = "Which tokens an answer rests on",
      .source = "Chefer et al. 2021",
      .question = FigureQuestion::answer,
      .settings = {setting::text("targets", "likeliest",
                                 "classes or tokens, by index or name, each with its own map"),
                   setting::whole("place", 0, {.minimum = 0},
                                  "token of a text after which the logit is read")
                       .or_word({"end"})
                       .by_default("end"),
                   setting::number("opacity", 0.7, {0, 1}, "opacity of the colours over the image"),
                   colour_map_setting("magma"), norm_setting(), range_setting("full")},
      .needs = {.shows = gives_answers,
                .missing = "needs a model whose parts have a backward, run on an input"},
      .make = make_relevance};
}

}  // namespace attnscope
