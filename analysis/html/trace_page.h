// One self-contained page of HTML that shows attention maps, their rows and their spectra.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/figure/recipe.h"
#include "analysis/html/subject_json.h"
#include "core/progress.h"

namespace attnscope {

struct TracePageOptions {
  PageMaps shown;
  IdentityView identity = IdentityView::as_is;  ///< the view in which the page opens
  std::string title;                            ///< the subjects' labels if empty
  /// The command line that writes the page; made from the request if empty.
  std::string command;
  std::string out;  ///< name of the file in a command line that is made; omitted if empty
};

/// Number of entries of all maps, above which a page is refused: its tiles take about a byte each.
constexpr std::int64_t most_page_cells = 64'000'000;

/// The page of the subjects of `request`, each with a trace, side by side: an atlas of maps, the
/// chosen map, its rows on the picture or the text, the cumulative spectrum and the table of ranks.
/// Maps are tiles of TileCoding; spectra and ranks are the exact values of spectra_of, with every
/// digit. The page needs no other file and no network. Equal requests give equal bytes.
/// Throws Error(usage) without subjects, for a layer or head out of range, and for more than
/// most_page_cells; Cancelled.
[[nodiscard]] std::string trace_page(const FigureRequest& request, const TracePageOptions& options,
                                     const Progress& progress = {});

/// The command line "attnscope export-html MODEL… --input X …" of such a page.
[[nodiscard]] std::string trace_page_command(const FigureRequest& request,
                                             const TracePageOptions& options);

}  // namespace attnscope
