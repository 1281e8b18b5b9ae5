// Figure of each head's contribution to the answer, layer × head, next to that of the rest of each
// layer.
#include "analysis/lens/logit_attribution.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/ticks.h"
#include "analysis/intervention/target_name.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::string target_text(const LogitAttribution& found) {
  return found.label.empty() ? std::to_string(found.target) : "\"" + shown_text(found.label) + "\"";
}

/// The contributions of the heads, then of the rest of the layer.
HeatMap attribution_heat(const LogitAttribution& found) {
  HeatMap heat;
  heat.rows = found.heads.rows();
  heat.columns = found.heads.cols() + 1;
  for (Eigen::Index layer = 0; layer < found.heads.rows(); ++layer) {
    for (Eigen::Index head = 0; head < found.heads.cols(); ++head) {
      heat.values.push_back(static_cast<float>(found.heads(layer, head)));
    }
    const auto at = static_cast<std::size_t>(layer);
    heat.values.push_back(static_cast<float>(found.rest[at] + found.biases[at]));
  }
  return heat;
}

Figure make_logit_attribution(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const Subject& subject = request.subjects.front();
  const std::int64_t target = read.is("target", "likeliest")
                                  ? -1
                                  : target_named(*subject.trace, read.text("target"), "target");
  const std::int64_t place = read.is("place", "end") ? -1 : read.whole("place");
  const LogitAttribution found = logit_attribution(subject, target, place);
  Figure figure;
  Panel panel;
  panel.reversed_y = true;
  HeatMap heat = attribution_heat(found);
  panel.x.minimum = panel.y.minimum = -0.5;
  panel.x.maximum = static_cast<double>(heat.columns) - 0.5;
  panel.y.maximum = static_cast<double>(heat.rows) - 0.5;
  panel.x.ticks = layer_ticks(heat.columns - 1);
  panel.x.ticks.push_back({static_cast<double>(heat.columns - 1), "rest"});
  for (const Tick& tick : layer_ticks(heat.rows)) {
    panel.y.ticks.push_back(
        {tick.value, std::to_string(static_cast<std::int64_t>(tick.value) + request.first_layer)});
  }
  panel.x.key = "head";
  panel.y.key = "layer";
  panel.x.label = "head; rest: MLP and biases";
  panel.y.label = "layer";
  const HeatScale scale = heat_scale(read, heat.values, "share of the logit");
  panel.keys = {{"model", subject.label}};
  panel.marks.emplace_back(std::move(heat));
  figure.panels.push_back(std::move(panel));
  figure.colour_scales.push_back(scale.scale);
  figure.numbers["logit"] = {found.logit};
  figure.numbers["embedding"] = {found.embedding};
  figure.numbers["constant"] = {found.constant};
  figure.height_mm = 14 + std::clamp(2.8 * static_cast<double>(found.heads.rows()), 22.0, 60.0);
  figure.caption = "What each head adds to the logit of " + target_text(found) +
                   (found.place >= 0 ? " at token " + std::to_string(found.place) : "") + " (" +
                   rounded_text(found.logit, 4) +
                   "), with the statistics of the last norm held fast: (A^h v^h "
                   "W_O^h) / s ⊙ weight · w. Besides: " +
                   rounded_text(found.embedding, 3) + " of the embedding, " +
                   rounded_text(found.constant, 3) + " of biases of norm and head. " +
                   clipping_in_words(scale) + subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe logit_attribution_recipe() {
  return {
      .name = "logit-attribution",
      .title = "Which heads write the answer",
      .source = "Elhage et al. 2021",
      .question = FigureQuestion::answer,
      .settings = {setting::text("target", "likeliest", "the class or token, by its index or name"),
                   setting::whole("place", 0, {.minimum = 0},
                                  "token of a text after which the logit is read")
                       .or_word({"end"})
                       .by_default("end"),
                   colour_map_setting("diverging"), norm_setting(), range_setting("full")},
      .needs = {.most = 1,
                .vectors = true,
                .shows = gives_answers,
                .missing = "needs a pre-norm model with a head, run on an input"},
      .make = make_logit_attribution};
}

}  // namespace attnscope
