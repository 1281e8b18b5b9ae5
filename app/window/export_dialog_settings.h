// Controls for a figure's own settings, made from their types.
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

  /// Creates controls for every setting of the recipe, with `values` where present, otherwise the
  /// defaults. `colour-map` is left out, because the dialog has one control for all figures.
  void show_recipe(const FigureRecipe& recipe, const ParameterValues& values);

  /// The settings that differ from their defaults.
  [[nodiscard]] ParameterValues settings() const;

 signals:
  void changed();

 private:
  struct Control {
    const ParameterDescription* setting;
    QWidget* editor;
    ParameterValue default_value;  ///< default value as the editor shows it
  };
  [[nodiscard]] QWidget* make_editor(const ParameterDescription& setting);
  [[nodiscard]] QWidget* make_file_editor(const ParameterDescription& setting);

  QFormLayout* form_;
  std::vector<Control> controls_;
};

}  // namespace attnscope
