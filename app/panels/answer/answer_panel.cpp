#include "app/panels/answer/answer_panel.h"

#include <QFileDialog>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/text_heat.h"
#include "app/session/job_queue.h"
#include "app/session/prediction.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "core/architecture/class_names.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/model/transformer/generation.h"

namespace attnscope {

namespace {

constexpr int kBarGap = 6;  // pixels
constexpr int kLeastBar = 36;
constexpr int kNarrow = 230;  // pixels; below, only a mark shows the change

constexpr std::size_t kAnswers = 5;
constexpr std::int64_t kNewTokens = 20;  // added by "Continue the text"
constexpr double kLeastRange = 4;        // bits; least upper end of the loss scale

double logit_at(const Trace& trace, std::int64_t index) {
  return static_cast<double>(trace.logits.values()[static_cast<std::size_t>(index)]);
}

// The true class is a row of its own: its name beside that of the model would be cut off.
QString verdict_of(const Prediction& prediction) {
  const std::optional<bool> right = prediction.right();
  if (!right) return {};
  return *right ? AnswerPanel::tr("✓ right") : AnswerPanel::tr("✗ wrong");
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
    content.instead = AnswerPanel::tr("no classifier and no next-token output");
  } else if (!prediction->finite) {
    content.instead = AnswerPanel::tr("⚠ a logit is NaN or infinite: nothing is predicted");
  } else {
    content.continues = prediction->next_token && open.subject.model != nullptr;
    if (prediction->next_token) content.title = AnswerPanel::tr("%1: next").arg(content.title);
    content.verdict = verdict_of(*prediction);
    content.right = prediction->right().value_or(true);
    content.rows = rows_of(open, *prediction);
  }
  return content;
}

constexpr const char* kLabels = "labels";

/// The model option with the names of the classes; empty if it is not set.
std::string chosen_names(const OpenSubject& open) {
  const auto found = open.options.overrides.find(kLabels);
  return found == open.options.overrides.end() ? std::string() : found->second;
}

/// The option's value for the eye: "CIFAR-10", or the name of a file or folder.
QString shown_names(const std::string& labels) {
  if (labels.starts_with('@')) return QString::fromStdString(name_of_folder(labels.substr(1)));
  return class_names_of(labels).empty() ? AnswerPanel::tr("as set in the options")
                                        : QString::fromStdString(labels);
}

/// Throws Error if a file "@FILE" cannot be read or does not hold a name for each class: otherwise
/// the model would not open again.
void check_names(const std::string& labels, std::size_t classes) {
  if (labels.empty()) return;
  const std::size_t names = names_referred_to(labels).size();
  if (names == classes) return;
  throw Error(ErrorKind::usage, "the number of names differs from the number of classes")
      .in_file(labels.substr(1))
      .expected(std::to_string(classes))
      .found(std::to_string(names));
}

/// The option for the classes of the folder that the input is an item of; empty if it is not of a
/// folder with a folder for each class.
std::string names_of_input(const std::string& locator, std::size_t classes) {
  const std::filesystem::path folder = locator.substr(0, locator.rfind('#'));
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return {};
  std::string labels = "@" + std::filesystem::absolute(folder, ignored).string();
  try {
    check_names(labels, classes);
  } catch (const Error&) {
    return {};
  }
  return labels;
}

void show_names(const OpenSubject& open, QToolButton& button) {
  const std::string chosen = chosen_names(open);
  button.setText(chosen.empty() ? AnswerPanel::tr("Name classes") : AnswerPanel::tr("Class names"));
  button.setToolTip(
      chosen.empty()
          ? AnswerPanel::tr("The file does not name the classes: choose the data set of the "
                            "training")
          : AnswerPanel::tr("Class names: %1").arg(shown_names(chosen)));
  button.setAccessibleName(
      AnswerPanel::tr("%1, %2").arg(button.text(), QString::fromStdString(open.subject.label)));
  button.setAccessibleDescription(button.toolTip());
}

/// True for the classes of a model whose file gives no names, or only numbers: those of data
/// without names, or transformers' "LABEL_0". A network in training is read from its data, not from
/// a file.
bool needs_names(const OpenSubject& open) {
  const Subject& subject = open.subject;
  if (!subject.model || !subject.trace || open.file.empty()) return false;
  const std::vector<std::string>& labels = subject.trace->labels;
  const bool named = !labels.empty() && labels.front() != "0" && labels.front() != "LABEL_0";
  if (named && chosen_names(open).empty()) return false;
  std::error_code ignored;
  const auto prediction = prediction_of(subject, 1);
  return prediction && !prediction->next_token &&
         std::filesystem::exists(subject.model->file(), ignored);
}

}  // namespace

QString percent_text(double probability) {
  const double shown = 100 * probability;
  if (shown < 100 && shown >= 99.95) return "> 99.9 %";
  if (shown > 0 && shown < 0.05) return "< 0.1 %";
  return QString::number(shown, 'f', 1) + " %";
}

AnswerBars::AnswerBars(QWidget* parent) : QWidget(parent) {
  setObjectName("answer_bars");
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void AnswerBars::set_content(Content content) {
  if (content == content_) return;
  const QSize before = sizeHint();
  content_ = std::move(content);
  QStringList spoken = {content_.verdict};
  for (const Row& row : content_.rows) {
    spoken << name_of(row) + " " + percent_text(row.answer.probability);
  }
  setAccessibleName(tr("Answer of %1").arg(content_.title));
  setAccessibleDescription(spoken.join(", "));
  measure_names();
  if (sizeHint() != before) updateGeometry();
  update();
}

void AnswerBars::measure_names() {
  names_ = 0;
  for (const Row& row : content_.rows) {
    // One pixel more, because widths of texts are rounded.
    names_ = std::max(names_, fontMetrics().horizontalAdvance(name_of(row)) + 1);
  }
}

QString AnswerBars::name_of(const Row& row) {
  return (row.is_true ? "✓ " : "") + QString::fromStdString(row.answer.name);
}

int AnswerBars::line() const { return fontMetrics().height() + 3; }

bool AnswerBars::shows_change() const {
  const bool compared =
      std::ranges::any_of(content_.rows, [](const Row& row) { return row.before.has_value(); });
  return compared && width() >= kNarrow;
}

int AnswerBars::number_width() const {
  const int change = shows_change() ? fontMetrics().horizontalAdvance("+00.0") + kBarGap : 0;
  return fontMetrics().horizontalAdvance("> 99.9 %") + change;
}

bool AnswerBars::is_stacked() const {
  return names_ + kLeastBar + number_width() + 3 * kBarGap > width();
}

void AnswerBars::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  updateGeometry();  // names may go over the bars, or beside them
}

QSize AnswerBars::sizeHint() const {
  const int rows = content_.rows.empty() ? 1 : static_cast<int>(content_.rows.size());
  return {260, (rows * (is_stacked() ? 2 : 1) + 1) * line() + kBarGap};
}

QSize AnswerBars::minimumSizeHint() const { return {120, sizeHint().height()}; }

QRectF AnswerBars::row_rect(std::size_t row) const {
  const double height = line() * (is_stacked() ? 2 : 1);
  return {0, line() + height * static_cast<double>(row), static_cast<double>(width()), height};
}

void AnswerBars::paint_row(QPainter& painter, const Row& row, const QRectF& whole) const {
  const WindowColours& colours = colours_of(*this);
  const QFontMetrics metrics = painter.fontMetrics();
  const QColor own = subject_colour(content_.place, colours.theme);
  const bool compared = row.before.has_value();
  const bool says_change = compared && shows_change();
  const int number = metrics.horizontalAdvance("> 99.9 %");
  const int change = number_width() - number;
  const bool stacked = is_stacked();
  const QRectF name_line(whole.left(), whole.top(), stacked ? whole.width() : names_, line());
  painter.setPen(row.is_true ? colours.ready : colours.text);
  painter.drawText(
      name_line, Qt::AlignVCenter | Qt::AlignLeft,
      metrics.elidedText(name_of(row), Qt::ElideMiddle, static_cast<int>(name_line.width())));

  const int name = stacked ? -kBarGap : names_;
  const QRectF place(whole.left(), whole.bottom() - line(), whole.width(), line());
  const QRectF bar(place.left() + name + kBarGap, place.top() + 3,
                   place.width() - name - number - change - 3 * kBarGap, place.height() - 6);
  painter.fillRect(bar, colours.sunken);
  const auto upto = [&](double share) {
    return QRectF(bar.left(), bar.top(), bar.width() * std::clamp(share, 0.0, 1.0), bar.height());
  };
  painter.fillRect(upto(row.answer.probability), own);
  if (compared) {
    // A line across the bar marks the value before, so that both ends of the change are visible.
    const double at = upto(*row.before).right();
    painter.setPen(QPen(colours.text, 2));
    painter.drawLine(QPointF(at, bar.top() - 1.5), QPointF(at, bar.bottom() + 1.5));
  }
  painter.setPen(colours.text);
  const double right = place.right() - change;
  painter.drawText(QRectF(right - number, place.top(), number, place.height()),
                   Qt::AlignVCenter | Qt::AlignRight, percent_text(row.answer.probability));
  if (!says_change) return;
  const double by = 100 * (row.answer.probability - *row.before);
  const QString moved = std::abs(by) < 0.05
                            ? QStringLiteral("=")
                            : (by > 0 ? "+" : "−") + QString::number(std::abs(by), 'f', 1);
  painter.setPen(colours.muted);
  painter.drawText(QRectF(right, place.top(), change, place.height()),
                   Qt::AlignVCenter | Qt::AlignRight, moved);
}

void AnswerBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const WindowColours& colours = colours_of(*this);
  const QRectF head(0, 0, width(), line());
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  const QRectF mark(0, head.center().y() - 4.5, 9, 9);
  painter.fillRect(mark, subject_colour(content_.place, colours.theme));
  const int verdict = painter.fontMetrics().horizontalAdvance(content_.verdict);
  const int room = std::max(0, width() - 15 - (verdict > 0 ? verdict + kBarGap : 0));
  painter.setPen(colours.text);
  painter.drawText(head.adjusted(15, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(content_.title, Qt::ElideMiddle, room));
  painter.setPen(content_.right ? colours.ready : colours.warning);
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignRight, content_.verdict);
  painter.setFont(font());
  if (content_.rows.empty()) {
    painter.setPen(colours.muted);
    painter.drawText(row_rect(0), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(content_.instead, Qt::ElideRight, width()));
  }
  for (std::size_t i = 0; i < content_.rows.size(); ++i) {
    paint_row(painter, content_.rows[i], row_rect(i));
  }
}

bool AnswerBars::event(QEvent* event) {
  if (event->type() == QEvent::FontChange) {
    measure_names();
    updateGeometry();
  }
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (std::size_t i = 0; i < content_.rows.size(); ++i) {
    if (!row_rect(i).contains(help->pos())) continue;
    const Row& row = content_.rows[i];
    QString text = tr("%1: p = %2, logit %3")
                       .arg(QString::fromStdString(row.answer.name))
                       .arg(row.answer.probability, 0, 'g', 4)
                       .arg(row.logit, 0, 'f', 3);
    if (row.before && row.logit_before) {
      text += tr("\nwith unchanged maps: p = %1, logit %2 (now %3%4)")
                  .arg(*row.before, 0, 'g', 4)
                  .arg(*row.logit_before, 0, 'f', 3)
                  .arg(row.logit < *row.logit_before ? "−" : "+")
                  .arg(std::abs(row.logit - *row.logit_before), 0, 'f', 3);
    }
    if (row.is_true) text += tr("\nthe input's own class");
    if (content_.continues) text += tr("\nClick to add it to the text");
    QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  QToolTip::showText(help->globalPos(), content_.title, this);
  return true;
}

const AnswerBars::Row* AnswerBars::token_at(QPointF place) const {
  for (std::size_t i = 0; content_.continues && i < content_.rows.size(); ++i) {
    if (row_rect(i).contains(place)) return &content_.rows[i];
  }
  return nullptr;
}

void AnswerBars::mousePressEvent(QMouseEvent* event) {
  emit clicked();
  const Row* const row = event->button() == Qt::LeftButton ? token_at(event->position()) : nullptr;
  if (row) emit token_chosen(row->answer.index);
}

void AnswerBars::mouseMoveEvent(QMouseEvent* event) {
  if (token_at(event->position())) {
    setCursor(Qt::PointingHandCursor);
  } else {
    unsetCursor();
  }
}

AnswerPanel::AnswerPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  column_ = new QVBoxLayout;
  column_->setSpacing(6);
  body()->addLayout(column_);
  body()->addStretch(1);
  connect(&session_, &Session::subjects_changed, this, &AnswerPanel::refresh);
  connect(&session_, &Session::trace_ready, this, &AnswerPanel::refresh);
  connect(&session_, &Session::input_changed, this, [this] { not_continued_.clear(); });
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
  Part part{new AnswerBars, new QToolButton, new QToolButton, new ElidedLabel(Qt::ElideRight),
            new TextHeat};
  const std::size_t index = parts_.size();
  part.names->setObjectName(QString("class_names_%1").arg(index));
  part.names->setProperty("opens", "menu");
  part.names->setPopupMode(QToolButton::InstantPopup);
  auto* const menu = new QMenu(part.names);
  part.names->setMenu(menu);
  connect(menu, &QMenu::aboutToShow, this, [this, menu, index] { fill_names(*menu, index); });
  part.more->setObjectName(QString("continue_%1").arg(index));
  part.more->setText(tr("Continue the text"));
  connect(part.more, &QToolButton::clicked, this, [this, index] { continue_text(index); });
  part.caption->setProperty("role", "muted");
  part.text->setObjectName(QString("losses_%1").arg(index));
  column_->addWidget(part.bars);
  column_->addWidget(part.names, 0, Qt::AlignLeft);
  column_->addWidget(part.more, 0, Qt::AlignLeft);
  column_->addWidget(part.caption);
  column_->addWidget(part.text);
  connect(part.bars, &AnswerBars::clicked, this, [this, index] {
    const Selection& selection = session_.selection();
    if (index < shown_.size()) {
      session_.select_map(shown_[index], selection.layer, selection.head);
    }
  });
  connect(part.bars, &AnswerBars::token_chosen, this, [this, index](std::int64_t token) {
    if (index < shown_.size()) add_tokens(shown_[index], {token});
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
    parts_[i].names->setVisible(used && needs_names(subjects[i]));
    parts_[i].more->setVisible(false);
    parts_[i].caption->setVisible(false);
    parts_[i].text->setVisible(false);
    if (!used) continue;
    shown_.push_back(subjects[i].id);
    parts_[i].bars->set_content(content_of(subjects[i], static_cast<std::int64_t>(i)));
    show_names(subjects[i], *parts_[i].names);
    show_continuation(subjects[i], parts_[i]);
    if (!has_token_losses(subjects[i])) continue;
    want_losses(subjects[i]);
    show_losses(subjects[i], parts_[i]);
  }
}

void AnswerPanel::show_continuation(const OpenSubject& open, Part& part) {
  if (!part.bars->content().continues) return;
  const auto known = not_continued_.find(open.id);
  const QString why = known == not_continued_.end() ? QString() : known->second;
  const bool changed = open.ran_with.any();
  part.more->setVisible(true);
  part.more->setEnabled(continuing_ == 0 && !changed && why.isEmpty());
  part.more->setToolTip(
      !why.isEmpty() ? why
      : changed      ? tr("The maps are changed; texts are continued with those of the model")
                : tr("Adds the %1 tokens that the model finds likeliest, one after the other; a "
                     "click on a token above adds that one")
                      .arg(kNewTokens));
  part.more->setAccessibleName(
      tr("%1 with %2").arg(part.more->text(), QString::fromStdString(open.subject.label)));
  part.more->setAccessibleDescription(part.more->toolTip());
}

void AnswerPanel::continue_text(std::size_t part) {
  const OpenSubject* const open = part < shown_.size() ? session_.find(shown_[part]) : nullptr;
  const std::shared_ptr<const Input> input = session_.input();
  if (!open || !open->subject.model || !input || continuing_ != 0) return;
  const SubjectId id = open->id;
  continuing_ = session_.jobs().submit(
      tr("Continuing the text with %1").arg(QString::fromStdString(open->subject.label)),
      [this, id, input, model = open->subject.model,
       mechanism = open->subject.trace->mechanism](const Progress& progress) -> JobQueue::Delivery {
        const GeneratedText text =
            generate(*model, *input, mechanism, {kNewTokens, {}, 0}, {}, progress);
        std::vector<std::int64_t> tokens = text.new_ids();
        // One token more than the context is known, but a text with it cannot be run.
        const std::int64_t context = model->spec().input.context;
        const std::int64_t room = std::max<std::int64_t>(context - std::ssize(text.prompt), 1);
        if (context > 0 && std::ssize(tokens) > room) {
          tokens.resize(static_cast<std::size_t>(room));
        }
        return [this, id, input, tokens = std::move(tokens)] {
          continuing_ = 0;
          if (session_.input() == input) add_tokens(id, tokens);
          refresh();
        };
      },
      [this, id](const JobFailure& failure) {
        continuing_ = 0;
        if (!failure.cancelled) not_continued_[id] = "⚠ " + QString::fromStdString(failure.what);
        refresh();
      },
      this);
  refresh();
}

void AnswerPanel::add_tokens(SubjectId id, const std::vector<std::int64_t>& tokens) {
  const OpenSubject* const open = session_.find(id);
  const std::shared_ptr<const Input> input = session_.input();
  if (!open || !open->subject.model || !input || tokens.empty()) return;
  try {
    session_.set_input(continued_locator(*open->subject.model, *input, tokens));
  } catch (const Error& error) {
    not_continued_[id] = "⚠ " + QString::fromStdString(error.in_window());
    refresh();
  }
}

void AnswerPanel::fill_names(QMenu& menu, std::size_t part) {
  menu.clear();
  const OpenSubject* const open = part < shown_.size() ? session_.find(shown_[part]) : nullptr;
  if (!open || !open->subject.trace) return;
  const std::string chosen = chosen_names(*open);
  const auto add = [&](const QString& text, const std::string& labels) {
    QAction* const action =
        menu.addAction(text, this, [this, part, labels] { name_classes(part, labels); });
    action->setCheckable(true);
    action->setChecked(labels == chosen);
  };
  add(tr("As in the file"), {});
  menu.addSeparator();
  for (const ClassNameList& list : class_name_lists()) {
    const std::string name(list.data_set);
    if (class_names_of(name).size() != open->subject.trace->logits.values().size()) continue;
    add(QString::fromStdString(name), name);
  }
  const std::string of_input =
      names_of_input(session_.input_locator(), open->subject.trace->logits.values().size());
  if (!of_input.empty()) add(tr("Folders of %1").arg(shown_names(of_input)), of_input);
  if (chosen.starts_with('@') && chosen != of_input) add(shown_names(chosen), chosen);
  menu.addAction(tr("Read from a file…"), this, [this, part] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Names of the classes, one a line"),
                                                      {}, tr("Texts (*.txt);;All files (*)"));
    if (!file.isEmpty()) name_classes(part, "@" + file.toStdString());
  });
}

void AnswerPanel::name_classes(std::size_t part, const std::string& labels) {
  const OpenSubject* const open = part < shown_.size() ? session_.find(shown_[part]) : nullptr;
  if (!open || !open->subject.trace || labels == chosen_names(*open)) return;
  try {
    check_names(labels, open->subject.trace->logits.values().size());
  } catch (const Error& error) {
    parts_[part].caption->set_text("⚠ " + QString::fromStdString(error.in_window()));
    parts_[part].caption->setVisible(true);
    return;
  }
  ModelOptions options = open->options;
  if (labels.empty()) {
    options.overrides.erase(kLabels);
  } else {
    options.overrides[kLabels] = labels;
  }
  session_.set_options(open->id, options);
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
