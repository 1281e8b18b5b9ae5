#include "app/panels/lessons/predictions/prediction_cards.h"

#include <QHBoxLayout>
#include <QIntValidator>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/panels/lessons/predictions/lesson_answers.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {

namespace {

constexpr int kTextLines = 7;  // height of a field for five sentences

QString shown_words(const std::string& text) { return QString::fromStdString(text); }

QVBoxLayout* column_in(QFrame& card, const char* role) {
  card.setProperty("card", role);
  auto* column = new QVBoxLayout(&card);
  column->setContentsMargins(12, 10, 12, 12);
  column->setSpacing(8);
  return column;
}

bool is_text(const PredictionField& field) { return field.kind == PredictionField::Kind::text; }

/// True if `said` answers the field, which words need not do before they are kept.
bool is_answered(const PredictionField& field, const std::string& said) {
  if (is_text(field)) return true;
  if (field.kind == PredictionField::Kind::choice) {
    return std::ranges::find(field.options, said) != field.options.end();
  }
  bool whole = false;
  const qlonglong number = shown_words(said).toLongLong(&whole);
  return whole && number >= field.least && number <= field.most;
}

}  // namespace

PredictionCard::PredictionCard(int number, QWidget* question, std::vector<PredictionField> fields,
                               PredictionAnswer& answer)
    : number_(number), fields_(std::move(fields)), answer_(answer) {
  setObjectName(QString("prediction_%1").arg(number));
  QVBoxLayout* const column = column_in(*this, "question");
  column->addWidget(question);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    auto* label = new WrappedLabel(shown_words(fields_[i].label));
    label->setTextFormat(Qt::PlainText);
    editors_.push_back(editor_of(i));
    label->setBuddy(editors_.back());
    column->addWidget(label);
    column->addWidget(editors_.back());
  }
  keep_ = new QPushButton(tr("Keep my prediction"));
  keep_->setObjectName(QString("keep_%1").arg(number));
  keep_->setAccessibleName(tr("Keep prediction %1, and show what follows").arg(number));
  keep_->setProperty("primary", true);
  skip_ = new QPushButton(tr("Skip"));
  skip_->setObjectName(QString("skip_%1").arg(number));
  skip_->setAccessibleName(tr("Show what follows without prediction %1").arg(number));
  state_ = new WrappedLabel;
  state_->setProperty("role", "muted");
  auto* row = new QHBoxLayout;
  row->addWidget(keep_);
  row->addWidget(skip_);
  row->addStretch(1);
  column->addLayout(row);
  column->addWidget(state_);
  connect(keep_, &QPushButton::clicked, this, &PredictionCard::keep);
  connect(skip_, &QPushButton::clicked, this, [this] {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!is_text(fields_[i])) answer_.said[i].clear();
    }
    keep();
  });
  refresh();
}

QWidget* PredictionCard::editor_of(std::size_t field) {
  const PredictionField& of = fields_[field];
  const QString said = shown_words(answer_.said[field]);
  QWidget* editor = nullptr;
  if (of.kind == PredictionField::Kind::choice) {
    auto* list = new ElidedComboBox;
    list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    list->addItem(tr("Choose…"), QString());
    for (const std::string& option : of.options)
      list->addItem(shown_words(option), shown_words(option));
    list->setCurrentIndex(std::max(0, list->findData(said)));
    connect(list, &QComboBox::currentIndexChanged, this,
            [this, field, list] { take(field, list->currentData().toString()); });
    editor = list;
  } else if (of.kind == PredictionField::Kind::number) {
    auto* line = new QLineEdit(said);
    const auto bound = [](std::int64_t value) {
      constexpr std::int64_t kMost = 1'000'000'000;
      return static_cast<int>(std::clamp(value, -kMost, kMost));
    };
    line->setValidator(new QIntValidator(bound(of.least), bound(of.most), line));
    line->setPlaceholderText(tr("%1 to %2").arg(of.least).arg(of.most));
    connect(line, &QLineEdit::textChanged, this,
            [this, field](const QString& text) { take(field, text.trimmed()); });
    editor = line;
  } else {
    auto* words = new QPlainTextEdit(said);
    words->setTabChangesFocus(true);
    words->setFixedHeight((kTextLines + 1) * words->fontMetrics().lineSpacing());
    connect(words, &QPlainTextEdit::textChanged, this,
            [this, field, words] { take(field, words->toPlainText()); });
    editor = words;
  }
  editor->setObjectName(QString("prediction_%1_%2").arg(number_).arg(field + 1));
  editor->setAccessibleName(shown_words(of.label));
  return editor;
}

void PredictionCard::take(std::size_t field, const QString& said) {
  // A control that is set after the prediction was kept, as by a session file, changes nothing.
  if (answer_.kept && !is_text(fields_[field])) return;
  answer_.said[field] = said.toStdString();
  refresh();
}

void PredictionCard::keep() {
  if (answer_.kept) return;
  answer_.kept = true;
  refresh();
  emit kept();
}

void PredictionCard::refresh() {
  if (state_ == nullptr) return;
  bool all = true, any = false;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    all &= is_answered(fields_[i], answer_.said[i]);
    any |= !answer_.said[i].empty();
    editors_[i]->setEnabled(!answer_.kept || is_text(fields_[i]));
  }
  keep_->setEnabled(all);
  keep_->setVisible(!answer_.kept);
  skip_->setVisible(!answer_.kept);
  state_->setText(!answer_.kept ? tr("What happens is shown once your prediction is kept.")
                  : any         ? tr("Kept.")
                                : tr("Skipped."));
}

SeenCard::SeenCard(int number, std::vector<PredictionField> fields, const PredictionAnswer& answer,
                   QWidget* why)
    : fields_(std::move(fields)), answer_(answer), why_(why) {
  setObjectName(QString("seen_%1").arg(number));
  QVBoxLayout* const column = column_in(*this, "question");
  table_ = new WrappedLabel;
  table_->setObjectName(QString("seen_table_%1").arg(number));
  table_->setTextFormat(Qt::RichText);
  table_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  compare_ = new QPushButton;
  compare_->setObjectName(QString("compare_%1").arg(number));
  compare_->setProperty("primary", true);
  column->addWidget(table_);
  column->addWidget(why_);
  column->addWidget(compare_, 0, Qt::AlignLeft);
  connect(compare_, &QPushButton::clicked, this, &SeenCard::compare_wanted);
  refresh();
}

void SeenCard::refresh() {
  QString rows;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (is_text(fields_[i])) continue;
    const auto shown = [](const std::string& text, const QString& otherwise) {
      return text.empty() ? otherwise : shown_words(text).toHtmlEscaped();
    };
    rows += tr("<p>%1<br>You said: <b>%2</b><br>Seen: <b>%3</b></p>")
                .arg(shown_words(fields_[i].label).toHtmlEscaped(),
                     shown(answer_.said[i], tr("nothing")),
                     shown(answer_.seen[i], tr("not measured yet: do the step above first")));
  }
  table_->setText(rows);
  table_->setVisible(answer_.compared && !rows.isEmpty());
  why_->setVisible(answer_.compared);
  compare_->setText(answer_.compared ? tr("Read again") : tr("Compare with my prediction"));
  compare_->setAccessibleName(compare_->text());
}

}  // namespace attnscope
