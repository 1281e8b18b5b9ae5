// Every figure of the papers that a model can show.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

struct GalleryEntry {
  std::string_view place;  ///< "Adder, Fig. 2"
  std::string_view title;  ///< what the paper shows there
  std::string_view paper;  ///< its reference
  std::string_view recipe;
  ParameterValues settings;
  std::string_view family;        ///< only subjects whose mechanism's name begins so; any if empty
  std::string_view family_title;  ///< "DAFT-conv": for what is missing
  int input = -1;                 ///< of the open inputs the one of this index; all if negative
  bool without_subjects = false;  ///< of the paper's own networks, whatever is open
  std::string_view note;          ///< how the paper's differs; empty if it does not
  std::size_t most_models = 0;    ///< that it shows at once, as the paper does; any number if 0
  std::size_t model = 0;          ///< the first that it shows, among those that fit
  /// How that one was trained, if no file says it: the papers' figures of one mechanism trained
  /// in several ways show as many models.
  std::string_view trained = {};
  bool even_layers = false;  ///< of layers 0, 2, 4, … of those there are
};

/// The list, in the order of the papers.
[[nodiscard]] std::span<const GalleryEntry> gallery();

/// "adder-fig-2": the entry's place as a file's name.
[[nodiscard]] std::string file_name_of(const GalleryEntry& entry);

/// An entry and what it can be drawn from.
struct GalleryItem {
  const GalleryEntry* entry = nullptr;
  FigureRequest request;  ///< of the subjects that fit
  std::string missing;    ///< what is missing, in words; empty if it can be drawn
};

/// The whole gallery for the request's subjects, sources and width. `data_set` is the labelled data
/// set that entries with one are drawn from; empty: those lack it.
[[nodiscard]] std::vector<GalleryItem> gallery_items(const FigureRequest& open,
                                                     const std::string& data_set);

}  // namespace attnscope
