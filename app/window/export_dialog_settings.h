// Controls of the export dialog: a figure's own settings, and its appearance.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"

class QFormLayout;
class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFontComboBox;
class QToolButton;

namespace attnscope {

/// Controls made from the types of the settings.
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

struct FigureLook {
  double width_mm = 84, font_size_pt = 0;
  FigureStyle style;
  bool transparent = false;
};

/// Width, font, colours, lines and background. Remembers the last choices in the program's
/// settings.
class FigureLookForm : public QWidget {
  Q_OBJECT
 public:
  explicit FigureLookForm(QWidget* parent = nullptr);

  /// Font size and family are absent if the figure's own apply.
  [[nodiscard]] FigureLook look() const;
  void remember() const;

 signals:
  void changed();

 private:
  void take_preset(double width_mm, double height_mm);
  void show_preset();

  QDoubleSpinBox* width_;
  QDoubleSpinBox* height_;
  QList<QToolButton*> presets_;
  QFontComboBox* family_;
  QDoubleSpinBox* size_;
  QComboBox* colour_map_;
  QComboBox* lines_;
  QCheckBox* transparent_;
  QCheckBox* letters_;
  QCheckBox* shared_legend_;
};

}  // namespace attnscope
