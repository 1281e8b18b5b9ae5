// Figure of the model's answers if it stopped after each layer: layer × token for texts, layer ×
// class for images.
#include "analysis/lens/logit_lens.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

enum class LensShows { probability, final_answer, entropy, divergence };
constexpr EnumName<LensShows> lens_shows_names[] = {{LensShows::probability, "probability"},
                                                    {LensShows::final_answer, "final"},
                                                    {LensShows::entropy, "entropy"},
                                                    {LensShows::divergence, "divergence"}};

std::string scale_title(LensShows shows) {
  switch (shows) {
    case LensShows::probability:
      return "probability of the likeliest";
    case LensShows::final_answer:
      return "probability of the final answer";
    case LensShows::entropy:
      return "entropy (bits)";
    case LensShows::divergence:
      return "KL from the last layer (bits)";
  }
  return {};
}

double value_of_cell(const LensCell& cell, LensShows shows) {
  if (cell.likeliest.empty()) return std::nan("");
  switch (shows) {
    case LensShows::probability:
      return cell.likeliest.front().probability;
    case LensShows::final_answer:
      return cell.final_answer.probability;
    case LensShows::entropy:
      return cell.entropy;
    case LensShows::divergence:
      return cell.divergence;
  }
  return 0;
}

std::string depth_name(std::int64_t depth, std::int64_t first_layer) {
  return depth < 0 ? "in" : std::to_string(depth + first_layer);
}

std::string answer_text(const LensAnswer& answer) {
  return answer.label.empty() ? std::to_string(answer.index) : shown_text(answer.label);
}

/// An empty panel; the last depth is the top row, where the decision is.
Panel lens_panel(const LogitLens& lens, std::int64_t columns, std::int64_t first_layer) {
  Panel panel;
  panel.reversed_y = true;
  panel.x.minimum = panel.y.minimum = -0.5;
  panel.x.maximum = static_cast<double>(columns) - 0.5;
  const auto depths = std::ssize(lens.depths);
  panel.y.maximum = static_cast<double>(depths) - 0.5;
  const std::int64_t step = depths / 14 + 1;
  for (std::int64_t row = 0; row < depths; row += step) {
    const std::int64_t depth = lens.depths[static_cast<std::size_t>(depths - 1 - row)];
    panel.y.ticks.push_back({static_cast<double>(row), depth_name(depth, first_layer)});
  }
  panel.y.label = "after layer";
  panel.y.key = "depth from the top";
  return panel;
}

/// Dark text on light colours, light text on dark ones.
Colour type_on(double share) {
  return share > 0.55 ? Colour{20, 20, 20, 255} : Colour{245, 245, 245, 255};
}

class LensOfText {
 public:
  LensOfText(const FigureRequest& request, const LogitLens& lens)
      : request_(request), read_(request), lens_(lens) {
    const auto count = std::ssize(lens.places);
    const std::vector<std::int64_t> asked =
        read_.is("tokens", "last") ? last_tokens(count) : read_.indices("tokens", count);
    places_ = asked;
    for (const std::int64_t place : places_) {
      if (place < count) continue;
      throw Error(ErrorKind::usage, "the text has no such token")
          .about("tokens")
          .expected("0 to " + std::to_string(count - 1))
          .found(std::to_string(place));
    }
  }

  [[nodiscard]] Figure make() {
    const LensShows shows = read_.choice("show", lens_shows_names);
    Figure figure;
    const auto columns = std::ssize(places_), depths = std::ssize(lens_.depths);
    Panel panel = lens_panel(lens_, columns, request_.first_layer);
    HeatMap heat;
    heat.rows = depths;
    heat.columns = columns;
    for (std::int64_t row = 0; row < depths; ++row) {
      for (const std::int64_t place : places_) {
        heat.values.push_back(static_cast<float>(value_of_cell(cell(row, place), shows)));
      }
    }
    const HeatScale scale = heat_scale(read_, heat.values, scale_title(shows));
    const double cell_mm = (request_.width_mm - 24) / static_cast<double>(columns);
    const std::vector<float> values = heat.values;
    panel.marks.emplace_back(std::move(heat));
    for (std::int64_t row = 0; row < depths; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        add_word(panel, row, column, cell_mm, scale.scale,
                 values[static_cast<std::size_t>(row * columns + column)]);
      }
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::string& text =
          lens_.places[static_cast<std::size_t>(places_[static_cast<std::size_t>(column)])];
      panel.x.ticks.push_back({static_cast<double>(column), shown_text(text)});
    }
    panel.x.turned_ticks = true;
    panel.x.label = "token that is read";
    panel.x.key = "token";
    figure.panels.push_back(std::move(panel));
    figure.colour_scales.push_back(scale.scale);
    figure.height_mm = 26 + 4.2 * static_cast<double>(depths);
    figure.caption = "In each cell the likeliest next token if the model stopped there; colour: " +
                     scale_title(shows) + ". " + clipping_in_words(scale);
    return figure;
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> last_tokens(std::int64_t count) const {
    const auto room = static_cast<std::int64_t>((request_.width_mm - 24) / 7);
    std::vector<std::int64_t> list;
    for (std::int64_t place = std::max<std::int64_t>(0, count - room); place < count; ++place) {
      list.push_back(place);
    }
    return list;
  }

  [[nodiscard]] const LensCell& cell(std::int64_t row, std::int64_t place) const {
    return lens_.cells[lens_.depths.size() - 1 - static_cast<std::size_t>(row)]
                      [static_cast<std::size_t>(place)];
  }

  void add_word(Panel& panel, std::int64_t row, std::int64_t column, double cell_mm,
                const ColourScale& scale, float value) const {
    const LensCell& of = cell(row, places_[static_cast<std::size_t>(column)]);
    if (of.likeliest.empty()) return;
    constexpr double size_pt = 7, mm_of_em = 0.3528 * size_pt;
    const double span = scale.maximum - scale.minimum;
    const double share = span > 0 ? (static_cast<double>(value) - scale.minimum) / span : 0;
    panel.marks.emplace_back(
        TextMark{.x = static_cast<double>(column),
                 .y = static_cast<double>(row),
                 .text = elided(answer_text(of.likeliest.front()), 0.95 * cell_mm / mm_of_em),
                 .colour = type_on(share)});
  }

  const FigureRequest& request_;
  Settings read_;
  const LogitLens& lens_;
  std::vector<std::int64_t> places_;
};

/// Classes that are among the most probable at any depth, those of the last depths first.
std::vector<std::int64_t> classes_shown(const LogitLens& lens, std::size_t most) {
  std::vector<std::int64_t> shown;
  for (auto row = lens.cells.rbegin(); row != lens.cells.rend(); ++row) {
    for (std::size_t i = 0; i < std::min<std::size_t>(row->front().likeliest.size(), most); ++i) {
      const std::int64_t index = row->front().likeliest[i].index;
      if (std::ranges::find(shown, index) == shown.end() && shown.size() < most) {
        shown.push_back(index);
      }
    }
  }
  return shown;
}

Figure lens_of_classes(const FigureRequest& request, const LogitLens& lens) {
  const Settings read(request);
  const std::vector<std::int64_t> classes =
      classes_shown(lens, static_cast<std::size_t>(read.whole("classes")));
  Figure figure;
  const auto depths = std::ssize(lens.depths);
  Panel panel = lens_panel(lens, std::ssize(classes), request.first_layer);
  HeatMap heat;
  heat.rows = depths;
  heat.columns = std::ssize(classes);
  std::vector<std::string> names(classes.size());
  for (std::int64_t row = 0; row < depths; ++row) {
    const LensCell& cell = lens.cells[static_cast<std::size_t>(depths - 1 - row)].front();
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const auto found = std::ranges::find(cell.likeliest, classes[i], &LensAnswer::index);
      const bool known = found != cell.likeliest.end();
      heat.values.push_back(known ? static_cast<float>(found->probability) : std::nanf(""));
      if (known) names[i] = answer_text(*found);
    }
  }
  const HeatScale scale = heat_scale(read, heat.values, "probability");
  panel.marks.emplace_back(std::move(heat));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    panel.x.ticks.push_back({static_cast<double>(i), elided(names[i], 12)});
  }
  panel.x.turned_ticks = true;
  panel.x.label = "class";
  panel.x.key = "class";
  figure.panels.push_back(std::move(panel));
  figure.colour_scales.push_back(scale.scale);
  figure.height_mm = 34 + 4.2 * static_cast<double>(depths);
  figure.caption = "Probabilities of the classes if the model stopped after each layer. " +
                   clipping_in_words(scale);
  return figure;
}

Figure make_logit_lens(const FigureRequest& request, const Progress& progress) {
  // All probabilities are needed for classes; the most probable token suffices for a vocabulary.
  constexpr std::size_t all_classes = 100'000;
  const Subject& subject = request.subjects.front();
  const bool tokens =
      subject.model != nullptr && subject.model->spec().readout.gives_token_logits();
  const LogitLens lens = logit_lens(subject, tokens ? 1 : all_classes, -1, progress);
  Figure figure =
      lens.of_tokens ? LensOfText(request, lens).make() : lens_of_classes(request, lens);
  figure.caption +=
      "Logit lens: the last norm and the head applied to the tokens after each layer "
      "(in: before the first). " +
      subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe logit_lens_recipe() {
  return {
      .name = "logit-lens",
      .title = "What the model would answer after each layer",
      .source = "nostalgebraist 2020",
      .question = FigureQuestion::answer,
      .settings = {setting::choice(
                       "show", names_of(lens_shows_names), "probability",
                       "quantity that colours a text's cells: the probability of the likeliest or "
                       "of the final answer, the entropy, or the divergence from the last layer"),
                   indices_setting("tokens", "tokens of a text; last: as many as have room")
                       .or_word({"last"})
                       .by_default("last"),
                   setting::whole("classes", 10, {1, 1000}, "how many classes at most"),
                   colour_map_setting(), norm_setting(), range_setting("full")},
      .needs = {.subject = SubjectNeed::run,
                .most = 1,
                .shows = gives_answers,
                .missing = "needs a model with a head, run on an input"},
      .make = make_logit_lens};
}

}  // namespace attnscope
