// Additive attention by hand: the user drags the logit of each word and sees the weights of every
// token, over all words, over the preceding ones, or over the last k.
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

constexpr double kLargestLogit = 4;  // logits range from −4 to 4

/// One bar per word, upward for a positive logit; dragged, or moved with the arrow keys.
class LogitBars : public QWidget {
 public:
  LogitBars(QStringList words, std::function<void()> changed)
      : words_(std::move(words)),
        logits_(static_cast<std::size_t>(words_.size()), 0.0F),
        changed_(std::move(changed)) {
    setObjectName("logit_bars");
    setAccessibleName(QObject::tr("The logit of each word"));
    setToolTip(QObject::tr("Drag a bar; or arrows: left and right choose, up and down change"));
    setFocusPolicy(Qt::StrongFocus);
    fit();
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      logits_[i] = static_cast<float>(i % 3) - 1.0F;
    }
  }

  [[nodiscard]] const std::vector<float>& logits() const { return logits_; }

 protected:
  void changeEvent(QEvent* event) override {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) fit();
  }
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const WindowColours& colours = colours_of(*this);
    const double label = fontMetrics().height() + 2, room = height() - label;
    const double middle = room / 2;
    const double each = static_cast<double>(width()) / static_cast<double>(logits_.size());
    painter.fillRect(QRectF(0, 0, width(), room), colours.sunken);
    painter.setPen(colours.border);
    painter.drawLine(QPointF(0, middle), QPointF(width(), middle));
    for (std::size_t i = 0; i < logits_.size(); ++i) {
      const double left = static_cast<double>(i) * each;
      const double tall = logits_[i] / kLargestLogit * middle;
      const QRectF bar = QRectF(left + 2, middle - tall, each - 4, tall).normalized();
      painter.fillRect(bar, colours.accent);
      if (hasFocus() && i == chosen_) {
        painter.setPen(colours.text);
        painter.drawRect(QRectF(left + 1, 1, each - 2, room - 2));
      }
      painter.setPen(colours.text);
      painter.drawText(QRectF(left, room, each, label), Qt::AlignCenter,
                       fontMetrics().elidedText(words_[static_cast<qsizetype>(i)], Qt::ElideRight,
                                                static_cast<int>(each)));
    }
  }
  void mousePressEvent(QMouseEvent* event) override { drag(event->position()); }
  void mouseMoveEvent(QMouseEvent* event) override { drag(event->position()); }
  void keyPressEvent(QKeyEvent* event) override {
    const std::size_t last = logits_.size() - 1;
    if (event->key() == Qt::Key_Left && chosen_ > 0) --chosen_;
    if (event->key() == Qt::Key_Right && chosen_ < last) ++chosen_;
    if (event->key() == Qt::Key_Up) set(chosen_, logits_[chosen_] + 0.25);
    if (event->key() == Qt::Key_Down) set(chosen_, logits_[chosen_] - 0.25);
    update();
  }

 private:
  void fit() { setFixedHeight(15 * fontMetrics().height() / 2); }
  void drag(const QPointF& at) {
    const double each = static_cast<double>(width()) / static_cast<double>(logits_.size());
    const double middle = (height() - fontMetrics().height() - 2) / 2.0;
    const auto index = static_cast<std::ptrdiff_t>(at.x() / each);
    if (index < 0 || index >= std::ssize(logits_)) return;
    chosen_ = static_cast<std::size_t>(index);
    set(chosen_, (middle - at.y()) / middle * kLargestLogit);
  }
  void set(std::size_t index, double logit) {
    logits_[index] = static_cast<float>(std::clamp(logit, -kLargestLogit, kLargestLogit));
    update();
    changed_();
  }

  QStringList words_;
  std::vector<float> logits_;
  std::function<void()> changed_;
  std::size_t chosen_ = 0;
};

class ImportanceExperiment : public QWidget {
 public:
  explicit ImportanceExperiment(const QStringList& words) {
    setObjectName("experiment_importance");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    bars_ = new LogitBars(words, [this] { refresh(); });
    form_ = new ElidedComboBox;
    form_->setAccessibleName(tr("Form of additive attention"));
    form_->setObjectName("importance_form");
    form_->addItems({tr("global: every token pools all words"),
                     tr("causal: the words up to itself"), tr("windowed: the last k words")});
    window_ = new NumberSlider(tr("Window k"), {1, static_cast<double>(words.size()), 1}, 3);
    window_->setObjectName("importance_window");
    window_->setEnabled(false);
    map_ = new MapThumbnail(tr("Implied map"));
    words_ = new QLabel;
    words_->setWordWrap(true);
    words_->setObjectName("importance_words");
    column->addWidget(bars_);
    column->addWidget(form_);
    column->addWidget(window_);
    auto* row = new QHBoxLayout;
    row->setSpacing(14);
    row->addWidget(map_);
    row->addWidget(words_, 1);
    column->addLayout(row);
    connect(form_, &QComboBox::currentIndexChanged, this, [this](int form) {
      window_->setEnabled(form == 2);
      refresh();
    });
    connect(window_, &NumberSlider::value_changed, this, [this] { refresh(); });
    refresh();
  }

 private:
  void refresh() {
    if (!map_) return;  // the bars emit before the rest exists
    const int form = form_->currentIndex();
    const auto window =
        form == 2 ? static_cast<std::int64_t>(std::lround(window_->value())) : std::int64_t{0};
    const auto count = static_cast<std::int64_t>(bars_->logits().size());
    // One channel with w = 1 makes each key its own logit.
    const Tensor keys({count, 1}, bars_->logits());
    const NamedTensors parameters = {{"importance", Tensor({1, 1}, {1.0F})}};
    const AttentionInput input{.queries = keys.matrix(),
                               .keys = keys.matrix(),
                               .values = keys.matrix(),
                               .heads = 1,
                               .parameters = &parameters};
    const auto additive = make_mechanism({"additive", {{"causal", form != 0}, {"window", window}}});
    const Tensor maps = additive->implied_map(input);
    const std::int64_t bound =
        additive->structure({.queries = count, .keys = count, .head_width = 1, .value_width = 1})
            .rank_bound;
    map_->set_map(maps.slice(0), {});
    if (form == 0) {
      words_->setText(tr("Every row is the same: the map is of rank %1. One weight a word is all "
                         "there is.")
                          .arg(bound));
    } else if (form == 1) {
      words_->setText(tr("Each row is the first words of the same importances, normalised again: "
                         "the map is a triangle, of rank at most %1.")
                          .arg(bound));
    } else {
      words_->setText(tr("Each row sees %2 words at most; the map is a band of rank at most %1.")
                          .arg(bound)
                          .arg(window));
    }
  }

  LogitBars* bars_;
  QComboBox* form_;
  NumberSlider* window_;
  MapThumbnail* map_ = nullptr;
  QLabel* words_;
};

}  // namespace

ExperimentEntry importance_experiment() {
  return {"importance", {"words"}, [](const ExperimentContext& context) -> QWidget* {
            const auto words = context.settings.find("words");
            const QString text = words == context.settings.end()
                                     ? QString("To be or not to be that is")
                                     : QString::fromStdString(words->second);
            return new ImportanceExperiment(text.split(' ', Qt::SkipEmptyParts));
          }};
}

}  // namespace attnscope
