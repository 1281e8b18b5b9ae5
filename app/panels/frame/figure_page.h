// One view of a panel with several views: a recipe's figure as a plot or a table.
#pragma once

#include <functional>
#include <string>

#include "app/panels/frame/figure_panel.h"

namespace attnscope {

class TableView;

class FigurePage : public FigurePanel {
  Q_OBJECT
 public:
  /// `wanted` returns the request to draw; it may throw Error(usage).
  FigurePage(const QString& title, const std::string& recipe, Session& session,
             std::function<FigureRequest()> wanted, QWidget* parent = nullptr);
  using FigurePanel::set_recipe;

 protected:
  [[nodiscard]] FigureRequest request() const override { return wanted_(); }
  [[nodiscard]] QString empty_text() const override;

 private:
  void show_table();

  std::function<FigureRequest()> wanted_;
  TableView* table_;
};

}  // namespace attnscope
