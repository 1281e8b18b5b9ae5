// The middle of the window: one atlas a subject, side by side, each under its name and ranks.
#pragma once

#include <QFrame>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QStackedLayout;

namespace attnscope {

class AtlasCanvas;
class ElidedLabel;
class Session;
class SpectrumStore;
class SubjectBadge;

/// One atlas with its head line; while there is nothing to draw, what is going on instead.
class AtlasCell : public QFrame {
  Q_OBJECT
 public:
  AtlasCell(Session& session, SpectrumStore& spectra, std::int64_t id, QWidget* parent = nullptr);
  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] AtlasCanvas& canvas() { return *canvas_; }
  [[nodiscard]] bool settled() const;
  void refresh();

 protected:
  void mousePressEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QString rank_text(std::int64_t subject) const;

  Session& session_;
  SpectrumStore& spectra_;
  std::int64_t id_;
  SubjectBadge* badge_;
  ElidedLabel* name_;
  QLabel* ranks_;
  QStackedLayout* stack_;
  AtlasCanvas* canvas_;
  QLabel* instead_;
  QPushButton* retry_;
};

class AtlasArea : public QWidget {
  Q_OBJECT
 public:
  AtlasArea(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);
  /// Every atlas that can be drawn stands as it will.
  [[nodiscard]] bool settled() const;
  /// The atlas of subject `subject`, or null.
  [[nodiscard]] AtlasCanvas* canvas(std::int64_t subject);

 signals:
  void open_wanted();
  void samples_wanted();

 private:
  void refresh();
  void refresh_heads();

  Session& session_;
  SpectrumStore& spectra_;
  QStackedLayout* stack_;
  QGridLayout* grid_;
  std::vector<AtlasCell*> cells_;
};

}  // namespace attnscope
