// Export of a figure to files: numbers as a table, PGFPlots for a paper.
#include <cstdio>
#include <filesystem>

#include "analysis/figure/recipe.h"
#include "analysis/figure/text_export.h"
#include "core/file/atomic_file.h"

int main(int, char** argv) {
  using namespace attnscope;
  // The table of operation costs needs no model.
  FigureRequest request;
  request.width_mm = 174;
  const Figure figure = make_figure("energy-growth", request);
  const std::filesystem::path folder = argv[1];
  write_file(folder / "growth.csv", figure_as_csv(figure));
  write_file(folder / "growth.json", figure_as_json(figure));
  write_file(folder / "growth.tex", figure_as_tex(figure, "growth").source);
  std::printf("%zu panels, %g mm wide\n", figure.panels.size(), figure.width_mm);
}
