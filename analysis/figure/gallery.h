// Gallery of all figures of the papers that a model can reproduce.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

struct GalleryEntry {
  std::string_view place;  ///< place in the paper: "Adder, Fig. 2"
  std::string_view title;  ///< subject of the paper's figure
  std::string_view paper;  ///< reference of the paper
  std::string_view recipe;
  ParameterValues settings = {};
  std::string_view family = {};        ///< required prefix of the mechanism's name; any if empty
  std::string_view family_title = {};  ///< name of the family in messages: "DAFT-conv"
  int input = -1;  ///< index of the input among each model's open inputs; all if negative
  bool without_subjects = false;  ///< shows the paper's own networks, whatever is open
  std::string_view note = {};     ///< difference from the paper's figure; empty if there is none
  /// Maximum number of models shown at once, as in the paper; 0: no limit.
  std::size_t most_models = 0;
  std::size_t model = 0;  ///< index of the first model shown, among those that fit
  /// Training of that model, which no file states: figures of one mechanism trained in several ways
  /// require one model per way.
  std::string_view trained = {};
  bool even_layers = false;  ///< show only layers 0, 2, 4, …
};

/// All entries in the order of the papers.
[[nodiscard]] std::span<const GalleryEntry> gallery();

/// The entry's place as a file name: "adder-fig-2".
[[nodiscard]] std::string file_name_of(const GalleryEntry& entry);

/// An entry and the request that draws it.
struct GalleryItem {
  const GalleryEntry* entry = nullptr;
  FigureRequest request;  ///< request for the subjects that fit
  std::string missing;    ///< missing requirement; empty if the figure can be drawn
};

/// All items for the request's subjects, sources and width. `data_set` is the path of a labelled
/// data set for entries that require one; if empty, these are reported as missing it.
[[nodiscard]] std::vector<GalleryItem> gallery_items(const FigureRequest& open,
                                                     const std::string& data_set);

}  // namespace attnscope
