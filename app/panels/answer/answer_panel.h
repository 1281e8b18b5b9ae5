// The answers of all open models; for language models also the loss of each token of the text.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/prediction.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

class QLabel;
class QVBoxLayout;

namespace attnscope {

class AnswerBars;
class ElidedLabel;
class Session;
class TextHeat;
struct OpenSubject;

class AnswerPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Answer");

  explicit AnswerPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  [[nodiscard]] bool is_stopped() const override;
  void resume() override;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// One model's part of the panel; the text is shown if there are losses.
  struct Part {
    AnswerBars* bars;
    ElidedLabel* caption;
    TextHeat* text;
  };
  struct Losses {
    std::shared_ptr<const Trace> trace;  ///< the trace that the losses belong to
    TokenLosses found;
    QString error;
    bool stopped = false;
    std::int64_t job = 0;
  };

  void refresh();
  void add_part();
  void show_losses(const OpenSubject& open, Part& part);
  void want_losses(const OpenSubject& open);

  Session& session_;
  QVBoxLayout* column_;
  std::vector<Part> parts_;
  std::vector<SubjectId> shown_;  ///< one per part
  std::map<SubjectId, Losses> losses_;
};

}  // namespace attnscope
