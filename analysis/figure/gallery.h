// Gallery of all figures of the papers that a model can reproduce.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/papers/papers.h"

namespace attnscope {

/// A figure of a paper: an item of assets/papers that is in the gallery.
struct GalleryEntry {
  std::string place;       ///< place in the paper: "Adder, Fig. 2"
  std::string_view title;  ///< subject of the paper's figure
  std::string_view paper;  ///< reference of the paper
  std::string recipe;
  ParameterValues settings;
  std::string_view note;  ///< difference from the paper's figure; empty if there is none
  const GalleryChoice* choice = nullptr;
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
