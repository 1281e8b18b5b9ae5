#include "analysis/html/trace_page.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/html/html_document.h"
#include "analysis/html/html_text.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// The 256 colours of viridis, RRGGBB one after the other.
std::string colours_as_text() {
  std::string text;
  for (const Colour& colour : find_colour_map("viridis").colours) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x%02x%02x", colour.red, colour.green,
                  colour.blue);
    text += digits.data();
  }
  return text;
}

std::string indices(const std::vector<std::int64_t>& chosen) {
  std::string text;
  for (const std::int64_t index : chosen) text += (text.empty() ? "" : ",") + std::to_string(index);
  return text;
}

void add_option(std::string& line, const char* flag, const std::string& value) {
  if (!value.empty()) line += " " + std::string(flag) + " " + shell_word(value);
}

void add_maps(std::string& line, const PageMaps& shown) {
  add_option(line, "--layers", indices(shown.layers));
  add_option(line, "--heads", indices(shown.heads));
  const RankThreshold usual;
  if (shown.threshold.level != usual.level) {
    add_option(line, "--threshold", rounded_text(shown.threshold.level, 9));
  }
  if (shown.threshold.of != usual.of) {
    add_option(line, "--share", std::string(name_of(rank_share_names, shown.threshold.of)));
  }
}

/// `line` with the arguments of one subject.
std::string with_subject(std::string line, const FigureRequest& request, std::size_t index) {
  FigureRequest one;
  one.subjects = {request.subjects[index]};
  if (index < request.sources.size()) one.sources = {request.sources[index]};
  const FigureCommand command = command_of({}, one);
  for (const std::string& model : command.models) line += " " + shell_word(model);
  for (const std::string& input : command.inputs) add_option(line, "--input", input);
  for (const std::string& word : request.further_arguments) line += " " + shell_word(word);
  return line;
}

/// The command lines that print the exact spectra of each subject as CSV.
std::vector<std::string> csv_commands(const FigureRequest& request, const PageMaps& shown) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    std::string line = with_subject("attnscope spectrum", request, i) + " --identity both";
    add_maps(line, shown);
    lines.push_back(line + " --csv");
  }
  return lines;
}

bool fits_a_figure(const Trace& trace, const std::vector<std::int64_t>& layers) {
  return std::ranges::all_of(layers, [&](std::int64_t layer) {
    return std::max(trace.queries(layer), trace.keys(layer)) <= most_figure_cells;
  });
}

/// The command lines that write the exact entries of each subject's maps: as CSV, or as HDF5 if a
/// figure would show means of blocks.
std::vector<std::string> maps_commands(const FigureRequest& request, const PageMaps& shown) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    std::vector<std::int64_t> layers = shown.layers;
    if (layers.empty()) {
      layers.resize(subject.trace->layers.size());
      std::iota(layers.begin(), layers.end(), 0);
    }
    const std::string out = request.subjects.size() == 1 ? "maps" : "maps-" + std::to_string(i + 1);
    if (fits_a_figure(*subject.trace, layers)) {
      std::string line = with_subject("attnscope figure attention-maps", request, i);
      add_option(line, "--layers", indices(layers));
      add_option(line, "--heads", shown.heads.empty() ? "all" : indices(shown.heads));
      lines.push_back(line + " --out " + out + ".csv");
    } else if (subject.model) {
      std::string line = with_subject("attnscope trace", request, i);
      add_option(line, "--layers", indices(layers));
      lines.push_back(line + " --out " + out + ".h5");
    } else {
      lines.push_back("# " + subject.label + ": the trace itself (HDF5) holds the entries");
    }
  }
  return lines;
}

std::string in_html(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + html_escaped(line);
  return text;
}

std::string page_title(const FigureRequest& request, const TracePageOptions& options) {
  if (!options.title.empty()) return options.title;
  std::string title;
  for (const Subject& subject : request.subjects) {
    title += (title.empty() ? "" : " · ") + subject.label;
  }
  return title;
}

bool has_estimates(const Json& subject) {
  return std::ranges::any_of(subject.at("maps"),
                             [](const Json& map) { return map.at("estimated").get<bool>(); });
}

std::string page_caption(const FigureRequest& request, bool estimated, double largest_error,
                         int bits) {
  const char* const spectra = estimated ? "Spectra and ranks marked ≈ are estimates from the whole "
                                          "maps, the others are exact."
                                        : "Spectra and ranks are exact: the program computed them "
                                          "from the maps.";
  return caption_with_status("Attention maps of " + subjects_in_words(request) + ". " + spectra +
                                 " The maps on this page have " + std::to_string(bits) +
                                 " bits per entry, with errors of at most " +
                                 rounded_text(largest_error, 2) + ". " + made_with(),
                             request);
}

void check_size(const FigureRequest& request, const TracePageOptions& options, std::int64_t cells) {
  if (cells <= most_page_cells) return;
  throw Error(ErrorKind::usage, "the maps are too large for one page of HTML")
      .about(page_title(request, options))
      .expected("at most " + std::to_string(most_page_cells) + " entries")
      .found(std::to_string(cells))
      .remedy("choose fewer: --layers 0,2-4 --heads 0");
}

}  // namespace

std::string trace_page_command(const FigureRequest& request, const TracePageOptions& options) {
  const FigureCommand command = command_of({}, request);
  std::string line = "attnscope export-html";
  for (const std::string& model : command.models) line += " " + shell_word(model);
  for (const std::string& label : command.labels) add_option(line, "--label", label);
  for (const std::string& input : command.inputs) add_option(line, "--input", input);
  for (const std::string& word : request.further_arguments) line += " " + shell_word(word);
  if (options.identity != IdentityView::as_is) {
    add_option(line, "--identity", std::string(name_of(identity_view_names, options.identity)));
  }
  add_maps(line, options.shown);
  add_option(line, "--title", options.title);
  add_option(line, "--out", options.out);
  return line;
}

std::string trace_page(const FigureRequest& request, const TracePageOptions& options,
                       const Progress& progress) {
  if (request.subjects.empty()) throw Error(ErrorKind::usage, "a page needs a trace or a model");
  std::int64_t cells = 0;
  for (const Subject& subject : request.subjects) cells += shown_cells(subject, options.shown);
  check_size(request, options, cells);
  const TileCoding coding = TileCoding::for_cells(cells);
  Json subjects = Json::array();
  double largest_error = 0;
  const std::vector<std::string> exact = csv_commands(request, options.shown);
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const double share = 1.0 / static_cast<double>(request.subjects.size());
    const double first = share * static_cast<double>(i);
    subjects.push_back(subject_as_json(request.subjects[i], options.shown, coding,
                                       progress.part(first, first + share)));
    subjects.back()["csv_command"] = exact[i];
    largest_error = std::max(largest_error, subjects.back()["largest_error"].get<double>());
  }
  const bool estimated = std::ranges::any_of(subjects, has_estimates);
  const Json data = {{"format", 1},
                     {"program", "attnscope " ATTNSCOPE_VERSION},
                     {"threshold", options.shown.threshold.level},
                     {"share", name_of(rank_share_names, options.shown.threshold.of)},
                     {"identity", name_of(identity_view_names, options.identity)},
                     {"bits", coding.bits},
                     {"power", coding.power},
                     {"colours", colours_as_text()},
                     {"subjects", std::move(subjects)}};
  HtmlDocument document;
  document.title = page_title(request, options);
  document.data = json_in_script(data);
  const std::string command =
      options.command.empty() ? trace_page_command(request, options) : options.command;
  document.body = filled_in(
      trace_body().text,
      {{"title", html_escaped(document.title)},
       {"caption", html_escaped(page_caption(request, estimated, largest_error, coding.bits))},
       {"command", html_escaped(command)},
       {"csv_commands", in_html(exact)},
       {"maps_commands", in_html(maps_commands(request, options.shown))}});
  return html_of(document, trace_script());
}

}  // namespace attnscope
