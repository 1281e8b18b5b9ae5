// Figures printed in papers, and this program's results for the same networks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Agreement of a printed figure with the computed one.
enum class Verdict {
  exact,    ///< the computed value rounds to the printed one
  near,     ///< within 1.5 units of the last printed digit
  off,      ///< not reproduced; the note says why
  formula,  ///< printed as a formula
  printed   ///< not computed here: accuracies, speeds and memory of networks that are not run
};

/// One printed figure, from assets/energy/published.csv.
struct PublishedFigure {
  std::string paper, table, model, method, quantity, unit;
  std::string printed;  ///< the printed number as text: "17.56"
  Verdict verdict = Verdict::exact;
  bool alternative = false;  ///< a second interpretation of the same figure
  std::string measure;       ///< the quantity to compute
  std::string recipe;        ///< network and accounting, in the syntax of parse_energy_request
  std::string note;
};

[[nodiscard]] const std::vector<PublishedFigure>& published_figures();

struct ReproducedFigure {
  PublishedFigure published;
  double printed = 0;   ///< printed number in the figure's unit; NaN for a formula
  double computed = 0;  ///< computed number in the figure's unit; NaN if it cannot be computed
  double relative_difference = 0;  ///< (computed - printed) / printed; NaN for a formula
  double last_digits = 0;          ///< |computed - printed| in units of the last printed digit
  bool rounds_to_print = false;

  /// True if the verdict agrees with the computed value.
  [[nodiscard]] bool holds() const;
};

/// Recounts the figure's network. Throws Error for an invalid recipe.
[[nodiscard]] ReproducedFigure reproduce(const PublishedFigure& figure);

/// All figures of a table ("adder:1", "ecoformer:text", …). Throws Error(usage) listing the known
/// tables.
[[nodiscard]] std::vector<ReproducedFigure> reproduce_table(std::string_view table);

/// Names of all published tables: "adder:1, adder:2, …".
[[nodiscard]] std::string published_table_names();

}  // namespace attnscope
