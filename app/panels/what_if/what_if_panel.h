// The maps of a subject changed while it runs: I in part, the way to another attention,
// temperature, rank, heads taken out. Maps, spectra, ranks and answers follow.
#pragma once

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

class ElidedLabel;
class NumberSlider;
class SpectrumStore;
class SubjectBadge;

class WhatIfPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("What if");

  WhatIfPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// None: what is changed belongs to the subjects, which the session keeps.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}

 private:
  void add_sliders();
  void add_buttons();
  void refresh();
  void show_sliders(const OpenSubject& open);
  void show_others(const OpenSubject& open);
  void show_heads(const OpenSubject& open);
  void show_result(const OpenSubject& open);
  /// What the sliders say, with the heads as they are.
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
  NumberSlider* share_;
  NumberSlider* temperature_;
  NumberSlider* rank_;
  QWidget* heads_;
  QPushButton* drop_;
  QPushButton* reset_;
  QLabel* result_;
  QTimer playing_;
  bool shows_ = false;  // the session is shown, not asked
  std::vector<ReplacedHead> listed_;
};

}  // namespace attnscope
