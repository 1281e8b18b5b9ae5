#include "analysis/figure/shown_figure.h"

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

}  // namespace attnscope
