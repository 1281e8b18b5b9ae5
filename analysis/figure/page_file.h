// A page of several figures as a JSON file, for `attnscope figure PAGE.json` and the window.
#pragma once

#include <compare>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/composite.h"

namespace attnscope {

/// The models and inputs that a figure of a page shows, as arguments of the command line.
struct PageSubjects {
  std::vector<std::string> models, inputs, labels;

  auto operator<=>(const PageSubjects&) const = default;
};

struct PageFile {
  Page page;                                        ///< PageCell::subjects is empty
  std::vector<std::vector<PageSubjects>> subjects;  ///< same shape as page.rows
  CompositeOptions look;                            ///< a width of 0 if the file has none
  std::vector<std::string> options;                 ///< "key=value" for the models
  std::string architecture;                         ///< file that describes the models, or empty
};

/// Parses {"rows": [[{"figure": "NAME", "settings": {…}, "share": 1, "title": "…"}]], "models":
/// […], "inputs": […], "labels": […], "options": […], "architecture": "FILE", "letters": true,
/// "shared_colours": false, "shared_legend": false, "width_mm": 174, "font_size_pt": 7}; a figure
/// may have models, inputs and labels of its own. Files that exist in `folder` are named from
/// there. Throws Error(usage).
[[nodiscard]] PageFile parse_page_file(std::string_view text, const std::filesystem::path& folder);

/// Reads a page of at most 64 MiB. Throws like read_file and parse_page_file, naming the file.
[[nodiscard]] PageFile read_page_file(const std::filesystem::path& file);

/// The page as text that parse_page_file reads back as the same page.
[[nodiscard]] std::string page_as_json(const PageFile& file);

/// Form of a page's file, for remedies.
inline constexpr const char* page_form =
    R"(write {"models": […], "inputs": […], "rows": [[{"figure": "NAME"}, …], …]})";

}  // namespace attnscope
