#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/reports.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// One depth and token position of a lens.
struct LensRow {
  std::int64_t depth = -1;  ///< layer; −1 before the first
  std::size_t place = 0;
  const LensCell* cell = nullptr;
};

std::string depth_in_words(std::int64_t depth) { return depth < 0 ? "in" : std::to_string(depth); }

std::string answer_in_words(const LensAnswer& answer) {
  return answer.label.empty() ? std::to_string(answer.index) : shown_text(answer.label);
}

/// "Bag (93.1 %) Sandal (2.0 %); Boot 0.3 %": the likeliest answers, and the target.
std::string answers_in_words(const LensCell& cell) {
  std::string words;
  for (const LensAnswer& answer : cell.likeliest) {
    words += (words.empty() ? "" : " ") + answer_in_words(answer) + " (" +
             fixed_text(100 * answer.probability, 1) + " %)";
  }
  if (cell.target.index >= 0) {
    words += "; " + answer_in_words(cell.target) + " " +
             fixed_text(100 * cell.target.probability, 1) + " %";
  }
  return words;
}

/// The answers of a cell, in CSV with their ranks from 1.
Report lens_answers_report(const std::vector<LensAnswer>& answers) {
  ReportColumn rank = csv_only("rank");
  rank.value = [](std::size_t row) { return static_cast<std::int64_t>(row) + 1; };
  Report report =
      report_of<LensAnswer>(answers, {{{.name = "index"}, &LensAnswer::index},
                                      {{.name = "label"}, &LensAnswer::label},
                                      {{.name = "logit"}, &LensAnswer::logit},
                                      {{.name = "probability"}, &LensAnswer::probability}});
  report.columns.insert(report.columns.begin(), std::move(rank));
  return report;
}

ReportValue target_cell(const LensAnswer& target) {
  if (target.index < 0) return {};
  return json_cell(report_as_json(lens_answers_report({target})).front());
}

/// A value of a row whose answers are finite.
template <class Value>
auto if_finite(Value LensCell::*member) {
  return [member](const LensRow& row) {
    return known_if(!row.cell->likeliest.empty(), row.cell->*member);
  };
}

}  // namespace

Report lens_report(const LogitLens& lens, std::optional<std::size_t> place) {
  std::vector<LensRow> rows;
  for (std::size_t depth = 0; depth < lens.depths.size(); ++depth) {
    for (std::size_t at = 0; at < lens.cells[depth].size(); ++at) {
      if (!place || *place == at) {
        rows.push_back({lens.depths[depth], at, &lens.cells[depth][at]});
      }
    }
  }
  using Row = LensRow;
  const bool shows_places = lens.of_tokens && !place;
  const auto token = [&lens](const Row& row) {
    return lens.of_tokens ? ReportValue(lens.places[row.place]) : ReportValue();
  };
  ReportColumn answers = csv_only("answers");
  answers.table = std::make_shared<const Report>(lens_answers_report({}));
  return report_of<Row>(
      std::move(rows),
      {{{.name = "layer", .title = "layer", .width = 5, .words_in_csv = true},
        [](const Row& row) { return if_any(row.depth); },
        [](const Row& row) { return depth_in_words(row.depth); }},
       {csv_only("place"), [](const Row& row) { return static_cast<std::int64_t>(row.place); }},
       {{.name = "place", .title = shows_places ? "place" : "", .csv = false},
        [of_tokens = lens.of_tokens](const Row& row) {
          return known_if(of_tokens, static_cast<std::int64_t>(row.place));
        }},
       {{.name = "token", .title = shows_places ? "token" : "", .left = true, .csv = false},
        token,
        [&lens](const Row& row) {
          return lens.of_tokens ? shown_text(lens.places[row.place]) : std::string();
        }},
       {std::move(answers),
        [](const Row& row) { return table_cell(lens_answers_report(row.cell->likeliest)); }},
       {{.name = "likeliest", .csv = false},
        [](const Row& row) { return table_cell(lens_answers_report(row.cell->likeliest)); }},
       {{.name = "target", .csv = false},
        [](const Row& row) { return target_cell(row.cell->target); }},
       {{.name = "entropy",
         .title = "entropy",
         .unit = "bits",
         .formula = "−Σ p_l log₂ p_l of the answer after layer l",
         .width = 10,
         .decimals = 3},
        if_finite(&LensCell::entropy)},
       {{.name = "divergence",
         .title = "KL to last",
         .unit = "bits",
         .formula = "Σ p_L log₂(p_L / p_l), with the model's own answer p_L",
         .width = 13,
         .decimals = 3},
        if_finite(&LensCell::divergence)},
       {{.title = "likeliest", .left = true}, nullptr, [](const Row& row) {
          return answers_in_words(*row.cell);
        }}});
}

Report logit_layers_report(const LogitAttribution& found, const std::vector<std::int64_t>& heads) {
  const auto layer_of = [](std::size_t row) { return static_cast<std::int64_t>(row); };
  Report report = {{}, static_cast<std::size_t>(found.heads.rows())};
  report.columns.push_back({.name = "layer", .title = "layer", .width = 5, .value = layer_of});
  for (const std::int64_t head : heads) {
    report.columns.push_back({.title = "head " + std::to_string(head),
                              .width = 9,
                              .decimals = 4,
                              .value = [&found, head, layer_of](std::size_t row) {
                                return found.heads(layer_of(row), head);
                              }});
  }
  ReportColumn parts = json_only("heads");
  parts.value = [&found, heads, layer_of](std::size_t row) {
    nlohmann::ordered_json known = nlohmann::ordered_json::array();
    for (const std::int64_t head : heads) {
      const double part = found.heads(layer_of(row), head);
      if (!std::isnan(part)) known.push_back(part);
    }
    return json_cell(known);
  };
  report.columns.push_back(std::move(parts));
  report.columns.push_back({.name = "bias",
                            .title = "bias",
                            .width = 9,
                            .decimals = 4,
                            .value = [&found](std::size_t row) { return found.biases[row]; }});
  report.columns.push_back({.name = "rest",
                            .title = "rest",
                            .width = 10,
                            .decimals = 4,
                            .value = [&found](std::size_t row) { return found.rest[row]; }});
  return report;
}

Report logit_parts_report(const LogitAttribution& found, const std::vector<std::int64_t>& heads) {
  struct Part {
    std::int64_t layer;
    std::string name;
    double logit;
  };
  std::vector<Part> parts = {{-1, "embedding", found.embedding}, {-1, "constant", found.constant}};
  for (Eigen::Index layer = 0; layer < found.heads.rows(); ++layer) {
    for (const std::int64_t head : heads) {
      parts.push_back({layer, "head " + std::to_string(head), found.heads(layer, head)});
    }
    const auto at = static_cast<std::size_t>(layer);
    parts.push_back({layer, "bias", found.biases[at]});
    parts.push_back({layer, "rest", found.rest[at]});
  }
  return report_of<Part>(
      std::move(parts),
      {{{.name = "target", .json = false}, [target = found.target](const Part&) { return target; }},
       {{.name = "layer", .title = "layer", .width = 5}, if_any(&Part::layer)},
       {{.name = "part", .title = "part", .left = true}, &Part::name},
       {{.name = "logit",
         .title = "logit",
         .formula = "contribution to the logit, with the last norm's statistics fixed",
         .width = 11,
         .decimals = 4},
        &Part::logit}});
}

std::string attribution_in_words(const LogitAttribution& found) {
  return "logit of " + std::to_string(found.target) +
         (found.label.empty() ? "" : " \"" + shown_text(found.label) + "\"") +
         (found.place < 0 ? "" : " after token " + std::to_string(found.place)) + ": " +
         rounded_text(found.logit, 5) + "\nembedding " + rounded_text(found.embedding, 4) +
         ", biases of norm and head " + rounded_text(found.constant, 4) + "\n";
}

}  // namespace attnscope
