#include "app/cli/style_arguments.h"

#include <algorithm>
#include <charconv>

#include "analysis/figure/colour_map.h"
#include "analysis/figure/style.h"
#include "app/cli/command_table.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

HeatMapExport heat_map_export(const std::string& name) {
  if (name == "auto") return HeatMapExport::automatic;
  if (name == "cells") return HeatMapExport::cells;
  if (name == "pixels") return HeatMapExport::pixels;
  throw unknown_name("way to write heat maps", name, "auto, cells, pixels");
}

CsvProvenance csv_provenance(const std::string& name) {
  if (name == "file") return CsvProvenance::file;
  if (name == "comment") return CsvProvenance::comment;
  if (name == "none") return CsvProvenance::none;
  throw unknown_name("provenance of a .csv", name, "file, comment, none");
}

bool is_transparent(const StyleArguments& arguments) {
  if (arguments.background != "light" && arguments.background != "transparent") {
    throw unknown_name("background", arguments.background, "light, transparent");
  }
  return arguments.background == "transparent";
}

}  // namespace

void add_style_options(CLI::App& command, StyleArguments& arguments, bool with_formats) {
  const auto look = [](CLI::Option* option) { return option->group("Look"); };
  look(command.add_option(
           "--width", arguments.width,
           "Width on paper, 20 to 1000 mm; or column (84), page (174), beamer (128 by 96), "
           "neurips, icml-column, nature-page and others of journals and conferences"))
      ->type_name("MM")
      ->capture_default_str();
  look(command.add_option("--height", arguments.height_mm,
                          "Height on paper, 20 to 1000 mm, instead of the figure's own"))
      ->type_name("MM");
  look(command.add_option("--font-family", arguments.font_family,
                          "Font family instead of DejaVu Sans"))
      ->type_name("NAME");
  look(command.add_option("--font-size", arguments.font_size_pt,
                          "Font size of axis labels, 3 to 48 pt, instead of 7; other sizes follow"))
      ->type_name("PT");
  look(command.add_option("--colour-map", arguments.colour_map,
                          "Colours of heat maps: " + name_list(colour_maps(), &ColourMap::name)))
      ->type_name("COLOURS");
  look(command.add_option(
           "--lines", arguments.lines,
           "Line styles; distinct: each line has its own dashes, so that they differ in grey too"))
      ->type_name("as-made|distinct|grey")
      ->capture_default_str();
  look(command.add_option("--background", arguments.background, "Background of the figure"))
      ->type_name("light|transparent")
      ->capture_default_str();
  look(command.add_option("--layers-from", arguments.first_layer,
                          "Number of the first layer in figures; settings count from 0"))
      ->check(CLI::Range(0, 1))
      ->type_name("0|1")
      ->capture_default_str();
  look(command.add_flag("--letters", arguments.letters, "Mark the panels with a, b, c"));
  look(command.add_flag("--shared-legend", arguments.shared_legend,
                        "Draw one legend under all panels"));
  look(command.add_option("--dpi", arguments.dpi, "Resolution of .png, 20 to 2400"))
      ->check(CLI::Range(20.0, 2400.0))
      ->type_name("DPI")
      ->capture_default_str();
  look(command.add_option(
           "--heat-maps", arguments.heat_maps,
           "Heat maps in .pdf and .svg: vectors, an embedded image of one pixel a cell, or auto: "
           "vectors unless there are more than 20,000 runs of cells of one colour"))
      ->type_name("auto|cells|pixels")
      ->capture_default_str();
  add_value_option(command, "--csv-provenance", arguments.csv_provenance,
                   "Provenance of a .csv: in FILE-metadata.json next to it, in lines before the "
                   "header that begin with #, or nowhere",
                   "file|comment|none");
  if (!with_formats) return;
  look(command.add_option("--caption", arguments.caption, "Caption instead of the draft"))
      ->type_name("WORDS");
  command
      .add_option("--format", arguments.formats,
                  "Several formats at once, such as pdf,csv,h5: one file each, whatever "
                  "the extension of --out says")
      ->type_name("LIST");
}

StyleChoice style_choice(const StyleArguments& arguments) {
  StyleChoice choice;
  choice.style.height_mm = arguments.height_mm;
  choice.first_layer = arguments.first_layer;
  const auto presets = width_presets();
  const auto preset = std::find_if(presets.begin(), presets.end(), [&](const WidthPreset& known) {
    return known.name == arguments.width;
  });
  if (preset != presets.end()) {
    choice.width_mm = preset->width_mm;
    if (choice.style.height_mm == 0) choice.style.height_mm = preset->height_mm;
  } else {
    const std::string& text = arguments.width;
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), choice.width_mm);
    if (failure != std::errc() || end != text.data() + text.size()) {
      throw Error(ErrorKind::usage, "the width is not valid")
          .about("--width")
          .expected("20 to 1000 mm, or one of " + name_list(presets, &WidthPreset::name))
          .found(text);
    }
  }
  choice.font_size_pt = arguments.font_size_pt;
  choice.style.font_family = arguments.font_family;
  choice.style.colour_map = arguments.colour_map;
  if (!arguments.colour_map.empty()) (void)find_colour_map(arguments.colour_map);
  choice.style.lines = line_look(arguments.lines);
  choice.style.letters = arguments.letters;
  choice.style.shared_legend = arguments.shared_legend;
  choice.style.caption = arguments.caption;
  choice.options.png_dpi = arguments.dpi;
  choice.options.transparent = is_transparent(arguments);
  choice.options.heat_maps = heat_map_export(arguments.heat_maps);
  choice.options.csv_provenance = csv_provenance(arguments.csv_provenance);
  return choice;
}

void add_style(const StyleArguments& arguments, const StyleChoice& choice, FigureCommand& command) {
  command.width_mm = choice.width_mm;
  command.font_size_pt = choice.font_size_pt;
  command.first_layer = choice.first_layer;
  command.style = choice.style;
  command.dpi = arguments.dpi;
  command.heat_maps = arguments.heat_maps;
  command.csv_provenance = arguments.csv_provenance;
  command.transparent = choice.options.transparent;
  command.formats = arguments.formats;
}

std::vector<std::filesystem::path> export_files(const std::string& out,
                                                const std::string& formats) {
  if (formats.empty()) {
    check_export_path(out);
    return {out};
  }
  std::vector<std::filesystem::path> files;
  for (std::size_t first = 0; first <= formats.size();) {
    const std::size_t comma = std::min(formats.find(',', first), formats.size());
    std::filesystem::path file = out;
    // Only a known extension is replaced: "attention-v1.2" keeps its ".2".
    const auto known = export_formats();
    const bool has_one = std::any_of(known.begin(), known.end(), [&](const ExportFormat& format) {
      return file.extension() == format.extension;
    });
    if (has_one) file.replace_extension();
    file += "." + formats.substr(first, comma - first);
    check_export_path(file);
    files.push_back(std::move(file));
    first = comma + 1;
  }
  return files;
}

}  // namespace attnscope
