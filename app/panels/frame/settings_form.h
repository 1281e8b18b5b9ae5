// Controls for the settings of a figure, made from their types.
#pragma once

#include <QWidget>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

class QFormLayout;

namespace attnscope {

/// The setting in plain words: "Colour scale" for "norm".
[[nodiscard]] QString setting_title(const ParameterDescription& setting);

/// Used by the export dialog and by the panel of analyses.
class FigureSettingsForm : public QWidget {
  Q_OBJECT
 public:
  explicit FigureSettingsForm(QWidget* parent = nullptr);

  /// Creates controls for every setting of the recipe, with `values` where present, otherwise the
  /// defaults. `colour-map` is left out, because the dialog has one control for all figures.
  void show_recipe(const FigureRecipe& recipe, const ParameterValues& values);
  /// Sets a control without emitting changed(); ignored if the recipe has no such setting.
  void set_value(std::string_view name, const ParameterValue& value);

  /// The settings that differ from their defaults.
  [[nodiscard]] ParameterValues settings() const;

 signals:
  void changed();
  void edited(const std::string& name);  ///< the user changed this setting; changed() follows

 private:
  struct Control {
    const ParameterDescription* setting;
    QWidget* editor;
    ParameterValue default_value;  ///< default value as the editor shows it
  };
  void tell(const std::string& name);
  [[nodiscard]] QWidget* make_editor(const ParameterDescription& setting);
  [[nodiscard]] QWidget* make_file_editor(const ParameterDescription& setting);

  QFormLayout* form_;
  std::vector<Control> controls_;
};

}  // namespace attnscope
