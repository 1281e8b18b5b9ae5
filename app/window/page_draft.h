// A page of several figures while it is composed: its panels, and what they show of the open
// models.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/page_file.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

/// A figure of the page. Its id stays when it moves.
struct PagePanel {
  int id = 0;
  PageCell cell;  ///< `subjects`: indices of open models; empty for a figure without models
  /// The models of a saved page that are not open: the figure waits for them, and is saved
  /// unchanged.
  PageSubjects absent = {};
};

/// A place in the rows of a page: before that panel, or in a new row before that row.
struct PagePlace {
  std::size_t row = 0, column = 0;
  bool new_row = false;

  bool operator==(const PagePlace&) const = default;
};

class PageDraft {
 public:
  using Rows = std::vector<std::vector<PagePanel>>;

  /// The page of a file, with its models found among the subjects of `open`.
  [[nodiscard]] static PageDraft from_file(const PageFile& file, const FigureRequest& open);
  [[nodiscard]] PageFile to_file(const FigureRequest& open) const;

  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const;
  /// The panel with that id; null if there is none. Valid until the page changes.
  [[nodiscard]] const PagePanel* find(int id) const;
  /// The place of a panel; the end of the page if there is none.
  [[nodiscard]] PagePlace place_of(int id) const;
  /// The id of the panel that many panels after this one, row after row; the nearest if there is
  /// none.
  [[nodiscard]] int neighbour(int id, int panels) const;

  /// Adds a panel; at the end of the page, two in a row, if no place is given. Returns its id.
  int add(PageCell cell, const std::optional<PagePlace>& place = {});
  /// Moves a panel to a place of the present arrangement.
  void move(int id, PagePlace place);
  /// Moves a panel past its neighbour in the row, or into the row above or below, which is a new
  /// one beyond the first and the last.
  void move_by(int id, int columns, int rows);
  void remove(int id);
  /// Replaces what a panel shows.
  void edit(int id, PageCell cell);
  /// Moves the boundary after this panel of a row by that many twelfths of the row; each keeps at
  /// least one. Of the last panel, the boundary before it moves, so that it widens too.
  void widen(int id, int twelfths);
  bool undo();
  bool redo();

  /// Names of open models on the page instead of their labels, by index.
  std::map<std::size_t, std::string> names;
  CompositeOptions look;

 private:
  void change(Rows rows);

  Rows rows_;
  std::vector<Rows> undone_, done_;
  int last_id_ = 0;
};

/// The widths of a row's panels in twelfths, which sum to 12.
[[nodiscard]] std::vector<int> twelfths_of(const std::vector<PagePanel>& row);

/// A page drawn from the open models.
struct DrawnPage {
  using Figures = std::map<std::string, std::shared_ptr<const Figure>>;

  Figure figure;                        ///< areas in the order of the panels, row after row
  std::map<int, std::string> problems;  ///< reasons of panels that could not be drawn, by id
  Figures figures;                      ///< the panels' figures, by all that they depend on
};

/// The request with the page's names of models.
[[nodiscard]] FigureRequest named_request(const PageDraft& draft, FigureRequest open);

/// Draws the page; a panel that cannot be drawn is a frame with the reason. `known` are figures of
/// a page drawn before, which are not made again. Throws Error(usage) if a panel is too narrow.
[[nodiscard]] DrawnPage drawn_page(const PageDraft& draft, const FigureRequest& open,
                                   const DrawnPage::Figures& known, const Progress& progress);

}  // namespace attnscope
