#include "app/panels/answer/answer_panel.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "app/panels/answer/answer_bars.h"
#include "app/panels/importance/text_heat.h"
#include "app/session/job_queue.h"
#include "app/session/prediction.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"

namespace attnscope {

namespace {

constexpr std::size_t kAnswers = 5;
constexpr double kLeastRange = 4;  // bits; least upper end of the loss scale

double logit_at(const Trace& trace, std::int64_t index) {
  return static_cast<double>(trace.logits.values()[static_cast<std::size_t>(index)]);
}

QString verdict_of(const Prediction& prediction) {
  const std::optional<bool> right = prediction.right();
  if (!right) return {};
  if (*right) return AnswerPanel::tr("✓ right");
  return AnswerPanel::tr("✗ it is: %1").arg(QString::fromStdString(prediction.true_class->name));
}

/// Probability of every class by the index of its logit, with unchanged maps.
std::unordered_map<std::int64_t, double> before_of(const OpenSubject& open) {
  std::unordered_map<std::int64_t, double> before;
  if (!open.unchanged || !open.ran_with.any()) return before;
  Subject subject = open.subject;
  subject.trace = open.unchanged;
  const auto prediction = prediction_of(subject, subject.trace->logits.values().size());
  if (!prediction) return before;
  for (const Answer& answer : prediction->likeliest) before[answer.index] = answer.probability;
  return before;
}

std::vector<AnswerBars::Row> rows_of(const OpenSubject& open, const Prediction& prediction) {
  const auto before = before_of(open);
  const std::int64_t own = prediction.true_class ? prediction.true_class->index : -1;
  std::vector<Answer> answers = prediction.likeliest;
  const bool seen = own < 0 || std::ranges::find(answers, own, &Answer::index) != answers.end();
  if (!seen) answers.back() = *prediction.true_class;
  std::vector<AnswerBars::Row> rows;
  for (const Answer& answer : answers) {
    AnswerBars::Row row{.answer = answer,
                        .before = std::nullopt,
                        .logit = logit_at(*open.subject.trace, answer.index),
                        .logit_before = std::nullopt,
                        .is_true = answer.index == own};
    if (const auto found = before.find(answer.index); found != before.end()) {
      row.before = found->second;
      row.logit_before = logit_at(*open.unchanged, answer.index);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

AnswerBars::Content content_of(const OpenSubject& open, std::int64_t place) {
  AnswerBars::Content content;
  content.place = place;
  content.title = QString::fromStdString(open.subject.label);
  const auto prediction = prediction_of(open.subject, kAnswers);
  if (!open.subject.trace) {
    content.instead = AnswerPanel::tr("has not run yet");
  } else if (!prediction) {
    content.instead = AnswerPanel::tr("gives no answer: no classes, no next token");
  } else if (!prediction->finite) {
    content.instead = AnswerPanel::tr("⚠ a logit is NaN or infinite: nothing is predicted");
  } else {
    if (prediction->next_token) content.title = AnswerPanel::tr("%1: next").arg(content.title);
    content.verdict = verdict_of(*prediction);
    content.right = prediction->right().value_or(true);
    content.rows = rows_of(open, *prediction);
  }
  return content;
}

}  // namespace

AnswerPanel::AnswerPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  column_ = new QVBoxLayout;
  column_->setSpacing(6);
  body()->addLayout(column_);
  body()->addStretch(1);
  connect(&session_, &Session::subjects_changed, this, &AnswerPanel::refresh);
  connect(&session_, &Session::trace_ready, this, &AnswerPanel::refresh);
  refresh();
}

bool AnswerPanel::is_behind() const {
  return isVisible() &&
         std::ranges::any_of(losses_, [](const auto& known) { return known.second.job != 0; });
}

void AnswerPanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  refresh();
}

void AnswerPanel::add_part() {
  Part part{new AnswerBars, new ElidedLabel(Qt::ElideRight), new TextHeat};
  const std::size_t index = parts_.size();
  part.caption->setProperty("role", "muted");
  part.text->setObjectName(QString("losses_%1").arg(index));
  for (QWidget* widget : {static_cast<QWidget*>(part.bars), static_cast<QWidget*>(part.caption),
                          static_cast<QWidget*>(part.text)}) {
    column_->addWidget(widget);
  }
  connect(part.bars, &AnswerBars::clicked, this, [this, index] {
    const Selection& selection = session_.selection();
    if (index < shown_.size()) {
      session_.select_map(shown_[index], selection.layer, selection.head);
    }
  });
  parts_.push_back(part);
}

void AnswerPanel::refresh() {
  std::erase_if(losses_, [this](const auto& known) { return !session_.find(known.first); });
  const std::vector<OpenSubject>& subjects = session_.subjects();
  show_instead(
      subjects.empty()
          ? tr("Open a model to see its most probable classes, or how well it predicts the "
               "text.")
          : QString());
  if (!isVisible()) return;
  while (parts_.size() < subjects.size()) add_part();
  shown_.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool used = i < subjects.size();
    parts_[i].bars->setVisible(used);
    parts_[i].caption->setVisible(false);
    parts_[i].text->setVisible(false);
    if (!used) continue;
    shown_.push_back(subjects[i].id);
    parts_[i].bars->set_content(content_of(subjects[i], static_cast<std::int64_t>(i)));
    if (!has_token_losses(subjects[i])) continue;
    want_losses(subjects[i]);
    show_losses(subjects[i], parts_[i]);
  }
}

void AnswerPanel::want_losses(const OpenSubject& open) {
  Losses& losses = losses_[open.id];
  if (losses.trace == open.subject.trace || open.state != OpenSubject::State::ready) return;
  if (open.layers_so_far) return;  // there is no answer yet
  session_.jobs().cancel(losses.job);
  losses.trace = open.subject.trace;
  losses.error.clear();
  losses.stopped = false;
  const auto is_current = [this, id = open.id, trace = open.subject.trace] {
    const auto known = losses_.find(id);
    return known != losses_.end() && known->second.trace == trace;
  };
  losses.job = session_.jobs().submit(
      tr("Losses of %1").arg(QString::fromStdString(open.subject.label)),
      [this, id = open.id, subject = open,
       is_current](const Progress& progress) -> JobQueue::Delivery {
        const TokenLosses found = token_losses(subject, progress);
        return [this, id, found, is_current] {
          if (!is_current()) return;
          losses_[id].found = found;
          losses_[id].job = 0;
          refresh();
        };
      },
      [this, id = open.id, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        losses_[id].job = 0;
        losses_[id].found = {};
        losses_[id].stopped = failure.cancelled;
        losses_[id].error = failure.cancelled ? tr("Cancelled before the text was evaluated")
                                              : "⚠ " + QString::fromStdString(failure.what);
        refresh();
      },
      this);
}

bool AnswerPanel::is_stopped() const {
  return isVisible() &&
         std::ranges::any_of(losses_, [](const auto& known) { return known.second.stopped; });
}

void AnswerPanel::resume() {
  for (auto& [subject, losses] : losses_) {
    if (losses.stopped) losses.trace = nullptr;
  }
  refresh();
}

void AnswerPanel::show_losses(const OpenSubject& open, Part& part) {
  const Losses& losses = losses_[open.id];
  const std::vector<std::string>& texts = open.subject.trace->layout.texts;
  part.caption->setVisible(true);
  if (losses.found.nats.size() != texts.size()) {
    part.caption->set_text(losses.error.isEmpty() ? tr("Evaluating the text…") : losses.error);
    return;
  }
  std::vector<double> bits;
  double most = kLeastRange;
  for (const double nats : losses.found.nats) {
    bits.push_back(nats / std::numbers::ln2);
    if (std::isfinite(bits.back())) most = std::max(most, bits.back());
  }
  ColourScale scale;
  scale.label = "−log₂ p of the token that came, bits";
  scale.colour_map = session_.view().colour_map;
  scale.reversed = session_.view().reversed_colours;
  scale.maximum = most;
  part.caption->set_text(tr("Surprise of each token: %1 bits a token; brightest %2 bits")
                             .arg(losses.found.bits_per_token(), 0, 'f', 2)
                             .arg(most, 0, 'f', 1));
  part.text->setVisible(true);
  part.text->setAccessibleName(
      tr("Surprise of each token, %1").arg(QString::fromStdString(open.subject.label)));
  part.text->set_texts(texts);
  part.text->set_weights(bits, scale, std::ssize(texts) - 1, std::nullopt);
}

}  // namespace attnscope
