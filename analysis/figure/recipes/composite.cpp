// Several figures on one page, with letters.
#include "analysis/figure/composite.h"

#include <array>

#include "analysis/figure/settings.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::array<FigureSetting, 3> settings = {{
    {"page", "cumulative-spectrum | rank-by-layer / attention-maps",
     "figures side by side (|) and in rows (/), each with its settings: "
     "'rank-by-layer[spread=none; subjects=0,1; share=2; title=Ranks]'"},
    {"letters", "yes", "yes or no: a, b, c before the figures"},
    {"shared-colours", "no", "yes or no: one colour scale for all heat maps of one quantity"},
}};

Figure make(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Page page = parse_page(read.text("page"));
  CompositeOptions options;
  options.width_mm = request.width_mm;
  options.letters = read.flag("letters");
  options.shared_colours = read.flag("shared-colours");
  double cells = 0, done = 0;
  for (const auto& row : page.rows) cells += static_cast<double>(row.size());
  return compose(page, options, [&](const PageCell& cell, double width_mm) {
    if (cell.figure == "composite") {
      throw Error(ErrorKind::usage, "a page cannot hold another page").about("page");
    }
    const Progress own = progress.part(done / cells, (done + 1) / cells);
    ++done;
    return make_figure(cell.figure, cell_request(request, cell, width_mm), own);
  });
}

}  // namespace

extern const FigureRecipe composite_recipe = {"composite", "Page of several figures",
                                              "any of the program's figures", settings, make};

}  // namespace attnscope
