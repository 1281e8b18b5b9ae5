// Arguments for a figure's style and output, shared by figure and gallery.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/figure/figure_command.h"
#include "app/render/render.h"

namespace attnscope {

struct StyleArguments {
  std::string width = "84";  ///< width in mm, or the name of a preset
  double height_mm = 0, font_size_pt = 0, dpi = 300;
  std::string font_family, colour_map, lines = "as-made", background = "light", caption;
  std::string heat_maps = "auto", csv_provenance = "file", formats;
  std::int64_t first_layer = 0;
  bool letters = false, shared_legend = false;
};

/// Adds all options; with `with_formats` also --format and --caption, for commands that write one
/// figure.
void add_style_options(CLI::App& command, StyleArguments& arguments, bool with_formats = true);

/// The arguments after parsing.
struct StyleChoice {
  double width_mm = 84, font_size_pt = 0;
  std::int64_t first_layer = 0;
  FigureStyle style;
  ExportOptions options;
};
/// Throws Error(usage) for invalid values. Fonts are checked later, when a QApplication exists.
[[nodiscard]] StyleChoice style_choice(const StyleArguments& arguments);

/// Adds the style options to the figure's command line `command`.
void add_style(const StyleArguments& arguments, const StyleChoice& choice, FigureCommand& command);

/// The files that `out` and `formats` select: `out` itself, or one file per format next to it.
/// Throws Error(usage) for an unknown format.
[[nodiscard]] std::vector<std::filesystem::path> export_files(const std::string& out,
                                                              const std::string& formats);

}  // namespace attnscope
