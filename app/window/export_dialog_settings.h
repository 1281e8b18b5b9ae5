// A figure's own settings as controls.
#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"

class QFormLayout;

namespace attnscope {

class FigureSettingsForm : public QWidget {
  Q_OBJECT
 public:
  explicit FigureSettingsForm(QWidget* parent = nullptr);

  /// Controls for every setting of the recipe, set to `values` where they say anything, else to
  /// their defaults. Without `colour-map`: the dialog has one for all figures.
  void show_recipe(const FigureRecipe& recipe, const std::map<std::string, std::string>& values);
  void set_value(const std::string& name, const std::string& value);

  /// Those that are not at their default.
  [[nodiscard]] std::map<std::string, std::string> settings() const;

 signals:
  void changed();

 private:
  struct Control {
    FigureSetting setting;
    QWidget* editor;
  };
  [[nodiscard]] QWidget* make_editor(const FigureSetting& setting);
  [[nodiscard]] QWidget* make_file_editor(const FigureSetting& setting);

  QFormLayout* form_;
  std::vector<Control> controls_;
};

}  // namespace attnscope
