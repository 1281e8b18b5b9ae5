// Figure of several figures on one page, with letters.
#include "analysis/figure/composite.h"

#include "analysis/figure/settings.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// The page of the setting; "auto" is a page of spectra, ranks and maps, with the curves side by
/// side if the width allows it.
std::string page_text(const Settings& read, double width_mm) {
  constexpr double wide_mm = 120;
  if (!read.is("page", "auto")) return read.text("page");
  return width_mm < wide_mm ? "cumulative-spectrum / rank-by-layer / attention-maps"
                            : "cumulative-spectrum | rank-by-layer / attention-maps";
}

FigureNeeds needs_of_page(const ParameterValues& settings) {
  FigureRequest request;
  request.settings = settings;
  const Page page = parse_page(page_text(Settings(request), request.width_mm));
  FigureNeeds needs;
  bool first = true;
  for (const auto& row : page.rows) {
    for (const PageCell& cell : row) {
      const FigureNeeds own = find_figure(cell.figure).needs;
      needs = first ? own : joined(needs, own);
      first = false;
    }
  }
  // Each figure chooses its subjects among all.
  needs.most = 0;
  return needs;
}

Figure make_composite(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Page page = parse_page(page_text(read, request.width_mm));
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

FigureRecipe composite_recipe() {
  return {.name = "composite",
          .title = "Page of several figures",
          .source = "any of the program's figures",
          .settings = {setting::text("page", "auto",
                                     "figures side by side (|) and in rows (/), each with its "
                                     "settings: 'rank-by-layer[spread=none; subjects=0,1; share=2; "
                                     "title=Ranks]'; auto: spectra, ranks and maps")
                           .or_word({"auto"}),
                       setting::flag("letters", true, "a, b, c before the figures"),
                       setting::flag("shared-colours", false,
                                     "one colour scale for all heat maps of one quantity")},
          .make = make_composite,
          .needs_as_set = needs_of_page};
}

}  // namespace attnscope
