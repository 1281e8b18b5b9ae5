// Figures the papers print, and what this program computes for the same networks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// What is known of a printed figure.
enum class Verdict {
  exact,   ///< the computed one rounds to print
  near,    ///< within 1.5 units of the last printed digit
  off,     ///< nobody could reproduce it; the note says why
  formula  ///< printed as a formula
};

/// One printed figure, from assets/energy/published.csv.
struct PublishedFigure {
  std::string paper, table, model, method, quantity, unit;
  std::string printed;  ///< as in the paper: "17.56"
  Verdict verdict = Verdict::exact;
  bool alternative = false;  ///< another reading of the same figure
  std::string measure;       ///< what to compute
  std::string recipe;        ///< the network and how it is counted, as parse_energy_request reads
  std::string note;
};

[[nodiscard]] const std::vector<PublishedFigure>& published_figures();

struct ReproducedFigure {
  PublishedFigure published;
  double printed = 0;  ///< in the figure's unit; NaN for a formula
  double computed =
      0;  ///< in the figure's unit, by this program's accounting; NaN if there is none
  double relative_difference = 0;  ///< (computed - printed) / printed; NaN for a formula
  double last_digits = 0;          ///< |computed - printed| in units of the last printed digit
  bool rounds_to_print = false;

  /// Whether the verdict holds for the computed value.
  [[nodiscard]] bool holds() const;
};

/// Counts the figure's network anew. Throws Error for a recipe that cannot be understood.
[[nodiscard]] ReproducedFigure reproduce(const PublishedFigure& figure);

/// All figures of "adder:1", "ecoformer:text", …; throws Error(usage) listing the known tables.
[[nodiscard]] std::vector<ReproducedFigure> reproduce_table(std::string_view table);

/// "adder:1, adder:2, …"
[[nodiscard]] std::string published_table_names();

}  // namespace attnscope
