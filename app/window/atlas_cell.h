// One subject in the middle of the window: its maps under a title line, or its state while there
// are no maps. A file that failed is shown as a card.
#pragma once

#include <QFrame>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "app/session/prediction.h"
#include "app/session/subject_id.h"

class QLabel;
class QPushButton;
class QStackedLayout;

namespace attnscope {

class AtlasCanvas;
class AtlasLink;
class BoldLine;
class ElidedLabel;
class Session;
class SpectrumStore;
class SubjectBadge;
struct OpenSubject;

/// The title line above a subject's maps: its name, its answer, and the rank of its maps. In a
/// narrow line, less important parts are hidden: first other answers, then the answer and what is
/// drawn, at last the words of the rank; the name is shortened in its middle. Answer and rank of
/// the last run stay until the next ones are known.
class AtlasHead : public QFrame {
  Q_OBJECT
 public:
  AtlasHead(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
            QWidget* parent = nullptr);
  void refresh();
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void enlarge_wanted();  ///< the line was double-clicked

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  void refresh_prediction();
  /// of_view: with or without I, as the maps; none: the number alone.
  enum class RankWords { all, few, of_view, none };
  static constexpr std::size_t rank_words = 4;  ///< number of RankWords
  /// Ranks of the last spectra, which are known.
  [[nodiscard]] QString rank_text(RankWords words) const;
  [[nodiscard]] QString changed_rank(bool in_full) const;
  void refresh_ranks();
  [[nodiscard]] QString mark() const;
  void fit();

  Session& session_;
  SpectrumStore& spectra_;
  AtlasLink& link_;
  SubjectId subject_;
  std::shared_ptr<const Trace> predicted_from_;
  std::optional<Prediction> prediction_;
  std::array<QString, rank_words> rank_texts_;  ///< ranks of the last spectra
  QString pending_;                             ///< " …" while the next ones are computed
  SubjectBadge* badge_;
  ElidedLabel* name_;
  QLabel* mark_;
  ElidedLabel* mechanism_;
  ElidedLabel* answer_;
  BoldLine* ranks_;
};

class AtlasCell : public QFrame {
  Q_OBJECT
 public:
  /// `no_graphics`: reason why there is no atlas, shown in its place; empty if there is one.
  AtlasCell(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
            const QString& no_graphics, QWidget* parent = nullptr);
  [[nodiscard]] SubjectId subject() const { return subject_; }
  /// Null if maps cannot be drawn.
  [[nodiscard]] AtlasCanvas* canvas() { return canvas_; }
  /// True if the subject could not be opened or run; the error is shown instead of maps.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Height in pixels of everything above and below the maps' canvas.
  [[nodiscard]] int chrome_height() const;
  [[nodiscard]] bool settled() const;
  void refresh();

 signals:
  void enlarge_wanted();  ///< its title line was double-clicked

 protected:
  void mousePressEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QString instead_of_maps(const OpenSubject& open) const;
  void show_failure(const OpenSubject& open);

  Session& session_;
  SubjectId subject_;
  QString no_graphics_;
  AtlasHead* head_;
  QWidget* content_;
  QStackedLayout* stack_;
  AtlasCanvas* canvas_ = nullptr;
  QLabel* instead_;
  QWidget* failure_;
  SubjectBadge* failed_badge_;
  ElidedLabel* failed_text_;
  QPushButton* describe_;
  QPushButton* options_;
  QPushButton* retry_;
  QPushButton* close_;
  bool failed_ = false;
  std::string described_failure_;  ///< the error that describe_ was last updated for
};

}  // namespace attnscope
