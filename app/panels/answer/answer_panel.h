// The answers of all open models; for language models also the loss of each token of the text.
#pragma once

#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/prediction.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

class QMenu;
class QToolButton;
class QVBoxLayout;

namespace attnscope {

class ElidedLabel;
class Session;
class TextHeat;
struct OpenSubject;

/// Bars of one model's likeliest classes or next tokens, with their values before its maps were
/// changed.
class AnswerBars : public QWidget {
  Q_OBJECT
 public:
  explicit AnswerBars(QWidget* parent = nullptr);

  struct Row {
    Answer answer;
    std::optional<double> before;  ///< probability with unchanged maps
    double logit = 0;
    std::optional<double> logit_before;
    bool is_true = false;  ///< the input's own class

    bool operator==(const Row&) const = default;
  };
  struct Content {
    std::int64_t place = 0;  ///< index of the model among the open ones, which gives its colour
    QString title;           ///< name of the model, and the kind of answer
    QString verdict;         ///< "✓ right", "✗ wrong"; may be empty
    bool right = true;
    std::vector<Row> rows;
    QString instead;         ///< text shown if there are no rows
    bool continues = false;  ///< rows are next tokens, of which a click chooses one

    bool operator==(const Content&) const = default;
  };
  void set_content(Content content);
  [[nodiscard]] const Content& content() const { return content_; }
  /// The rectangle of a row.
  [[nodiscard]] QRectF row_rect(std::size_t row) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void clicked();
  /// A row was clicked, if the content continues a text: the index of its token.
  void token_chosen(std::int64_t token);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The row at a place, if a click there chooses its token.
  [[nodiscard]] const Row* token_at(QPointF place) const;
  [[nodiscard]] int line() const;
  [[nodiscard]] static QString name_of(const Row& row);
  [[nodiscard]] int number_width() const;  ///< with the change, where it is shown
  [[nodiscard]] bool shows_change() const;
  /// True if names stand over the bars, because they and bars do not fit in one line.
  [[nodiscard]] bool is_stacked() const;
  void measure_names();
  void paint_row(QPainter& painter, const Row& row, const QRectF& whole) const;

  Content content_;
  int names_ = 0;  ///< width of the widest name in pixels
};

/// Text such as "98.2 %"; probabilities that round to 100 % or 0 % become "> 99.9 %" and "< 0.1 %".
[[nodiscard]] QString percent_text(double probability);

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
    QToolButton* names;  ///< choice of the classes' names where the file gives none
    QToolButton* more;   ///< continues the text of a language model
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
  /// Adds the names that the classes of a part's model can have.
  void fill_names(QMenu& menu, std::size_t part);
  /// Loads the model again with the option `labels`, without it if it is empty.
  void name_classes(std::size_t part, const std::string& labels);
  /// Shows whether the part's model can continue the text, and why not.
  void show_continuation(const OpenSubject& open, Part& part);
  /// Adds the likeliest tokens to the text, in the background.
  void continue_text(std::size_t part);
  /// Adds tokens to the text; an error is shown in the part of the model.
  void add_tokens(SubjectId id, const std::vector<std::int64_t>& tokens);
  void show_losses(const OpenSubject& open, Part& part);
  void want_losses(const OpenSubject& open);

  Session& session_;
  QVBoxLayout* column_;
  std::vector<Part> parts_;
  std::vector<SubjectId> shown_;  ///< one per part
  std::map<SubjectId, Losses> losses_;
  std::int64_t continuing_ = 0;  ///< the job that continues the text, or 0
  /// Why the text of a model was not continued, until the input changes.
  std::map<SubjectId, QString> not_continued_;
};

}  // namespace attnscope
