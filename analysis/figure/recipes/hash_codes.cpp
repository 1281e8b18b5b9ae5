// Figure of the hash codes of one head, by kind of code, next to the attention that they imitate:
// columns are kinds, rows are views of the codes. Visualises EcoFormer's Table 5.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/hash_codes/code_statistics.h"
#include "analysis/hash_codes/report.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

enum class Row { tokens, affinity, distances, correlation, balance };
constexpr EnumName<Row> row_names[] = {{Row::tokens, "tokens"},
                                       {Row::affinity, "affinity"},
                                       {Row::distances, "distances"},
                                       {Row::correlation, "correlation"},
                                       {Row::balance, "balance"}};

constexpr double kWideMm = 130;  // minimum width for all rows

std::optional<std::int64_t> whole_or_auto(const Settings& read, std::string_view name) {
  if (read.is(name, "auto")) return std::nullopt;
  return read.whole(name);
}

std::vector<HashKind> kinds_of(const Settings& read) {
  std::vector<HashKind> kinds;
  for (const std::string& name : read.names("codes")) {
    kinds.push_back(hash_kind(name));
    if (std::count(kinds.begin(), kinds.end(), kinds.back()) > 1) {
      throw Error(ErrorKind::usage, "a kind of hash code is named twice")
          .about("codes")
          .expected("each once")
          .found("'" + read.written("codes") + "'");
    }
  }
  return kinds;
}

std::vector<Row> histogram_rows(const Settings& read, double width_mm) {
  if (read.is("show", "auto") && width_mm < kWideMm) return {Row::tokens, Row::distances};
  std::vector<Row> rows;
  if (read.is("show", "all") || read.is("show", "auto")) {
    for (const EnumName<Row>& row : row_names) rows.push_back(row.value);
    return rows;
  }
  for (const std::string& name : read.names("show")) {
    rows.push_back(value_of(row_names, name, "row"));
  }
  return rows;
}

std::string kind_title(HashKind kind) {
  switch (kind) {
    case HashKind::learned:
      return "learned";
    case HashKind::klsh:
      return "KLSH";
    case HashKind::lsh:
      return "LSH";
    case HashKind::sign:
      return "signs";
  }
  return {};
}

HeatMap code_picture(const Matrix& values, std::size_t scale) {
  HeatMap map;
  map.rows = values.rows();
  map.columns = values.cols();
  map.values.assign(values.data(), values.data() + values.size());
  map.colour_scale = scale;
  return map;
}

class HashCodesFigure {
 public:
  HashCodesFigure(const FigureRequest& request, const HashCodesReport& report, const Settings& read,
                  std::vector<Row> rows)
      : subject_(request.subjects.front()),
        first_layer_(request.first_layer),
        report_(report),
        rows_(std::move(rows)) {
    const std::vector<float> values(report.attention.data(),
                                    report.attention.data() + report.attention.size());
    attention_ = heat_scale(read, values, "attention");
    with_reference_ = request.width_mm >= kWideMm || report.kinds.size() < 3;
  }

  Figure make(double width_mm) {
    for (std::size_t line = 0; line < rows_.size(); ++line) {
      line_ = static_cast<std::int64_t>(line);
      if (with_reference_) add_reference(rows_[line]);
      for (std::size_t i = 0; i < report_.kinds.size(); ++i) {
        Panel panel = panel_of(rows_[line], report_.kinds[i], i == 0);
        if (line == 0) {
          const std::string top = kind_title(report_.kinds[i].kind);
          panel.title = panel.title.empty() ? top : top + ", " + panel.title;
        }
        panel.keys = {{"codes", kind_title(report_.kinds[i].kind)}};
        add(std::move(panel), static_cast<std::int64_t>(i) + (with_reference_ ? 1 : 0));
      }
    }
    add_numbers();
    finish(width_mm);
    return std::move(figure_);
  }

 private:
  void add(Panel panel, std::int64_t column) {
    panel.row = line_;
    panel.column = column;
    figure_.panels.push_back(std::move(panel));
  }

  std::size_t scale_of(const ColourScale& scale) {
    for (std::size_t i = 0; i < figure_.colour_scales.size(); ++i) {
      if (figure_.colour_scales[i].label == scale.label) return i;
    }
    figure_.colour_scales.push_back(scale);
    return figure_.colour_scales.size() - 1;
  }

  std::size_t diverging_scale(const char* label) {
    return scale_of({.label = label, .colour_map = "diverging", .minimum = -1, .maximum = 1});
  }

  /// Adds the first column: the input and the attention, and measures of all kinds.
  void add_reference(Row row) {
    switch (row) {
      case Row::tokens:
        return add_image();
      case Row::affinity: {
        Panel panel = map_panel(0, 0);
        panel.title = "attention";
        panel.marks.emplace_back(code_picture(report_.attention, scale_of(attention_.scale)));
        return add(std::move(panel), 0);
      }
      case Row::distances:
        return add_measure("AUC", 0, 1,
                           [](const CodesOfKind& codes) { return codes.distances.auc; });
      case Row::correlation:
        return add_measure("entropy, bits", 0, greatest_entropy(),
                           [](const CodesOfKind& codes) { return codes.statistics.entropy; });
      case Row::balance:
        return add_measure("error", 0, greatest_error(),
                           [](const CodesOfKind& codes) { return codes.error; });
    }
  }

  void add_image() {
    if (!subject_.trace || !subject_.trace->image() || !report_.layout.has_grid()) return;
    Panel panel = map_panel(0, 0);
    panel.title = line_ == 0 ? "input" : "";
    panel.marks.emplace_back(Picture{*subject_.trace->image()});
    add(std::move(panel), 0);
  }

  [[nodiscard]] double greatest_entropy() const {
    double greatest = 1;
    for (const CodesOfKind& codes : report_.kinds) {
      greatest = std::max(greatest, codes.statistics.greatest_entropy);
    }
    return greatest;
  }

  [[nodiscard]] double greatest_error() const {
    double greatest = 1;
    for (const CodesOfKind& codes : report_.kinds) greatest = std::max(greatest, codes.error);
    return greatest * 1.05;
  }

  /// Adds a panel with one dot per kind, with the kinds' names at the left.
  template <class Measure>
  void add_measure(const std::string& label, double least, double most, const Measure& measure) {
    Panel panel;
    Line dots;
    dots.style = LineStyle::none;
    dots.marker = MarkerShape::circle;
    dots.colour = subject_colour(0);
    for (std::size_t i = 0; i < report_.kinds.size(); ++i) {
      const auto y = static_cast<double>(i);
      panel.y.ticks.push_back({y, kind_title(report_.kinds[i].kind)});
      dots.x.push_back(measure(report_.kinds[i]));
      dots.y.push_back(y);
    }
    panel.x.label = label;
    panel.x.minimum = least;
    // Margin, so that a dot at the end is not clipped.
    panel.x.maximum = most + 0.06 * (most - least);
    panel.x.ticks = {{least, rounded_text(least, 2)}, {most, rounded_text(most, 2)}};
    panel.y.minimum = -0.6;
    panel.y.maximum = static_cast<double>(report_.kinds.size()) - 0.4;
    panel.reversed_y = true;
    if (label == "AUC")
      panel.marks.emplace_back(Rule{0.5, true, "", neutral_colour, LineStyle::dotted});
    panel.marks.emplace_back(std::move(dots));
    add(std::move(panel), 0);
  }

  Panel panel_of(Row row, const CodesOfKind& codes, bool first) {
    switch (row) {
      case Row::tokens:
        return tokens_panel(codes);
      case Row::affinity: {
        Panel panel = map_panel(0, 0);
        // Products of signs without scale factors, so that all kinds share one scale.
        const Matrix products = codes.queries.signs * codes.keys.signs.transpose() /
                                static_cast<float>(codes.queries.bits());
        panel.marks.emplace_back(code_picture(products, diverging_scale("affinity h·h′ / b")));
        return panel;
      }
      case Row::distances:
        return distances_panel(codes, first);
      case Row::correlation: {
        Panel panel = map_panel(0, 0);
        panel.marks.emplace_back(code_picture(codes.statistics.correlation.cast<float>(),
                                              diverging_scale("correlation of bits")));
        return panel;
      }
      case Row::balance:
        return balance_panel(codes, first);
    }
    return {};
  }

  [[nodiscard]] Panel tokens_panel(const CodesOfKind& codes) const {
    Panel panel = map_panel(0, 0);
    const TokenLayout& layout = report_.layout;
    const bool grid = layout.is_grid_of(codes.queries.tokens());
    // Tokens without a grid form a row.
    Image image{grid ? layout.columns : codes.queries.tokens(), grid ? layout.rows : 1, 3, {}};
    const std::vector<Colour> colours = code_colours(codes.queries);
    for (std::size_t i = grid ? static_cast<std::size_t>(layout.prefix) : 0; i < colours.size();
         ++i) {
      for (const std::uint8_t part : {colours[i].red, colours[i].green, colours[i].blue}) {
        image.pixels.push_back(part);
      }
    }
    panel.marks.emplace_back(Picture{std::move(image)});
    panel.x.label = std::to_string(codes.statistics.distinct) +
                    (codes.statistics.distinct == 1 ? " code" : " codes");
    return panel;
  }

  [[nodiscard]] static Panel distances_panel(const CodesOfKind& codes, bool first) {
    Panel panel;
    panel.title = "AUC " + fixed_text(codes.distances.auc, 3);
    const auto add = [&](const std::vector<std::int64_t>& counts, const char* label,
                         std::size_t colour, LineStyle style) {
      Line line;
      line.label = label;
      line.colour = subject_colour(colour);
      line.style = style;
      double all = 0;
      for (const std::int64_t count : counts) all += static_cast<double>(count);
      for (std::size_t distance = 0; distance < counts.size(); ++distance) {
        line.x.push_back(static_cast<double>(distance));
        line.y.push_back(all > 0 ? static_cast<double>(counts[distance]) / all : 0);
      }
      panel.marks.emplace_back(std::move(line));
    };
    add(codes.distances.similar, "similar", 0, LineStyle::solid);
    add(codes.distances.dissimilar, "dissimilar", 1, LineStyle::dashed);
    const auto bits = static_cast<double>(codes.queries.bits());
    panel.x.label = "distance";
    panel.x.minimum = 0;
    panel.x.maximum = bits;
    panel.x.ticks = {{0, "0"}, {bits, std::to_string(codes.queries.bits())}};
    panel.y.minimum = 0;
    panel.y.visible = first;
    if (first) {
      panel.y.label = "share of pairs";
      panel.legend = LegendPosition::below;
    }
    return panel;
  }

  [[nodiscard]] static Panel balance_panel(const CodesOfKind& codes, bool first) {
    Panel panel;
    Bars bars;
    bars.colour = subject_colour(0);
    for (std::size_t bit = 0; bit < codes.statistics.balance.size(); ++bit) {
      bars.x.push_back(static_cast<double>(bit));
      bars.heights.push_back(codes.statistics.balance[bit]);
    }
    const auto last = static_cast<double>(codes.queries.bits() - 1);
    panel.x.label = "bit";
    panel.x.minimum = -0.7;
    panel.x.maximum = last + 0.7;
    panel.x.ticks = {{0, "0"}, {last, rounded_text(last)}};
    panel.y.minimum = 0;
    panel.y.maximum = 1;
    panel.y.ticks = {{0, "0"}, {0.5, "½"}, {1, "1"}};
    panel.y.visible = first;
    if (first) panel.y.label = "share set";
    panel.marks.emplace_back(std::move(bars));
    panel.marks.emplace_back(Rule{0.5, false, "", neutral_colour, LineStyle::dotted});
    return panel;
  }

  void add_numbers() {
    for (const CodesOfKind& codes : report_.kinds) {
      const std::string name(name_of(codes.kind));
      const auto put = [&](const char* what, std::vector<double> values) {
        figure_.numbers[std::string(what) + "/" + name] = std::move(values);
      };
      const auto counts = [](const std::vector<std::int64_t>& list) {
        return std::vector<double>(list.begin(), list.end());
      };
      put("auc", {codes.distances.auc});
      put("auc_against_all", {codes.distances.auc_against_all});
      put("reconstruction_error", {codes.error});
      put("distinct_codes", {static_cast<double>(codes.statistics.distinct)});
      put("tokens_of_the_commonest", {static_cast<double>(codes.statistics.commonest)});
      put("entropy_bits", {codes.statistics.entropy});
      put("greatest_entropy_bits", {codes.statistics.greatest_entropy});
      put("balance", codes.statistics.balance);
      put("similar_pairs_by_distance", counts(codes.distances.similar));
      put("dissimilar_pairs_by_distance", counts(codes.distances.dissimilar));
      put("code_of_token", counts(code_ranks(codes.queries)));
    }
  }

  void finish(double width_mm) {
    const double text_mm = figure_.font_size_pt * 25.4 / 72 * 1.4;
    const auto columns = static_cast<double>(report_.kinds.size() + (with_reference_ ? 1 : 0));
    const double frame = std::max(6.0, (width_mm - 16 - 2 * columns) / columns - 2);
    figure_.height_mm = text_mm;
    for (const Row row : rows_) {
      const bool has_axes = row == Row::distances || row == Row::balance;
      const bool has_measure = row == Row::correlation;
      figure_.height_mm += frame + 2.2 + (row == Row::tokens ? text_mm : 0) +
                           (has_axes || has_measure ? 2.4 * text_mm : 0) +
                           (row == Row::distances ? 2.4 * text_mm : 0);
    }
    figure_.title = "Hash codes";
    figure_.caption = caption();
  }

  [[nodiscard]] std::string caption() const {
    std::string text = "Binary codes of the tokens at layer " +
                       std::to_string(report_.layer + first_layer_) + ", head " +
                       std::to_string(report_.head) + " of " + subject_.label +
                       ": b = " + std::to_string(report_.bits) +
                       " bits, m = " + std::to_string(report_.supports) + " supports. ";
    for (const CodesOfKind& codes : report_.kinds) {
      if (codes.kind == HashKind::learned) {
        if (!codes.own) {
          text +=
              "Learned codes were learned here from this head's own attention (EcoFormer, Eq. 12 "
              "to "
              "14). ";
        } else {
          text += subject_.parameters ? "Learned codes are those laid over the model. "
                                      : "Learned codes are the model's own. ";
        }
      }
      if (codes.kind == HashKind::sign) {
        text +=
            "Signs have " + std::to_string(codes.queries.bits()) + " bits, one a channel (Eq. 5). ";
      }
    }
    if (!report_.shared) {
      text += "Queries and keys have the same hash; tokens are coloured by the queries' codes. ";
    }
    text +=
        "Equal colours are equal codes, like colours near ones. Similar and dissimilar are the " +
        std::to_string(report_.pairs) +
        " keys that a query attends to most and least; distance is Hamming's, AUC the chance that "
        "a similar pair is "
        "nearer than a dissimilar one. Error: ‖HHᵀ − bY‖² / ‖bY‖², 0 if Y is met exactly, 1 for "
        "codes of zeros, " +
        rounded_text(report_.error_of_chance, 3) + " on average for independent random bits. ";
    text += "Against all keys that are not similar AUC is ";
    for (std::size_t i = 0; i < report_.kinds.size(); ++i) {
      const CodesOfKind& codes = report_.kinds[i];
      text += (i == 0 ? "" : ", ") + rounded_text(codes.distances.auc_against_all, 3) + " (" +
              kind_title(codes.kind) + ")";
    }
    text += ". ";
    const bool far = std::ranges::any_of(report_.kinds, [](const CodesOfKind& codes) {
      return codes.kind == HashKind::learned && codes.error > kErrorOfZeros;
    });
    if (far) {
      text += "The learned codes miss Y by more than codes of zeros: more pairs or bits help. ";
    }
    return text + clipping_in_words(attention_) + made_with();
  }

  const Subject& subject_;
  std::int64_t first_layer_;
  const HashCodesReport& report_;
  std::vector<Row> rows_;
  Figure figure_;
  HeatScale attention_;
  std::int64_t line_ = 0;
  /// True if the first column is shown, which needs a wide figure: each kind also has its own
  /// measures above its panels.
  bool with_reference_ = true;
};

Figure make_hash_codes(const FigureRequest& request, const Progress& progress) {
  const Subject& subject = request.subjects.front();
  if (!subject.trace || subject.trace->layers.empty()) {
    throw Error(ErrorKind::usage, "the model has not run on an input").about(subject.label);
  }
  const Settings read(request);
  HashCodesRequest wanted;
  const auto layers = static_cast<std::int64_t>(subject.trace->layers.size());
  wanted.layer = *read.index("layer", layers);
  const ImpliedMaps& maps =
      subject.trace->layers[static_cast<std::size_t>(wanted.layer)].implied_map;
  wanted.head = *read.index("head", maps.empty() ? 1 : maps.extent(0));
  wanted.kinds = kinds_of(read);
  wanted.bits = whole_or_auto(read, "bits");
  wanted.supports = whole_or_auto(read, "supports");
  wanted.pairs = whole_or_auto(read, "pairs");
  std::vector<Row> rows = histogram_rows(read, request.width_mm);
  const HashCodesReport report = hash_codes_report(subject, wanted, progress);
  return HashCodesFigure(request, report, read, std::move(rows)).make(request.width_mm);
}

}  // namespace

FigureRecipe hash_codes_recipe() {
  return {
      .name = "hash-codes",
      .title = "Hash codes",
      .source = "EcoFormer, Section 4 and Table 5",
      .question = FigureQuestion::maps,
      .has_panel = true,
      .settings = {setting::whole("layer", 0, {.minimum = 0}, "the layer"),
                   setting::whole("head", 0, {.minimum = 0}, "the head"),
                   setting::names("codes", names_of(hash_kind_names), names_of(hash_kind_names),
                                  "ways to make codes"),
                   setting::whole("bits", 16, {1, 64}, "b; auto: the model's own, else 16")
                       .or_word({"auto"})
                       .by_default("auto"),
                   setting::whole("supports", 25, {1, 4096},
                                  "m, at most the number of tokens; auto: the model's own, else 25")
                       .or_word({"auto"})
                       .by_default("auto"),
                   setting::whole("pairs", 10, {1, 1'000'000},
                                  "l, similar and dissimilar keys of each query; auto: 10")
                       .or_word({"auto"})
                       .by_default("auto"),
                   setting::names("show", names_of(row_names), {},
                                  "rows; auto: all from 130 mm on, else tokens and distances")
                       .or_word({"auto", "all"})
                       .by_default("auto"),
                   colour_map_setting(), norm_setting(), range_setting()},
      .needs = {.subject = SubjectNeed::run, .most = 1},
      .make = make_hash_codes};
}

}  // namespace attnscope
