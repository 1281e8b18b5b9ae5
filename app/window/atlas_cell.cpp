#include "app/window/atlas_cell.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>
#include <QStackedLayout>
#include <QStringList>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/atlas_link.h"
#include "app/look/theme.h"
#include "app/panels/describe/role_editor.h"
#include "app/panels/models/subject_card.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/bold_line.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/subject_badge.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

constexpr std::size_t kAnswers = 5;      // number in the tool tip
constexpr qsizetype kAnswersInLine = 3;  // maximum number in the line
constexpr int kLeastWidth = 120;         // pixels
// Widths of a shortened name in pixels at the default text size: other parts leave for the first
// while there are any that can, and for the second the last ones.
constexpr int kReadableName = 150, kLegibleName = 64;

/// The largest possible rank, " of 197"; empty if the maps differ in size.
QString of_full_rank(const Trace& trace) {
  std::int64_t full = 0;
  for (const LayerTrace& layer : trace.layers) {
    const Shape& shape = layer.implied_map.shape();
    if (shape.size() < 2) continue;
    const std::int64_t here = std::min(shape[shape.size() - 2], shape.back());
    if (full != 0 && here != full) return {};
    full = here;
  }
  return full == 0 ? QString() : AtlasHead::tr(" of %1").arg(full);
}

/// "98.2 %" for one digit. Never "100 %" for less than 1, nor "0 %" for more than 0.
QString percent(double probability, int digits) {
  const double shown = 100 * probability, least = std::pow(10, -digits);
  const auto number = [&](double value) { return QString::number(value, 'f', digits) + " %"; };
  if (shown < 100 && shown >= 100 - least / 2) return "> " + number(100 - least);
  if (shown > 0 && shown < least / 2) return "< " + number(least);
  return number(shown);
}

QString in_words(const Answer& answer, int digits = 1) {
  return QString::fromStdString(answer.name) + " " + percent(answer.probability, digits);
}

QString answer_text(const Prediction& prediction, qsizetype count) {
  if (!prediction.finite) return AtlasHead::tr("⚠ logits not finite");
  QStringList answers;
  for (const Answer& answer : prediction.likeliest) {
    if (answers.size() < count) answers << in_words(answer, 0);
  }
  QString text =
      (prediction.next_token ? AtlasHead::tr("next: ") : QString()) + answers.join(" · ");
  if (const std::optional<bool> right = prediction.right()) {
    text += *right
                ? " ✓"
                : AtlasHead::tr(" ✗ %1").arg(QString::fromStdString(prediction.true_class->name));
  }
  return text;
}

QString answer_tip(const Prediction& prediction) {
  if (!prediction.finite) return AtlasHead::tr("A logit is NaN or infinite: nothing is predicted.");
  QStringList lines = {prediction.next_token ? AtlasHead::tr("Most probable next tokens:")
                                             : AtlasHead::tr("Most probable classes:")};
  for (const Answer& answer : prediction.likeliest) lines << in_words(answer);
  if (prediction.true_class) {
    lines << AtlasHead::tr("True class: %1").arg(in_words(*prediction.true_class));
  }
  return lines.join('\n');
}

}  // namespace

AtlasHead::AtlasHead(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
                     QWidget* parent)
    : QFrame(parent), session_(session), spectra_(spectra), link_(link), subject_(subject) {
  setObjectName("atlas_head");
  setToolTip(tr("Double-click: maximise or restore (M)"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 0, 5, 0);
  row->setSpacing(6);
  badge_ = new SubjectBadge(session.place_of(subject));
  name_ = new ElidedLabel;
  name_->setProperty("role", "heading");
  mark_ = new QLabel;
  mark_->setObjectName("mark");
  mechanism_ = new ElidedLabel(Qt::ElideRight);
  mechanism_->setProperty("role", "muted");
  answer_ = new ElidedLabel(Qt::ElideRight);
  answer_->setObjectName("prediction");
  ranks_ = new BoldLine;
  ranks_->setObjectName("mean_ranks");
  ranks_->setAlignment(Qt::AlignRight);
  ranks_->setProperty("role", "muted");
  for (QWidget* part :
       {static_cast<QWidget*>(badge_), static_cast<QWidget*>(name_), static_cast<QWidget*>(mark_),
        static_cast<QWidget*>(mechanism_), static_cast<QWidget*>(answer_)}) {
    row->addWidget(part);
  }
  // Labels have their natural width and shrink if necessary.
  for (ElidedLabel* label : {name_, mechanism_, answer_}) {
    label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  }
  row->addWidget(ranks_, 1);
  connect(&link_, &AtlasLink::drawn_changed, this, &AtlasHead::refresh);
}

QSize AtlasHead::minimumSizeHint() const {
  return {kLeastWidth, QFrame::minimumSizeHint().height()};
}

QString AtlasHead::rank_text(RankWords words) const {
  const std::shared_ptr<const SubjectSpectra> spectra = spectra_.latest(subject_);
  const bool in_full = words == RankWords::all;
  const RankThreshold& threshold = session_.view().rank_threshold;
  const QString without = mean_rank_text(spectra->without, threshold);
  const QString with = mean_rank_text(spectra->with, threshold);
  if (without.isEmpty()) return in_full ? tr("⚠ no rank: see the table") : tr("⚠ no rank");
  if (QString changed = changed_rank(in_full); !changed.isEmpty()) return changed;
  // I cannot be added to maps that are not square.
  const bool has_with = !with.isEmpty() && spectra->with.size() == spectra->without.size();
  const bool shows_with =
      has_with && shows_identity(*session_.trace(subject_), session_.view().identity);
  if (words == RankWords::none) return QString("<b>%1</b>").arg(shows_with ? with : without);
  if (words == RankWords::of_view && shows_with) return tr("rank +I <b>%1</b>").arg(with);
  QString text = (in_full ? tr("mean rank <b>%1</b>%2") : tr("rank <b>%1</b>%2"))
                     .arg(without, in_full ? of_full_rank(*session_.trace(subject_)) : QString());
  if (words == RankWords::of_view) return text;
  // Only some layers are known while the spectra are computed, or if that was cancelled.
  const std::optional<SpectrumStore::Known> known = spectra_.known(subject_);
  if (known && known->layers < known->of && spectra_.of(subject_) == spectra) {
    text = tr("%1 (%2 of %3 layers)").arg(text).arg(known->layers).arg(known->of);
  }
  if (!has_with) return text;
  return text + (in_full ? tr(", with I <b>%1</b>") : tr(", +I <b>%1</b>")).arg(with);
}

/// Keeps the ranks of the last run, marked, while those of the present one are computed.
void AtlasHead::refresh_ranks() {
  const std::shared_ptr<const SubjectSpectra> spectra = spectra_.latest(subject_);
  const OpenSubject* const open = session_.find(subject_);
  const bool computing = open && open->subject.trace && !open->stopped &&
                         !spectra_.is_stopped(subject_) && spectra_.error_of(subject_).empty();
  if (spectra && !spectra->without.empty()) {
    for (std::size_t words = 0; words < rank_words; ++words) {
      rank_texts_[words] = rank_text(static_cast<RankWords>(words));
    }
  } else if (!computing) {
    rank_texts_.fill({});
  }
  const bool of_last_run = computing && spectra_.of(subject_) == nullptr;
  pending_ = of_last_run && !rank_texts_.front().isEmpty() ? " …" : "";
}

/// The mean rank before and after the change of the maps; empty if the maps are unchanged.
QString AtlasHead::changed_rank(bool in_full) const {
  const OpenSubject* const open = session_.find(subject_);
  const auto before = spectra_.of_unchanged(subject_);
  const auto now = spectra_.latest(subject_);
  if (!open || !open->unchanged || !before || !now) return {};
  const RankThreshold& threshold = session_.view().rank_threshold;
  const auto mean = [threshold](const SubjectSpectra& spectra, const Trace& trace) {
    const bool with = shows_identity(trace, IdentityView::as_is);
    return mean_rank_text(with ? spectra.with : spectra.without, threshold);
  };
  const QString was = mean(*before, *open->unchanged), is = mean(*now, *open->subject.trace);
  if (was.isEmpty() || is.isEmpty()) return {};
  return (in_full ? tr("mean rank %1 → <b>%2</b>") : tr("rank %1 → <b>%2</b>")).arg(was, is);
}

QString AtlasHead::mark() const {
  const std::int64_t reference = session_.place_of(session_.reference());
  if (reference < 0) return {};
  if (subject_ == session_.reference()) return tr("reference");
  const AtlasLink::Drawn drawn = link_.drawn(subject_);
  const QString number = QString::number(reference + 1);
  const QString own = QString::number(session_.place_of(subject_) + 1);
  if (link_.blinking()) return tr("blink: maps of %1").arg(number);
  if (drawn.difference) {
    switch (session_.view().comparison) {
      case ComparisonView::absolute_difference:
        return tr("|%1 − %2|").arg(own, number);
      case ComparisonView::relative_difference:
        return tr("(%1 − %2) / (|%1| + |%2|)").arg(own, number);
      default:
        return tr("%1 − %2").arg(own, number);
    }
  }
  if (drawn.wipe) return tr("%1 wiped over %2").arg(number, own);
  if (drawn.over_opacity > 0) return tr("%1 laid over %2").arg(number, own);
  return {};
}

void AtlasHead::refresh_prediction() {
  const std::shared_ptr<const Trace> trace = session_.trace(subject_);
  if (trace == predicted_from_) return;
  const OpenSubject* const open = session_.find(subject_);
  // A run in progress has no answer yet; that of the last run stays.
  if (open && open->layers_so_far && open->in_progress()) return;
  predicted_from_ = trace;
  prediction_ = open ? prediction_of(open->subject, kAnswers) : std::nullopt;
  answer_->set_tip(prediction_ ? answer_tip(*prediction_) : QString());
}

void AtlasHead::refresh() {
  const OpenSubject* const open = session_.find(subject_);
  if (!open) return;
  badge_->set_subject(session_.place_of(subject_));
  const QString label = QString::fromStdString(open->subject.label);
  const QString facts = subject_facts(open->subject);
  // The changes are shown as a mark next to the name.
  const QString changed =
      open->what_if.any() ? ", " + QString::fromStdString(in_words(open->what_if)) : QString();
  name_->set_text(QString(label).remove(changed));
  name_->set_tip(facts.isEmpty() ? label : label + "\n" + facts);
  const std::shared_ptr<const Trace> trace = session_.trace(subject_);
  QStringList marks;
  if (open->ran_with.any()) {
    marks << QString::fromStdString(in_words(open->ran_with));
  } else if (trace && !trace->mechanism_trained) {
    marks << tr("not trained");
  }
  if (open->layers_so_far && trace && !open->stopped) {
    marks << tr("%1 of %2 layers so far").arg(*open->layers_so_far).arg(trace->layers.size());
  }
  if (const QString compared = this->mark(); !compared.isEmpty()) marks << compared;
  const QString mark = marks.join(" · ");
  mark_->setText(mark);
  set_role(mark_, open->ran_with.any() ? "run" : "view");
  mechanism_->set_text(trace ? QString::fromStdString(in_words(trace->mechanism)) : QString());
  refresh_prediction();
  refresh_ranks();
  ranks_->setToolTip(tr("Mean over all maps of the fewest singular values that hold %1 % of %2, "
                        "without and with I. The plot marks the rank of the mean curve, which "
                        "need not be the same.")
                         .arg(100 * session_.view().rank_threshold.level)
                         .arg(QString::fromUtf8(symbol_of(session_.view().rank_threshold.of))));
  fit();
}

void AtlasHead::fit() {
  enum Leaving {
    nothing,
    other_answers,
    words_of_ranks,
    mechanism,
    rank_with_identity,
    word_of_rank,
    answer,  // with the word of the rank again
    mark,
    number_alone
  };
  const int name = name_->sizeHint().width();
  const double scale = text_scale_of(font());
  const QMargins margins = layout()->contentsMargins();
  for (const Leaving leaving : {nothing, other_answers, words_of_ranks, mechanism,
                                rank_with_identity, word_of_rank, answer, mark, number_alone}) {
    const QString likeliest =
        prediction_ ? answer_text(*prediction_, leaving < other_answers ? kAnswersInLine : 1)
                    : QString();
    const bool answers = leaving < answer && !likeliest.isEmpty();
    const bool wordless = leaving == word_of_rank || leaving == number_alone;
    const RankWords words = wordless                       ? RankWords::none
                            : leaving < words_of_ranks     ? RankWords::all
                            : leaving < rank_with_identity ? RankWords::few
                                                           : RankWords::of_view;
    const QString ranks = rank_texts_[static_cast<std::size_t>(words)];
    const std::pair<QWidget*, bool> parts[] = {
        {badge_, true},
        {mark_, leaving < mark && !mark_->text().isEmpty()},
        {mechanism_, leaving < mechanism && !mechanism_->full_text().isEmpty()}};
    int room = width() - margins.left() - margins.right();
    for (const auto& [part, stays] : parts) {
      if (stays) room -= part->sizeHint().width() + layout()->spacing();
    }
    room -= ranks_->width_of(ranks) + layout()->spacing();
    if (answers)
      room -= answer_->fontMetrics().horizontalAdvance(likeliest) + 2 + layout()->spacing();
    const int wanted =
        static_cast<int>((leaving < word_of_rank ? kReadableName : kLegibleName) * scale);
    if (room < std::min(name, wanted) && leaving != number_alone) continue;
    for (const auto& [part, stays] : parts) part->setVisible(stays);
    answer_->set_text(likeliest);
    answer_->setVisible(answers);
    ranks_->setText(ranks + pending_);
    // The name alone is shortened, for the mark of pending ranks too: no other part comes or goes
    // with it.
    room -= ranks_->width_of(ranks + pending_) - ranks_->width_of(ranks);
    name_->setMaximumWidth(room < name ? std::max(room, name_->minimumSizeHint().width())
                                       : QWIDGETSIZE_MAX);
    return;
  }
}

void AtlasHead::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  if (event->oldSize().width() != width()) fit();
}

void AtlasHead::mouseDoubleClickEvent(QMouseEvent*) { emit enlarge_wanted(); }

AtlasCell::AtlasCell(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
                     const QString& no_graphics, QWidget* parent)
    : QFrame(parent), session_(session), subject_(subject), no_graphics_(no_graphics) {
  setObjectName("atlas_cell");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);  // the frame has its own
  column->setSpacing(0);
  head_ = new AtlasHead(session, spectra, link, subject);
  connect(head_, &AtlasHead::enlarge_wanted, this, &AtlasCell::enlarge_wanted);
  column->addWidget(head_);

  content_ = new QWidget;
  stack_ = new QStackedLayout(content_);
  if (no_graphics.isEmpty()) {
    canvas_ = new AtlasCanvas(session, link, subject);
    stack_->addWidget(canvas_);
  } else {
    stack_->addWidget(new QWidget);
  }
  instead_ = new QLabel;
  instead_->setWordWrap(true);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setMargin(8);
  instead_->setProperty("role", "muted");
  stack_->addWidget(instead_);
  column->addWidget(content_, 1);

  failure_ = new QWidget;
  auto* row = new QHBoxLayout(failure_);
  row->setContentsMargins(6, 3, 6, 3);
  row->setSpacing(8);
  failed_badge_ = new SubjectBadge(session.place_of(subject));
  failed_text_ = new ElidedLabel(Qt::ElideRight);
  failed_text_->setProperty("role", "error");
  describe_ = new QPushButton(tr("Assign tensor roles…"));
  options_ = new QPushButton(tr("Options…"));
  options_->setObjectName("failure_options");
  options_->setToolTip(tr("Options for reading and running the file"));
  auto* retry = retry_ = new QPushButton;
  retry->setObjectName("retry");
  auto* close = close_ = new QPushButton(tr("Close"));
  row->addWidget(failed_badge_);
  row->addWidget(failed_text_, 1);
  row->addWidget(describe_);
  row->addWidget(options_);
  row->addWidget(retry);
  row->addWidget(close);
  column->addWidget(failure_);
  connect(describe_, &QPushButton::clicked, this,
          [this] { ask_for_roles(window(), session_, subject_); });
  connect(options_, &QPushButton::clicked, this,
          [this] { ask_for_options(window(), session_, subject_); });
  connect(retry, &QPushButton::clicked, this, [this] { session_.retry(subject_); });
  // The connection is queued, because this cell is destroyed with its subject.
  connect(
      close, &QPushButton::clicked, this, [this] { session_.close(subject_); },
      Qt::QueuedConnection);
  refresh();
}

int AtlasCell::chrome_height() const { return head_->sizeHint().height() + 2; }

bool AtlasCell::settled() const {
  return failed_ || !canvas_ || !canvas_->isVisible() || canvas_->settled();
}

QString AtlasCell::instead_of_maps(const OpenSubject& open) const {
  if (open.subject.trace) return no_graphics_;
  switch (open.state) {
    case OpenSubject::State::loading:
      return tr("Opening the file…");
    case OpenSubject::State::running:
      return tr("Running the model…");
    default:
      if (session_.waits_for_question(open)) {
        return tr("Waiting for a text: ask something about the picture on the left.");
      }
      return session_.input_error().empty()
                 ? tr("Waiting for an input: choose a sample on the left, or drop an image.")
                 : tr("The input could not be opened: choose another on the left.");
  }
}

void AtlasCell::show_failure(const OpenSubject& open) {
  failed_badge_->set_subject(session_.place_of(subject_));
  const QString error = QString::fromStdString(open.error);
  const QString label = QString::fromStdString(open.subject.label);
  QString text = "⚠ " + error.simplified();
  if (open.stopped) text = label + ": " + tr("stopped before it had maps");
  if (open.stopped && open.layers_so_far) {
    text = tr("stopped after %1 of %2 layers")
               .arg(*open.layers_so_far)
               .arg(open.subject.trace->layers.size());
  }
  failed_text_->set_text(text);
  failed_text_->set_tip(error);
  set_role(failed_text_, open.stopped ? "muted" : "error");
  retry_->setText(open.stopped ? tr("Resume") : tr("Try again"));
  options_->setVisible(!open.stopped && !open.file.empty());
  if (open.stopped || open.file.empty()) {
    describe_->hide();
  } else if (described_failure_ != open.error) {
    described_failure_ = open.error;
    describe_->setVisible(RoleEditor::is_for(open.file, open.options));
  }
}

void AtlasCell::refresh() {
  const OpenSubject* const found = session_.find(subject_);
  if (!found) return;
  failed_ = found->state == OpenSubject::State::failed;
  head_->setVisible(!failed_);
  content_->setVisible(!failed_);
  failure_->setVisible(failed_ || found->stopped);
  close_->setVisible(failed_);
  failed_badge_->setVisible(failed_);
  if (failed_ || found->stopped) show_failure(*found);
  if (!failed_) {
    head_->refresh();
    const QString instead = instead_of_maps(*found);
    instead_->setText(instead);
    stack_->setCurrentIndex(instead.isEmpty() ? 0 : 1);
  }
  const bool selected = session_.selection().subject == subject_ && session_.subjects().size() > 1;
  if (property("selected").toBool() != selected) {
    setProperty("selected", selected);
    style()->unpolish(this);
    style()->polish(this);
  }
}

void AtlasCell::mousePressEvent(QMouseEvent* event) {
  QFrame::mousePressEvent(event);
  const Selection& selection = session_.selection();
  session_.select_map(subject_, selection.layer, selection.head);
}

}  // namespace attnscope
