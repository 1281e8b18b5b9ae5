// The five papers that the program follows: each equation, table and figure with the commands that
// show it on the sample models, from assets/papers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"

namespace attnscope {

/// How the gallery draws an item's first figure from models that are open.
struct GalleryChoice {
  std::string family;                 ///< required prefix of the mechanism's name; any if empty
  std::string family_title;           ///< name of the family in messages: "DAFT-conv"
  std::vector<std::string> compares;  ///< mechanisms that the paper compares; empty: any
  int input = -1;  ///< index of the input among each model's open inputs; all if negative
  bool without_subjects = false;  ///< shows the paper's own networks, whatever is open
  /// Maximum number of models shown at once, as in the paper; 0: no limit.
  std::size_t most_models = 0;
  std::size_t model = 0;  ///< index of the first model shown, among those that fit
  /// Training of that model, which no file states: figures of one mechanism trained in several ways
  /// require one model per way.
  std::string trained;
  bool even_layers = false;  ///< show only layers 0, 2, 4, …
};

/// An equation, table, figure or section. It has commands, or `left_out` says why it has none.
struct PaperItem {
  std::string place;                  ///< place in the paper: "Fig. 2"
  std::string title;                  ///< subject of the item in the paper
  std::vector<std::string> commands;  ///< lines of a shell, to be run in sample_data
  std::string takes;                  ///< duration of the commands that train; empty if seconds
  std::string differs;                ///< difference of the commands' output from the paper
  std::string left_out;               ///< parts that no command shows, and the reason
  std::string found;                  ///< measurements that contradict the paper
  bool in_gallery = false;
  GalleryChoice gallery;  ///< only of an item in the gallery
};

struct Paper {
  std::string name;              ///< name of the file: "adder-appendix"
  std::string place;             ///< beginning of the places of its items: "Adder, appendix "
  std::string title;             ///< authors, title, venue
  std::vector<PaperItem> items;  ///< in the order of the paper
};

/// File of assets/papers, embedded in the program: 3-daft.json.
struct PaperFile {
  std::string_view name;  ///< name on the command line: "daft"
  std::string_view text;  ///< JSON
};

/// The files of all papers, in the order of their names. They are parsed by papers() only.
[[nodiscard]] std::span<const PaperFile> paper_files();

/// All papers, in the order of their files' names.
[[nodiscard]] const std::vector<Paper>& papers();

/// Finds a paper by name. Throws Error(usage) listing the known papers.
[[nodiscard]] const Paper& find_paper(std::string_view name);

/// One row per item: place, subject, commands, and remarks on what differs, is left out and was
/// measured otherwise. JSON has the commands as a list and each remark under its own key.
[[nodiscard]] Report paper_report(const Paper& paper);

/// The remarks on an item, each a sentence: how long the commands take, what differs, what was
/// measured otherwise, and what is left out.
[[nodiscard]] std::vector<std::string> remarks_on(const PaperItem& item);

/// All papers as sections of a page in Markdown.
[[nodiscard]] std::string papers_as_markdown();

}  // namespace attnscope
