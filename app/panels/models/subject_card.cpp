#include "app/panels/models/subject_card.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/theme.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/progress_line.h"
#include "app/widgets/subject_badge.h"
#include "app/widgets/wrapped_label.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

constexpr qint64 kStillMs = 300;  // a shorter run that replaces maps does not change the card

QToolButton* flat_button(const QString& icon, const QString& name) {
  auto* button = new QToolButton;
  button->setProperty("flat", true);
  button->setProperty("icon_name", icon);
  button->setToolTip(name);
  button->setAccessibleName(name);
  button->setIconSize(QSize(15, 15));
  button->setFixedSize(24, 24);
  return button;
}

/// Range of a quantity over the layers: "3", or "1–8" if they differ.
struct Range {
  std::int64_t least = 0, most = 0;

  void take(std::int64_t count) {
    if (count == 0) return;  // 0: not recorded
    least = least == 0 ? count : std::min(least, count);
    most = std::max(most, count);
  }
  [[nodiscard]] QString text() const {
    return least == most ? QString::number(most) : QString("%1–%2").arg(least).arg(most);
  }
};

QString layers_and_heads(std::int64_t layers, const QString& heads) {
  const QString words =
      heads == "1" ? QObject::tr("%1 layers × %2 head") : QObject::tr("%1 layers × %2 heads");
  return words.arg(layers).arg(heads);
}

}  // namespace

/// A button that has the width of its place and shortens its text to it.
class ElidedButton : public QPushButton {
 public:
  ElidedButton() { setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); }

  void set_text(const QString& text) {
    full_text_ = text;
    setAccessibleName(text);
    elide();
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QPushButton::resizeEvent(event);
    elide();
  }

 private:
  void elide() {
    constexpr int kAroundText = 14;  // pixels, as in the style sheet
    setText(fontMetrics().elidedText(full_text_, Qt::ElideRight, width() - kAroundText));
  }

  QString full_text_;
};

QString subject_facts(const Subject& subject) {
  QStringList facts;
  if (subject.model || subject.trace) {
    facts << QString::fromStdString(in_words(subject.mechanism));
  }
  if (subject.model && subject.model->spec().arithmetic == Arithmetic::adder) {
    facts << QObject::tr("adder layers");
  }
  if (subject.trace) {
    const Trace& trace = *subject.trace;
    Range heads, tokens;
    for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
      heads.take(trace.heads(layer));
      tokens.take(trace.queries(layer));
    }
    facts << layers_and_heads(std::ssize(trace.layers), heads.text());
    facts << QObject::tr("%1 tokens").arg(tokens.text());
  } else if (subject.model) {
    const ModelSpec& spec = subject.model->spec();
    Range heads;
    heads.take(spec.layer.attention.heads);
    for (const PyramidStage& stage : spec.stages) heads.take(stage.heads);
    facts << layers_and_heads(spec.layers, heads.text());
    if (spec.tokens() > 0) facts << QObject::tr("%1 tokens").arg(spec.tokens());
  }
  return facts.join(" · ");
}

SubjectCard::SubjectCard(QWidget* parent) : QFrame(parent) {
  setObjectName("card");
  setFocusPolicy(Qt::StrongFocus);

  badge_ = new SubjectBadge(0);
  name_ = new ElidedLabel;
  set_role(name_, "heading");
  pin_ = flat_button("pin", tr("Pin as reference"));
  pin_->setObjectName("pin");
  pin_->setCheckable(true);
  pin_->hide();
  options_ = flat_button("settings", tr("Model options and assumptions"));
  overlay_ = flat_button("overlay", tr("Overlay another mechanism"));
  close_ = flat_button("close", tr("Close model"));

  auto* top = new QHBoxLayout;
  top->setSpacing(0);
  top->addWidget(badge_);
  top->addSpacing(6);
  top->addWidget(name_, 1);
  top->addWidget(close_);

  facts_ = new WrappedLabel;
  set_role(facts_, "muted");
  state_ = new WrappedLabel;
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  file_ = new WrappedLabel;
  file_->setObjectName("file_note");
  file_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  channel_row_ = new QWidget;
  auto* channel_layout = new QHBoxLayout(channel_row_);
  channel_layout->setContentsMargins(0, 2, 0, 0);
  channel_layout->setSpacing(6);
  auto* channel_label = new QLabel(tr("Channel"));
  channel_ = new QSpinBox;
  channel_->setObjectName("channel");
  channel_->setSpecialValueText(tr("mean"));
  channel_->setMinimum(-1);
  channel_->setKeyboardTracking(false);
  channel_->setFocusPolicy(Qt::StrongFocus);
  channel_->setAccessibleName(tr("Channel whose maps are shown"));
  channel_->setToolTip(
      tr("The channel of each head whose map is shown, or the mean over channels"));
  channel_label->setBuddy(channel_);
  channel_layout->addWidget(channel_label);
  channel_layout->addWidget(channel_);
  channel_layout->addStretch(1);
  channel_row_->setVisible(false);
  progress_ = new ProgressLine(tr("Progress"));
  assumptions_ = new ElidedButton;
  assumptions_->setObjectName("model_status");
  assumptions_->setProperty("flat", true);
  describe_ = new QPushButton(tr("Assign tensor roles…"));
  describe_->setObjectName("describe");
  describe_->hide();
  retry_ = new QPushButton(tr("Try again"));

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(6);
  buttons->addWidget(retry_);
  buttons->addStretch(1);
  auto* tools = new QHBoxLayout;
  tools->setSpacing(0);
  tools->addWidget(pin_);
  tools->addWidget(options_);
  tools->addWidget(overlay_);
  buttons->addLayout(tools);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 6, 8);
  column->setSpacing(4);
  column->addLayout(top);
  column->addWidget(facts_);
  column->addWidget(channel_row_);
  column->addWidget(state_);
  column->addWidget(file_);
  column->addWidget(progress_);
  column->addWidget(describe_);
  column->addWidget(assumptions_);
  column->addLayout(buttons);

  connect(describe_, &QPushButton::clicked, this, &SubjectCard::describe_wanted);
  connect(pin_, &QToolButton::clicked, this, &SubjectCard::pin_wanted);
  connect(channel_, &QSpinBox::valueChanged, this, [this](int value) {
    emit channel_chosen(value < 0 ? std::nullopt : std::optional<std::int64_t>(value));
  });
  connect(options_, &QToolButton::clicked, this, &SubjectCard::options_wanted);
  connect(assumptions_, &QPushButton::clicked, this, &SubjectCard::options_wanted);
  connect(overlay_, &QToolButton::clicked, this, &SubjectCard::overlay_wanted);
  connect(close_, &QToolButton::clicked, this, &SubjectCard::close_wanted);
  connect(retry_, &QPushButton::clicked, this, &SubjectCard::retry_wanted);
  tint_icons();
}

void SubjectCard::show_subject(const OpenSubject& subject, std::int64_t index, bool selected,
                               const std::optional<JobStatus>& job, bool has_input) {
  using State = OpenSubject::State;
  // Most runs that replace maps end before a changed card could be read: it first stays as it was.
  const bool again = subject.state == State::running && subject.subject.trace != nullptr;
  if (!again) running_again_.invalidate();
  if (again && !running_again_.isValid()) running_again_.start();
  const bool still = again && !running_again_.hasExpired(kStillMs);
  const State seen = still ? State::ready : subject.state;
  badge_->set_subject(index);
  name_->set_text(QString::fromStdString(subject.subject.label));
  const QString facts = subject_facts(subject.subject);
  facts_->setText(facts);
  facts_->setVisible(!facts.isEmpty());

  QString state;
  const char* role = "muted";
  switch (seen) {
    case State::waiting:
      state = has_input ? tr("Waiting") : tr("Waiting for an input: choose one below.");
      break;
    case State::loading:
      state = tr("Opening…");
      break;
    case State::running:
      state = tr("Running…");
      break;
    case State::ready:
      if (subject.stopped && subject.layers_so_far) {
        state = tr("Cancelled after %1 of %2 layers.")
                    .arg(*subject.layers_so_far)
                    .arg(subject.subject.trace->layers.size());
      } else if (subject.subject.trace && !subject.subject.trace->mechanism_trained) {
        state = tr("⚠ Not trained: laid over weights trained with another mechanism.");
        role = "warning";
      } else if (!subject.reference_says.empty()) {
        state = QString::fromStdString((subject.agrees_with_reference ? "" : "⚠ ") +
                                       subject.reference_says);
        if (!subject.agrees_with_reference) role = "warning";
      }
      break;
    case State::failed:
      if (subject.stopped) {
        state = tr("Cancelled.");
        break;
      }
      state = "⚠ " + QString::fromStdString(subject.error);
      role = "error";
      break;
  }
  if (!still && job && job->remaining_seconds)
    state += " " + remaining_time(*job->remaining_seconds);
  state_->setText(state);
  state_->setVisible(!state.isEmpty());
  set_role(state_, role);
  const QString file = QString::fromStdString(subject.file_change);
  file_->setText(subject.is_behind_file ? "⚠ " + file : file);
  file_->setVisible(!file.isEmpty());
  set_role(file_, subject.is_behind_file ? "warning" : "muted");
  progress_->setVisible(seen == State::loading || seen == State::running);
  progress_->set_fraction(job ? job->fraction : 0);

  const std::int64_t channels = subject.subject.trace ? subject.subject.trace->map_channels : 1;
  channel_row_->setVisible(subject.subject.model && channels > 1);
  if (channels > 1) {
    const QSignalBlocker quiet(channel_);
    channel_->setMaximum(static_cast<int>(channels) - 1);
    channel_->setSuffix(tr(" of %1").arg(channels));
    const int value = static_cast<int>(subject.channel.value_or(-1));
    if (channel_->value() != value) channel_->setValue(value);  // keeps what is being typed
  }
  show_status(status_of(subject.subject));
  assumptions_->setEnabled(subject.subject.model != nullptr);
  retry_->setVisible(subject.state == State::failed || subject.stopped);
  retry_->setText(subject.stopped ? tr("Resume") : tr("Try again"));
  options_->setVisible(!subject.file.empty());
  overlay_->setVisible(subject.subject.model != nullptr);

  setAccessibleName(tr("Model %1: %2").arg(index + 1).arg(name_->full_text()));
  setAccessibleDescription(state);
  if (property("selected").toBool() != selected) {
    setProperty("selected", selected);
    style()->unpolish(this);
    style()->polish(this);
  }
}

void SubjectCard::show_status(const ModelStatus& status) {
  const auto assumed = status.influential.size() + status.harmless.size();
  QString text = tr("%n assumption(s)", nullptr, static_cast<int>(assumed))
                     .replace("(s)", assumed == 1 ? "" : "s");
  if (status.state == ModelState::unconfirmed) text = tr("Unconfirmed: %1").arg(text);
  if (status.state == ModelState::confirmed) text = tr("Confirmed");
  if (status.state == ModelState::contradicted) text = "⚠ " + tr("Contradicted");
  assumptions_->set_text(text);
  assumptions_->setVisible(assumed > 0 || status.state != ModelState::known);
  QStringList lines{QString::fromStdString(in_words(status))};
  const auto list = [&lines](const QString& heading, const std::vector<Assumption>& assumptions) {
    if (!assumptions.empty()) lines << heading;
    for (const Assumption& each : assumptions) {
      lines << QString::fromStdString("  " + each.option + " = " + each.value +
                                      (each.reason.empty() ? "" : ": " + each.reason));
    }
  };
  list(tr("Assumed, worst first (click to change it):"), status.influential);
  list(tr("Assumed, of little weight:"), status.harmless);
  // Names in files must not act as markup.
  assumptions_->setToolTip("<qt>" + lines.join("\n").toHtmlEscaped().replace("\n", "<br>") +
                           "</qt>");
}

void SubjectCard::show_pin(bool can_be_pinned, bool pinned) {
  pin_->setVisible(can_be_pinned);
  const QString name = pinned ? tr("Reference: click to unpin (P)") : tr("Pin as reference (P)");
  pin_->setToolTip(name);
  pin_->setAccessibleName(name);
  if (pin_->isChecked() == pinned) return;
  pin_->setChecked(pinned);
  tint_icons();
}

void SubjectCard::show_describable(bool describable) { describe_->setVisible(describable); }

void SubjectCard::mousePressEvent(QMouseEvent* event) {
  QFrame::mousePressEvent(event);
  if (event->button() == Qt::LeftButton) emit chosen();
}

void SubjectCard::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) emit rename_wanted();
}

void SubjectCard::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(tr("Rename…"), this, &SubjectCard::rename_wanted);
  if (!options_->isHidden())
    menu.addAction(options_->toolTip(), this, &SubjectCard::options_wanted);
  if (!overlay_->isHidden())
    menu.addAction(overlay_->toolTip(), this, &SubjectCard::overlay_wanted);
  if (!pin_->isHidden()) menu.addAction(pin_->toolTip(), this, &SubjectCard::pin_wanted);
  menu.addAction(close_->toolTip(), this, &SubjectCard::close_wanted);
  menu.exec(event->globalPos());
}

void SubjectCard::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space) {
    emit chosen();
  } else if (event->key() == Qt::Key_Delete) {
    emit close_wanted();
  } else {
    QFrame::keyPressEvent(event);
  }
}

void SubjectCard::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) tint_icons();
}

void SubjectCard::tint_icons() {
  const WindowColours& colours = colours_of(*this);
  for (QToolButton* button : {pin_, options_, overlay_, close_}) {
    button->setIcon(tinted_icon(button->property("icon_name").toString(),
                                button->isChecked() ? colours.accent : colours.muted));
  }
}

}  // namespace attnscope
