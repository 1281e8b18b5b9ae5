// The middle of the window: one atlas a subject, side by side, each under its name and ranks.
#pragma once

#include <QFrame>
#include <vector>

#include "app/session/subject_id.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QStackedLayout;

namespace attnscope {

class AtlasCanvas;
class AtlasLink;
class ElidedLabel;
class Session;
struct OpenSubject;
class SpectrumStore;
class SubjectBadge;

/// One atlas with its head line; while there is nothing to draw, what is going on instead.
class AtlasCell : public QFrame {
  Q_OBJECT
 public:
  /// `no_graphics`: why there is no atlas, to stand in its place; empty where there is.
  AtlasCell(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
            const QString& no_graphics, QWidget* parent = nullptr);
  [[nodiscard]] SubjectId subject() const { return subject_; }
  /// Null where maps cannot be drawn.
  [[nodiscard]] AtlasCanvas* canvas() { return canvas_; }
  [[nodiscard]] bool settled() const;
  void refresh();

 protected:
  void mousePressEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QString rank_text() const;
  [[nodiscard]] QString instead_of_maps(const OpenSubject& open) const;

  Session& session_;
  SpectrumStore& spectra_;
  SubjectId subject_;
  QString no_graphics_;
  SubjectBadge* badge_;
  ElidedLabel* name_;
  QLabel* ranks_;
  QStackedLayout* stack_;
  AtlasCanvas* canvas_ = nullptr;
  QLabel* instead_;
  QPushButton* retry_;
};

class AtlasArea : public QWidget {
  Q_OBJECT
 public:
  AtlasArea(Session& session, SpectrumStore& spectra, AtlasLink& link, QWidget* parent = nullptr);
  /// Every atlas that can be drawn stands as it will.
  [[nodiscard]] bool settled() const;
  /// The atlas of a subject, or null.
  [[nodiscard]] AtlasCanvas* canvas(SubjectId subject);

 signals:
  void open_wanted();
  void samples_wanted();

 private:
  void refresh();
  void refresh_heads();

  Session& session_;
  SpectrumStore& spectra_;
  AtlasLink& link_;
  const QString no_graphics_;  // why maps cannot be drawn here; empty: they can
  QStackedLayout* stack_;
  QGridLayout* grid_;
  std::vector<AtlasCell*> cells_;
};

}  // namespace attnscope
