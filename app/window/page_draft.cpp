#include "app/window/page_draft.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/fit.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

constexpr int kTwelfths = 12;
constexpr std::size_t kMostUndone = 100;

/// A MODEL argument or a locator with the absolute path of its file, so that a page may be saved in
/// any folder.
std::string absolute_argument(const std::string& text) {
  std::error_code ignored;
  for (const std::size_t end : {text.size(), text.find('@'), text.rfind('#')}) {
    if (end == std::string::npos) continue;
    const std::string file = text.substr(0, end);
    if (file.empty() || !fs::exists(file, ignored)) continue;
    return fs::absolute(file, ignored).string() + text.substr(end);
  }
  return text;
}

PageSubjects subjects_shown(const PageCell& cell, const FigureRequest& open) {
  if (cell.subjects.empty()) return {};
  const FigureCommand command = command_of(cell.figure, with_subjects(open, cell.subjects));
  PageSubjects subjects{command.models, command.inputs, command.labels};
  for (std::vector<std::string>* list : {&subjects.models, &subjects.inputs}) {
    std::ranges::transform(*list, list->begin(), absolute_argument);
  }
  return subjects;
}

/// The indices of the open models that a figure of a file shows; absent if one is not open.
std::optional<std::vector<std::size_t>> found_subjects(const PageSubjects& wanted,
                                                       const FigureRequest& open) {
  std::vector<std::size_t> found;
  for (const std::string& model : wanted.models) {
    std::size_t index = 0;
    while (index < open.subjects.size()) {
      const bool taken = std::ranges::find(found, index) != found.end();
      const PageSubjects one = subjects_shown({.figure = {}, .subjects = {index}}, open);
      if (!taken && one.models.front() == absolute_argument(model)) break;
      ++index;
    }
    if (index == open.subjects.size()) return std::nullopt;
    found.push_back(index);
  }
  return found;
}

/// A frame with words in place of a figure.
Figure frame_with(const std::string& words, double width_mm, double font_size_pt) {
  Figure figure;
  figure.width_mm = width_mm;
  figure.height_mm = 30;
  if (font_size_pt > 0) figure.font_size_pt = font_size_pt;
  Panel panel;
  for (Axis* axis : {&panel.x, &panel.y}) {
    axis->visible = false;
    axis->minimum = 0;
    axis->maximum = 1;
  }
  const double ems = width_mm / (figure.font_size_pt * 25.4 / 72);
  panel.marks.emplace_back(TextMark{0.5, 0.5, wrapped(words, 0.9 * ems)});
  panel.marks.emplace_back(Line{.label = {},
                                .x = {0, 1, 1, 0, 0},
                                .y = {0, 0, 1, 1, 0},
                                .colour = {150, 150, 150},
                                .style = LineStyle::dashed});
  figure.panels.push_back(std::move(panel));
  return figure;
}

/// All that a figure depends on, as a text.
std::string key_of(const PageCell& cell, const FigureRequest& request) {
  std::string key = cell.figure;
  for (const auto& [name, value] : request.settings) key += "\n" + name + "=" + to_string(value);
  for (const Subject& subject : request.subjects) {
    key += "\n" + subject.label + " " +
           std::to_string(reinterpret_cast<std::uintptr_t>(subject.trace.get())) + " " +
           std::to_string(reinterpret_cast<std::uintptr_t>(subject.model.get()));
  }
  return key + "\n" + rounded_text(request.width_mm, 6) + " " +
         rounded_text(request.font_size_pt, 6) + " " + std::to_string(request.first_layer);
}

}  // namespace

std::vector<int> twelfths_of(const std::vector<PagePanel>& row) {
  double sum = 0;
  for (const PagePanel& panel : row) sum += panel.cell.share;
  std::vector<int> widths;
  for (const PagePanel& panel : row) {
    widths.push_back(
        std::max(1, static_cast<int>(std::lround(kTwelfths * panel.cell.share / sum))));
  }
  // Rounding errors are taken from the widest panel, or given to it.
  const auto widest = std::ranges::max_element(widths);
  if (widest != widths.end()) {
    *widest = std::max(1, *widest + kTwelfths - std::accumulate(widths.begin(), widths.end(), 0));
  }
  return widths;
}

PageDraft PageDraft::from_file(const PageFile& file, const FigureRequest& open) {
  PageDraft draft;
  draft.look = file.look;
  for (std::size_t row = 0; row < file.page.rows.size(); ++row) {
    draft.rows_.emplace_back();
    for (std::size_t place = 0; place < file.page.rows[row].size(); ++place) {
      PagePanel panel{++draft.last_id_, file.page.rows[row][place]};
      const PageSubjects& wanted = file.subjects.at(row).at(place);
      if (const auto found = found_subjects(wanted, open)) {
        panel.cell.subjects = *found;
        const bool named = wanted.labels.size() == found->size();
        for (std::size_t i = 0; named && i < found->size(); ++i) {
          const std::string& label = open.subjects[(*found)[i]].label;
          if (wanted.labels[i] != label) draft.names[(*found)[i]] = wanted.labels[i];
        }
      } else {
        panel.absent = wanted;
      }
      draft.rows_.back().push_back(std::move(panel));
    }
  }
  return draft;
}

PageFile PageDraft::to_file(const FigureRequest& open) const {
  const FigureRequest named = named_request(*this, open);
  PageFile file;
  file.look = look;
  for (std::size_t word = 0; word + 1 < open.further_arguments.size(); word += 2) {
    const std::string& value = open.further_arguments[word + 1];
    if (open.further_arguments[word] == "--option") file.options.push_back(value);
    if (open.further_arguments[word] == "--architecture") {
      file.architecture = absolute_argument(value);
    }
  }
  for (const std::vector<PagePanel>& row : rows_) {
    file.page.rows.emplace_back();
    file.subjects.emplace_back();
    for (const PagePanel& panel : row) {
      PageCell cell = panel.cell;
      cell.subjects.clear();
      file.page.rows.back().push_back(std::move(cell));
      file.subjects.back().push_back(panel.absent.models.empty() ? subjects_shown(panel.cell, named)
                                                                 : panel.absent);
    }
  }
  return file;
}

std::size_t PageDraft::size() const {
  std::size_t count = 0;
  for (const auto& row : rows_) count += row.size();
  return count;
}

const PagePanel* PageDraft::find(int id) const {
  for (const auto& row : rows_) {
    const auto found = std::ranges::find(row, id, &PagePanel::id);
    if (found != row.end()) return &*found;
  }
  return nullptr;
}

PagePlace PageDraft::place_of(int id) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto found = std::ranges::find(rows_[row], id, &PagePanel::id);
    if (found == rows_[row].end()) continue;
    return {row, static_cast<std::size_t>(found - rows_[row].begin())};
  }
  return {rows_.size(), 0, true};
}

int PageDraft::neighbour(int id, int panels) const {
  std::vector<int> ids;
  for (const auto& row : rows_) {
    for (const PagePanel& panel : row) ids.push_back(panel.id);
  }
  if (ids.empty()) return 0;
  const auto found = std::ranges::find(ids, id);
  const auto at = found == ids.end() ? std::ptrdiff_t{0} : found - ids.begin() + panels;
  return ids[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(ids) - 1))];
}

void PageDraft::change(Rows rows) {
  std::erase_if(rows, [](const auto& row) { return row.empty(); });
  done_.push_back(std::exchange(rows_, std::move(rows)));
  if (done_.size() > kMostUndone) done_.erase(done_.begin());
  undone_.clear();
}

int PageDraft::add(PageCell cell, const std::optional<PagePlace>& place) {
  constexpr std::size_t most_in_a_row = 2;
  Rows rows = rows_;
  PagePlace at{rows.size(), 0, true};
  if (place) {
    at = *place;
  } else if (!rows.empty() && rows.back().size() < most_in_a_row) {
    at = {rows.size() - 1, rows.back().size()};
  }
  at.row = std::min(at.row, rows.size());
  if (at.new_row || at.row == rows.size()) {
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(at.row), std::vector<PagePanel>());
    at.column = 0;
  }
  std::vector<PagePanel>& row = rows[at.row];
  at.column = std::min(at.column, row.size());
  row.insert(row.begin() + static_cast<std::ptrdiff_t>(at.column),
             PagePanel{++last_id_, std::move(cell)});
  change(std::move(rows));
  return last_id_;
}

void PageDraft::move(int id, PagePlace place) {
  const PagePlace from = place_of(id);
  if (from.row >= rows_.size()) return;
  const bool stays = !place.new_row && place.row == from.row &&
                     (place.column == from.column || place.column == from.column + 1);
  if (stays) return;
  Rows rows = rows_;
  PagePanel panel = rows[from.row][from.column];
  rows[from.row].erase(rows[from.row].begin() + static_cast<std::ptrdiff_t>(from.column));
  if (!place.new_row && place.row == from.row && place.column > from.column) --place.column;
  // The row that is empty now is removed by change().
  place.row = std::min(place.row, rows.size());
  if (place.new_row || place.row == rows.size()) {
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(place.row), std::vector<PagePanel>());
    place.column = 0;
    panel.cell.share = 1;
  }
  std::vector<PagePanel>& row = rows[place.row];
  place.column = std::min(place.column, row.size());
  row.insert(row.begin() + static_cast<std::ptrdiff_t>(place.column), std::move(panel));
  change(std::move(rows));
}

void PageDraft::move_by(int id, int columns, int rows) {
  const PagePlace from = place_of(id);
  if (from.row >= rows_.size()) return;
  const auto column = static_cast<std::ptrdiff_t>(from.column) + columns;
  const auto row = static_cast<std::ptrdiff_t>(from.row) + rows;
  if (columns != 0) {
    if (column < 0 || column >= std::ssize(rows_[from.row])) return;
    // A place is one before a panel: to the right that is before the one after the neighbour.
    return move(id, {from.row, static_cast<std::size_t>(columns > 0 ? column + 1 : column)});
  }
  const bool alone = rows_[from.row].size() == 1;
  if (row < 0 || row >= std::ssize(rows_)) {
    if (!alone) move(id, {row < 0 ? 0 : rows_.size(), 0, true});
    return;
  }
  move(id, {static_cast<std::size_t>(row), from.column});
}

void PageDraft::remove(int id) {
  Rows rows = rows_;
  for (auto& row : rows) std::erase_if(row, [id](const PagePanel& one) { return one.id == id; });
  if (find(id) != nullptr) change(std::move(rows));
}

void PageDraft::edit(int id, PageCell cell) {
  const PagePanel* const before = find(id);
  if (before == nullptr || before->cell == cell) return;
  Rows rows = rows_;
  for (auto& row : rows) {
    for (PagePanel& panel : row) {
      if (panel.id == id) panel.cell = std::move(cell);
    }
  }
  change(std::move(rows));
}

void PageDraft::widen(int id, int twelfths) {
  const PagePlace place = place_of(id);
  if (place.row >= rows_.size() || rows_[place.row].size() < 2) return;
  Rows rows = rows_;
  std::vector<PagePanel>& row = rows[place.row];
  std::vector<int> widths = twelfths_of(row);
  const std::size_t other = place.column + 1 < row.size() ? place.column + 1 : place.column - 1;
  const int moved = std::clamp(twelfths, 1 - widths[place.column], widths[other] - 1);
  if (moved == 0) return;
  widths[place.column] += moved;
  widths[other] -= moved;
  int common = 0;
  for (const int width : widths) common = std::gcd(common, width);
  for (std::size_t i = 0; i < row.size(); ++i) row[i].cell.share = widths[i] / common;
  change(std::move(rows));
}

bool PageDraft::undo() {
  if (done_.empty()) return false;
  undone_.push_back(std::exchange(rows_, std::move(done_.back())));
  done_.pop_back();
  return true;
}

bool PageDraft::redo() {
  if (undone_.empty()) return false;
  done_.push_back(std::exchange(rows_, std::move(undone_.back())));
  undone_.pop_back();
  return true;
}

FigureRequest named_request(const PageDraft& draft, FigureRequest open) {
  for (const auto& [index, name] : draft.names) {
    if (index < open.subjects.size() && !name.empty()) open.subjects[index].label = name;
  }
  return open;
}

DrawnPage drawn_page(const PageDraft& draft, const FigureRequest& open,
                     const DrawnPage::Figures& known, const Progress& progress) {
  const FigureRequest named = named_request(draft, open);
  Page page;
  std::vector<const PagePanel*> order;
  for (const auto& row : draft.rows()) {
    page.rows.emplace_back();
    for (const PagePanel& panel : row) {
      page.rows.back().push_back(panel.cell);
      order.push_back(&panel);
    }
  }
  DrawnPage drawn;
  std::size_t next = 0;
  const auto failed = [&](const PagePanel& panel, const std::string& why, double width_mm) {
    drawn.problems[panel.id] = why;
    return frame_with(why, width_mm, draft.look.font_size_pt);
  };
  drawn.figure = compose(page, draft.look, [&](const PageCell& cell, double width_mm) {
    const Progress own =
        progress.part(static_cast<double>(next) / static_cast<double>(order.size()),
                      static_cast<double>(next + 1) / static_cast<double>(order.size()));
    const PagePanel& panel = *order[next++];
    if (!panel.absent.models.empty()) {
      return failed(panel, "Open " + panel.absent.models.front() + " to draw this figure",
                    width_mm);
    }
    FigureRequest request = with_subjects(named, cell.subjects);
    request.settings = cell.settings;
    request.width_mm = width_mm;
    request.font_size_pt = draft.look.font_size_pt;
    const std::string key = key_of(cell, request);
    if (const auto made = known.find(key); made != known.end()) {
      drawn.figures.insert(*made);
      return *made->second;
    }
    try {
      const auto made = std::make_shared<const Figure>(make_figure(cell.figure, request, own));
      drawn.figures[key] = made;
      return *made;
    } catch (const Error& error) {
      return failed(panel, error.in_window(), width_mm);
    }
  });
  return drawn;
}

}  // namespace attnscope
