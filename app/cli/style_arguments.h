// The arguments that say how a figure is dressed and written, shared by figure, compose, gallery.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/figure/figure_command.h"
#include "app/render/render.h"

namespace attnscope {

struct StyleArguments {
  std::string width = "84";  ///< mm, or a preset's name
  double height_mm = 0, font_size_pt = 0, dpi = 300;
  std::string font_family, colour_map, lines = "as-made", background = "light", caption;
  std::string heat_maps = "auto", csv_provenance = "file", formats;
  std::int64_t first_layer = 0;
  bool letters = false, shared_legend = false;
};

/// Adds them all; `with_formats`: --format and --caption too, where one figure is written.
void add_style_options(CLI::App& command, StyleArguments& arguments, bool with_formats = true);

/// The arguments as their meaning.
struct StyleChoice {
  double width_mm = 84, font_size_pt = 0;
  std::int64_t first_layer = 0;
  FigureStyle style;
  ExportOptions options;
};
/// Throws Error(usage) for what cannot be. Fonts are checked when a QApplication is there.
[[nodiscard]] StyleChoice style_choice(const StyleArguments& arguments);

/// Says so in `command`.
void say_style(const StyleArguments& arguments, const StyleChoice& choice, FigureCommand& command);

/// The files that `out` and `formats` ask for: `out` itself, or one a format beside it. Throws
/// Error(usage) for a format there is not.
[[nodiscard]] std::vector<std::filesystem::path> export_files(const std::string& out,
                                                              const std::string& formats);

}  // namespace attnscope
