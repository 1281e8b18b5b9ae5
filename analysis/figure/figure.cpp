#include "analysis/figure/figure.h"

#include <algorithm>
#include <concepts>
#include <utility>
#include <variant>

#include "core/shown_text.h"

namespace attnscope {

namespace {

void show(std::string& text) { text = shown_lines(text); }

void show(Keys& keys) {
  for (auto& [name, value] : keys) {
    show(name);
    show(value);
  }
}

void show(Axis& axis) {
  show(axis.label);
  for (Tick& tick : axis.ticks) show(tick.label);
}

template <class AnyMark>
void show_mark(AnyMark& mark) {
  if constexpr (requires {
                  { mark.label } -> std::same_as<std::string&>;
                })
    show(mark.label);
  if constexpr (requires {
                  { mark.name } -> std::same_as<std::string&>;
                })
    show(mark.name);
  if constexpr (requires {
                  { mark.text } -> std::same_as<std::string&>;
                })
    show(mark.text);
  if constexpr (requires { mark.keys; }) show(mark.keys);
}

void show(Panel& panel) {
  show(panel.title);
  show(panel.letter);
  show(panel.x);
  show(panel.y);
  show(panel.keys);
  for (Mark& mark : panel.marks) {
    std::visit([](auto& any) { show_mark(any); }, mark);
  }
}

}  // namespace

void make_text_showable(Figure& figure) {
  show(figure.title);
  show(figure.caption);
  show(figure.command);
  for (std::string& model : figure.models) show(model);
  for (Panel& panel : figure.panels) show(panel);
  for (ColourScale& scale : figure.colour_scales) show(scale.label);
  for (FigureArea& area : figure.areas) show(area.title);
  std::map<std::string, std::vector<double>> numbers;
  for (auto& [name, values] : figure.numbers) numbers[shown_lines(name)] = std::move(values);
  figure.numbers = std::move(numbers);
  if (!figure.table) return;
  for (std::string& heading : figure.table->header) show(heading);
  for (std::vector<std::string>& row : figure.table->rows) {
    for (std::string& cell : row) show(cell);
  }
}

std::vector<std::pair<std::string, std::string>> provenance_of(const Figure& figure) {
  std::string models;
  for (const std::string& model : figure.models) models += (models.empty() ? "" : ", ") + model;
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"Title", figure.title},
      {"Description", figure.caption},
      {"Command", figure.command},
      {"Models", models},
      {"Software", "attnscope " ATTNSCOPE_VERSION}};
  std::erase_if(pairs, [](const auto& pair) { return pair.second.empty(); });
  // File names may hold control characters, which SVG forbids and terminals interpret.
  for (auto& [name, text] : pairs) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text = shown_text(text);
  }
  return pairs;
}

}  // namespace attnscope
