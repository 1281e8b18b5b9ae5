#include "app/window/first_minute.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>
#include <iterator>

#include "app/panels/frame/highlight.h"

namespace attnscope {

namespace {

constexpr const char* kClosedKey = "first_minute_closed";

struct Sentence {
  const char *said, *to_do;
  const char* parts;  ///< names for Highlight::show_parts, separated by spaces
  const char* panel;  ///< brought to the front; empty: none
};

// The names of the sample models' mechanisms and the numbers are those of the first minute.
constexpr Sentence kSentences[] = {
    {QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "Every small picture is an attention map. Its rows say how much each token "
                       "takes from every token: bright is much."),
     QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "Point at a map: the line at the bottom names both tokens and the weight."),
     "map", ""},
    {QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "One row belongs to one token. The same row is drawn over the picture: it "
                       "shows where that token looks."),
     QT_TRANSLATE_NOOP("FirstMinuteCard", "Click at different heights of a map."),
     "row query_view_0", "row"},
    {QT_TRANSLATE_NOOP(
         "FirstMinuteCard",
         "The number in the corner is the map's rank: how many patterns, each one "
         "column times one row, hold 90 % of it. It is at most the number of tokens."),
     QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "Click a map and press ↓ several times: later layers mostly need fewer."),
     "number", ""},
    {QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "The curve adds these patterns up, the strongest first. The number is read "
                       "where it reaches 90 %."),
     QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "Set the share at the top to 50 %, then to 90 % again: the numbers change, "
                       "the curve does not."),
     "dock:spectrum rank_threshold", "spectrum"},
    {QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "I is the identity: every token also keeps its own value. A map with I has "
                       "nearly the highest rank there is, whatever the map is."),
     QT_TRANSLATE_NOOP("FirstMinuteCard", "Press I, read the numbers, and press I again."),
     "identity_0+identity_1+identity_2", ""},
    {QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "The second model measures distances where the first multiplies. It learned "
                       "the same task; its maps differ."),
     QT_TRANSLATE_NOOP("FirstMinuteCard",
                       "Press D: its maps are shown as differences from the first. Press D again."),
     "maps_2", ""},
};
constexpr int kSentenceCount = static_cast<int>(std::size(kSentences));

QPushButton* door(const char* name, const QString& text) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setProperty("primary", true);
  return button;
}

}  // namespace

Doors::Doors(QMenu& samples, bool explained, QWidget* parent) : QWidget(parent) {
  const struct {
    QPushButton* button;
    QString says;
  } doors[] = {
      {door("door_lessons", tr("Lessons")),
       tr("What a map is, what its rank says, and how a network learns one: read and try.")},
      {door("door_model", tr("Open a model…")),
       tr("A vision or language model, as a file or a folder, in whatever format it is.")},
      {door("door_sample", tr("Open a sample")),
       tr("Small trained models that differ in their attention only.")}};
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(14);
  grid->setVerticalSpacing(12);
  int place = 0;
  for (const auto& [button, says] : doors) {
    button->setAccessibleDescription(says);
    if (explained) {
      auto* label = new QLabel(says);
      label->setWordWrap(true);
      label->setProperty("role", "muted");
      grid->addWidget(button, place, 0);
      grid->addWidget(label, place, 1);
    } else {
      button->setToolTip(says);
      grid->addWidget(button, 0, place);
    }
    ++place;
  }
  grid->setColumnStretch(explained ? 1 : place, 1);
  connect(doors[0].button, &QPushButton::clicked, this, [this] { emit command_wanted("lessons"); });
  connect(doors[1].button, &QPushButton::clicked, this,
          [this] { emit command_wanted("open_model"); });
  doors[2].button->setMenu(&samples);
  doors[2].button->setEnabled(samples.isEnabled());
}

FirstMinuteCard::FirstMinuteCard(QMenu& samples, Highlight& highlight, QWidget* parent)
    : QFrame(parent), highlight_(highlight) {
  setObjectName("first_minute");
  setProperty("card", "first_minute");
  said_ = new QLabel;
  said_->setObjectName("first_minute_said");
  said_->setWordWrap(true);
  said_->setProperty("role", "heading");
  to_do_ = new QLabel;
  to_do_->setObjectName("first_minute_to_do");
  to_do_->setWordWrap(true);
  doors_ = new Doors(samples, false);
  back_ = new QPushButton(tr("Back"));
  back_->setAccessibleName(tr("Previous sentence"));
  next_ = new QPushButton(tr("Next"));
  next_->setAccessibleName(tr("Next sentence"));
  next_->setObjectName("first_minute_next");
  next_->setProperty("primary", true);
  auto* close = new QPushButton(tr("Close"));
  close->setObjectName("first_minute_close");
  close->setAccessibleName(tr("Close the first minute for good"));
  close->setToolTip(tr("Not shown at the start any more; Help, First minute opens it"));

  auto* words = new QVBoxLayout;
  words->setSpacing(4);
  words->addWidget(said_);
  words->addWidget(to_do_);
  words->addWidget(doors_);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 10, 12, 10);
  row->setSpacing(8);
  row->addLayout(words, 1);
  for (QPushButton* button : {back_, next_, close}) row->addWidget(button, 0, Qt::AlignBottom);
  // A click leaves the keys with the maps.
  for (QPushButton* button : {back_, next_, close}) button->setFocusPolicy(Qt::TabFocus);
  connect(back_, &QPushButton::clicked, this, [this] { go_to(place_ - 1); });
  connect(next_, &QPushButton::clicked, this, [this] { go_to(place_ + 1); });
  connect(close, &QPushButton::clicked, this, &FirstMinuteCard::close_for_good);
  connect(doors_, &Doors::command_wanted, this, [this](const QString& id) {
    hide();
    emit command_wanted(id);
  });
  hide();
}

bool FirstMinuteCard::is_wanted() { return !QSettings().value(kClosedKey, false).toBool(); }

void FirstMinuteCard::begin() {
  go_to(0);
  show();
}

void FirstMinuteCard::close_for_good() {
  QSettings().setValue(kClosedKey, true);
  hide();
}

void FirstMinuteCard::showEvent(QShowEvent* event) {
  QFrame::showEvent(event);
  frame_parts();
}

void FirstMinuteCard::hideEvent(QHideEvent* event) {
  QFrame::hideEvent(event);
  highlight_.clear();
}

void FirstMinuteCard::frame_parts() {
  if (place_ == kSentenceCount) return highlight_.clear();
  highlight_.show_parts(QString(kSentences[place_].parts).split(' '));
}

void FirstMinuteCard::go_to(int place) {
  place_ = place;
  const bool at_end = place_ == kSentenceCount;
  doors_->setVisible(at_end);
  to_do_->setVisible(!at_end);
  next_->setVisible(!at_end);
  back_->setEnabled(place_ > 0);
  if (at_end) {
    said_->setText(tr("That was the first minute. Where next?"));
  } else {
    const Sentence& sentence = kSentences[place_];
    said_->setText(tr("%1 of %2: %3").arg(place_ + 1).arg(kSentenceCount).arg(tr(sentence.said)));
    to_do_->setText(tr("Try it: %1").arg(tr(sentence.to_do)));
    if (*sentence.panel != '\0') emit panel_wanted(sentence.panel);
  }
  if (isVisible()) frame_parts();
  setAccessibleName(said_->text());
  setAccessibleDescription(at_end ? QString() : to_do_->text());
}

}  // namespace attnscope
