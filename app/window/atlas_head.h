// The title line above a subject's maps: its name, its answer, and the rank of its maps.
#pragma once

#include <QFrame>
#include <memory>
#include <optional>

#include "app/session/prediction.h"
#include "app/session/subject_id.h"

class QLabel;

namespace attnscope {

class AtlasLink;
class ElidedLabel;
class Session;
class SpectrumStore;
class SubjectBadge;

/// In a narrow line, less important parts are hidden: first other answers, later the mechanism's
/// name.
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
  [[nodiscard]] QString rank_text(bool in_full) const;
  [[nodiscard]] QString changed_rank(bool in_full) const;
  [[nodiscard]] QString mark() const;
  void fit();

  Session& session_;
  SpectrumStore& spectra_;
  AtlasLink& link_;
  SubjectId subject_;
  std::shared_ptr<const Trace> predicted_from_;
  std::optional<Prediction> prediction_;
  SubjectBadge* badge_;
  ElidedLabel* name_;
  QLabel* mark_;
  ElidedLabel* mechanism_;
  ElidedLabel* answer_;
  QLabel* ranks_;
};

}  // namespace attnscope
