// Changes the maps of a model while it runs: share of I, blend with another attention, temperature,
// rank, removed heads. Maps, spectra, ranks and answers follow.
#pragma once

#include <QList>
#include <QTimer>
#include <optional>

#include "app/panels/frame/dock_panel.h"
#include "app/session/session.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace attnscope {

class BoldLine;
class ElidedLabel;
class NumberSlider;
class SpectrumStore;
class SubjectBadge;

class WhatIfPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("What if");

  WhatIfPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// Empty, because the changes belong to the models, which the session keeps.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  void add_target();
  void add_sliders();
  void add_buttons();
  void refresh();
  void show_sliders(const OpenSubject& open);
  void show_others(const OpenSubject& open);
  void show_heads(const OpenSubject& open);
  void show_result(const OpenSubject& open);
  void show_result(const QString& ranks, const QString& answer);
  /// True if temperature and rank change the picture of the maps instead of the run: chosen so, or
  /// because the selected model is a trace, which cannot run.
  [[nodiscard]] bool of_picture() const;
  void show_picture();
  /// Sets the view to what the sliders say.
  void apply_to_picture();
  /// The changes that the sliders specify, with the replaced heads unchanged.
  [[nodiscard]] WhatIf said(const OpenSubject& open) const;
  void slid();
  void apply(const OpenSubject& open, WhatIf what_if);
  void play();
  [[nodiscard]] const OpenSubject* selected() const;

  Session& session_;
  SpectrumStore& spectra_;
  SubjectBadge* badge_;
  ElidedLabel* name_;
  QCheckBox* all_;
  NumberSlider* identity_;
  QToolButton* play_;
  QComboBox* other_;
  std::vector<std::pair<QString, qlonglong>> others_;  ///< entries of other_
  NumberSlider* share_;
  NumberSlider* temperature_;
  NumberSlider* rank_;
  QCheckBox* rest_;
  QToolButton *as_run_, *as_picture_;
  QLabel* target_;            ///< the sliders' object, in the colour of a run or of the view
  QList<QWidget*> run_only_;  ///< controls that only a run has
  QWidget* heads_;
  QPushButton* drop_;
  QPushButton* reset_;
  BoldLine* ranks_;  ///< mean ranks before and with the changes
  QLabel* result_;   ///< the answer, or a hint
  QTimer playing_;
  bool shows_ = false;  // true while refresh() sets the controls
  std::vector<ReplacedHead> listed_;
};

}  // namespace attnscope
