#include "app/cli/published_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/table_cell.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The number as text; empty if it is unknown (NaN).
std::string number_or_blank(double value) {
  return std::isnan(value) ? "" : rounded_text(value, 10);
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

std::string signed_per_cent(double share) {
  return (share < 0 ? "" : "+") + fixed_text(100 * share, 2) + " %";
}

std::string verdict_text(const ReproducedFigure& figure) {
  if (std::isnan(figure.printed)) return "formula";
  if (figure.rounds_to_print) return "rounds to print";
  return figure.published.verdict == Verdict::near ? "within a digit" : "not reproduced";
}

std::string reproduced_table(const std::vector<ReproducedFigure>& figures) {
  std::string text = figures.front().published.paper + ", " + figures.front().published.table +
                     ": printed next to computed\n\n";
  int model = 6, method = 7, printed = 9;
  const auto widen = [](int& width, const std::string& text) {
    width = std::max(width, static_cast<int>(columns_of(text)) + 2);
  };
  for (const ReproducedFigure& figure : figures) {
    widen(model, figure.published.model);
    widen(method, figure.published.method);
    widen(printed, figure.published.printed);
  }
  const auto row = [&](const PublishedFigure& p) {
    return left_cell(p.model, model) + left_cell(p.method, method) + left_cell(p.quantity, 14) +
           left_cell(p.unit, 10) + left_cell(p.printed, printed);
  };
  const auto heading = [&] {
    text += left_cell("model", model) + left_cell("method", method) + left_cell("quantity", 14) +
            left_cell("unit", 10) + left_cell("printed", printed) + right_cell("computed", 13) +
            right_cell("difference", 12) + "\n";
  };
  const auto line = [&](const ReproducedFigure& figure) {
    const bool computed = !std::isnan(figure.computed);
    const bool compared = !std::isnan(figure.relative_difference);
    text += row(figure.published) +
            right_cell(computed ? rounded_text(figure.computed, 7) : "–", 13) +
            right_cell(compared ? signed_per_cent(figure.relative_difference) : "–", 12) + "  " +
            verdict_text(figure);
    if (!figure.published.note.empty()) text += "; " + figure.published.note;
    text += "\n";
  };
  heading();
  for (const ReproducedFigure& figure : figures) {
    if (!figure.published.alternative) line(figure);
  }
  const bool others = std::any_of(figures.begin(), figures.end(),
                                  [](const auto& figure) { return figure.published.alternative; });
  if (others) {
    text += "\nOther readings of the same figures\n\n";
    heading();
    for (const ReproducedFigure& figure : figures) {
      if (figure.published.alternative) line(figure);
    }
  }
  return text;
}

}  // namespace

std::string reproduced_as_text(const std::vector<ReproducedFigure>& figures, EnergyFormat format) {
  if (format == EnergyFormat::text) return reproduced_table(figures);
  if (format == EnergyFormat::json) {
    using Json = nlohmann::ordered_json;
    Json json = Json::array();
    for (const ReproducedFigure& figure : figures) {
      const PublishedFigure& p = figure.published;
      Json entry = {{"paper", p.paper},       {"table", p.table},
                    {"model", p.model},       {"method", p.method},
                    {"quantity", p.quantity}, {"unit", p.unit},
                    {"printed", p.printed},   {"alternative", p.alternative},
                    {"network", p.recipe},    {"note", p.note}};
      entry["computed"] = number_or_null(figure.computed);
      entry["relative_difference"] = number_or_null(figure.relative_difference);
      entry["rounds_to_print"] = figure.rounds_to_print;
      json.push_back(entry);
    }
    return json.dump(2) + "\n";
  }
  std::string text =
      "paper,table,model,method,quantity,unit,printed,computed,relative_difference,"
      "rounds_to_print,alternative,network,note\n";
  for (const ReproducedFigure& figure : figures) {
    const PublishedFigure& p = figure.published;
    for (const std::string* field :
         {&p.paper, &p.table, &p.model, &p.method, &p.quantity, &p.unit, &p.printed}) {
      text += csv_field(*field) + ",";
    }
    text +=
        number_or_blank(figure.computed) + "," + number_or_blank(figure.relative_difference) + ",";
    text += std::string(figure.rounds_to_print ? "true" : "false") + "," +
            (p.alternative ? "true" : "false") + "," + csv_field(p.recipe) + "," +
            csv_field(p.note) + "\n";
  }
  return text;
}

}  // namespace attnscope
