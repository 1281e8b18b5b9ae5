#include "analysis/energy/published.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "analysis/energy/request.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

extern const std::string_view published_csv;

namespace {

constexpr double kNotPublished = std::numeric_limits<double>::quiet_NaN();
constexpr double kNearLimit = 1.5;  // units of the last printed digit

/// Fields of one line from `at` on, quoted as in RFC 4180; `at` moves past the end of the line.
std::vector<std::string> csv_fields(std::string_view text, std::size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        fields.back() += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

Verdict verdict_of(const std::string& text) {
  if (text == "exact") return Verdict::exact;
  if (text == "near") return Verdict::near;
  if (text == "off") return Verdict::off;
  return text == "printed" ? Verdict::printed : Verdict::formula;
}

std::vector<PublishedFigure> read_figures() {
  constexpr std::size_t kColumns = 12;
  std::vector<PublishedFigure> figures;
  std::size_t at = 0;
  csv_fields(published_csv, at);  // skips the column titles
  while (at < published_csv.size()) {
    std::vector<std::string> f = csv_fields(published_csv, at);
    if (f.size() != kColumns) continue;
    figures.push_back({f[0], f[1], f[2], f[3], f[4], f[5], f[6], verdict_of(f[7]),
                       f[8] == "alternative", f[9], f[10], f[11]});
  }
  return figures;
}

/// Name of the figure's table: "adder:1" for Adder's "Table1", "adder:4.4" for "section 4.4",
/// "ecoformer:text".
std::string table_name(const PublishedFigure& figure) {
  std::string name = figure.paper + ":";
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view prefix : {"Table", "section "}) {
    if (figure.table.starts_with(prefix)) return name + figure.table.substr(prefix.size());
  }
  return name + figure.table;
}

double unit_of(const std::string& unit) {
  if (unit.starts_with("B")) return 1e9;
  return unit == "M" ? 1e6 : 1;
}

OperationCount count_of(const std::string& recipe) {
  const EnergySubject subject = resolve(parse_energy_request(recipe));
  return count_operations(subject.architecture, subject.options).total();
}

double energy_of(const OperationCount& count) {
  return operations_energy_pj(count, energy_tables().front());
}

double quantity_of(const OperationCount& count, const std::string& quantity) {
  if (quantity == "mul") return static_cast<double>(count.multiplications);
  if (quantity == "add") return static_cast<double>(count.additions);
  return energy_of(count);
}

std::pair<OperationCount, OperationCount> both_sides(const std::string& recipe) {
  const std::size_t arrow = recipe.find("=>");
  return {count_of(recipe.substr(0, arrow)), count_of(recipe.substr(arrow + 2))};
}

double parameters_of(const std::string& recipe) {
  const EnergySubject subject = resolve(parse_energy_request(recipe));
  double sum = 0;
  for (const ParameterCount& count : count_parameters(subject.architecture, subject.options)) {
    sum += static_cast<double>(count.parameters);
  }
  return sum;
}

/// Number of multiplications of the selected groups in the first layer.
double layer_multiplications(const std::string& recipe, bool attention, bool feed_forward) {
  const EnergySubject subject = resolve(parse_energy_request(recipe));
  OperationCount sum;
  for (const PartCost& part : count_operations(subject.architecture, subject.options).parts) {
    if (part.layer != 0) continue;
    for (const ComponentCost& cost : part.components) {
      if ((attention && cost.group == ComponentGroup::attention) ||
          (feed_forward && cost.group == ComponentGroup::feed_forward)) {
        accumulate(sum, cost.count);
      }
    }
  }
  return static_cast<double>(sum.multiplications);
}

/// Adder, 3.1: 12·N·D multiplications in the six LayerNorms of a block, one per element.
double norm_multiplications(const std::string& recipe) {
  const EnergySubject subject = resolve(parse_energy_request(recipe));
  const Stage& stage = subject.architecture.stages.front();
  return 12.0 * static_cast<double>(stage.tokens) * static_cast<double>(stage.width);
}

/// A printed figure of the same table and model, for another method or quantity.
double printed_beside(const PublishedFigure& figure, const std::string& method,
                      const std::string& quantity) {
  for (const PublishedFigure& other : published_figures()) {
    if (other.paper == figure.paper && other.table == figure.table && other.model == figure.model &&
        other.method == method && other.quantity == quantity) {
      return parse_number(other.printed).value_or(kNotPublished);
    }
  }
  return kNotPublished;
}

/// The computed value, in the unit of the figure.
double compute(const PublishedFigure& figure) {
  const std::string& measure = figure.measure;
  const double unit = unit_of(figure.unit);
  if (measure == "multiplications" || measure == "additions" || measure == "energy") {
    return quantity_of(count_of(figure.recipe), figure.quantity) / unit;
  }
  if (measure == "parameters") return parameters_of(figure.recipe) / unit;
  if (measure == "saving") {
    const auto [before, after] = both_sides(figure.recipe);
    const double all = quantity_of(before, figure.quantity);
    return 100 * (all - quantity_of(after, figure.quantity)) / all;
  }
  if (measure == "difference") {
    const auto [before, after] = both_sides(figure.recipe);
    return (energy_of(after) - energy_of(before)) / unit;
  }
  if (measure == "twice the multiplications") {
    return 2 * static_cast<double>(count_of(figure.recipe).multiplications) / unit;
  }
  if (measure == "printed additions") {
    return 2 * printed_beside(figure, "MNN", "mul") - printed_beside(figure, "ANN", "mul");
  }
  if (measure == "printed energy") {
    const EnergyConstants& fp32 = energy_tables().front();
    return fp32.multiplication_pj * printed_beside(figure, figure.method, "mul") +
           fp32.addition_pj * printed_beside(figure, figure.method, "add");
  }
  if (measure == "attention products" || measure == "attention multiplications") {
    return layer_multiplications(figure.recipe, true, false);
  }
  if (measure == "FFN products") return layer_multiplications(figure.recipe, false, true);
  if (measure == "layer products") return layer_multiplications(figure.recipe, true, true);
  if (measure == "norm products") return norm_multiplications(figure.recipe);
  if (measure == "layer over norm") {
    return layer_multiplications(figure.recipe, true, true) / norm_multiplications(figure.recipe);
  }
  return kNotPublished;
}

}  // namespace

const std::vector<PublishedFigure>& published_figures() {
  static const std::vector<PublishedFigure> figures = read_figures();
  return figures;
}

bool ReproducedFigure::holds() const {
  switch (published.verdict) {
    case Verdict::exact:
      return rounds_to_print;
    case Verdict::near:
      return last_digits <= kNearLimit;
    case Verdict::off:
      return last_digits > kNearLimit;
    case Verdict::formula:
    case Verdict::printed:
      return true;
  }
  return false;
}

ReproducedFigure reproduce(const PublishedFigure& figure) {
  ReproducedFigure result{.published = figure};
  result.computed = compute(figure);
  const auto printed = parse_number(figure.printed);
  result.printed = printed.value_or(kNotPublished);
  result.relative_difference = (result.computed - result.printed) / result.printed;
  if (printed && !std::isnan(result.computed)) {
    const std::size_t point = figure.printed.find('.');
    const double decimals =
        point == std::string::npos ? 0 : static_cast<double>(figure.printed.size() - point - 1);
    const double scale = std::pow(10.0, decimals);
    result.last_digits = std::abs(result.computed - *printed) * scale;
    result.rounds_to_print =
        std::llround(result.computed * scale) == std::llround(*printed * scale);
  }
  return result;
}

std::vector<ReproducedFigure> reproduce_table(std::string_view table) {
  std::vector<ReproducedFigure> reproduced;
  for (const PublishedFigure& figure : published_figures()) {
    if (table_name(figure) == table) reproduced.push_back(reproduce(figure));
  }
  if (reproduced.empty()) throw unknown_name("published table", table, published_table_names());
  return reproduced;
}

std::string published_table_names() {
  std::vector<std::string> names;
  for (const PublishedFigure& figure : published_figures()) {
    const std::string name = table_name(figure);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace attnscope
