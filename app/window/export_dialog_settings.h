// A figure's own settings as controls, made from their types.
#pragma once

#include <QWidget>
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
  void show_recipe(const FigureRecipe& recipe, const ParameterValues& values);

  /// Those that are not at their default.
  [[nodiscard]] ParameterValues settings() const;

 signals:
  void changed();

 private:
  struct Control {
    const ParameterDescription* setting;
    QWidget* editor;
    ParameterValue default_value;  ///< as the editor shows it
  };
  [[nodiscard]] QWidget* make_editor(const ParameterDescription& setting);
  [[nodiscard]] QWidget* make_file_editor(const ParameterDescription& setting);

  QFormLayout* form_;
  std::vector<Control> controls_;
};

}  // namespace attnscope
