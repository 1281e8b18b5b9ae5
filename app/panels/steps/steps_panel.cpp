#include "app/panels/steps/steps_panel.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/panels/playground/plane_view.h"
#include "app/panels/playground/playground_view.h"
#include "app/panels/steps/steps_view.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr int kStepsWidth = 420;
constexpr int kStepPlayMs = 1600;
constexpr std::size_t kMostInPlane = 8;
constexpr double kInPlane = 2.6;  // share of PlaneView::extent, so that all points can be dragged

/// The playground of the program's window, wherever its panel is docked.
PlaygroundView* playground() {
  for (QWidget* top : QApplication::topLevelWidgets()) {
    if (auto* const view = top->findChild<PlaygroundView*>("playground_view")) return view;
  }
  return nullptr;
}

}  // namespace

StepsPanel::StepsPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  set_preferred_width(kStepsWidth);
  title_ = new ElidedLabel(Qt::ElideMiddle);
  title_->setProperty("role", "muted");
  body()->addWidget(title_);
  view_ = new StepsView;
  body()->addWidget(view_, 1);
  words_ = new WrappedLabel;
  words_->setObjectName("steps_words");
  words_->setMinimumHeight(3 * fontMetrics().height());
  words_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  body()->addWidget(words_);
  add_buttons();
  connect(view_, &StepsView::stepped, this, &StepsPanel::show_words);
  connect(view_, &StepsView::key_hovered, this, &StepsPanel::point_at);
  connect(view_, &StepsView::query_wanted, this, &StepsPanel::select_query);
  connect(&session_, &Session::subjects_changed, this, &StepsPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &StepsPanel::refresh);
  playing_.setInterval(kStepPlayMs);
  connect(&playing_, &QTimer::timeout, this, [this] {
    const int next = static_cast<int>(view_->step()) + 1;
    if (next >= StepsView::kSteps) return playing_.stop();
    view_->set_step(static_cast<StepsView::Step>(next));
  });
  refresh();
}

void StepsPanel::add_buttons() {
  back_ = tool_button("steps_back", "◀", tr("Previous step (←)"));
  play_ = tool_button("steps_play", "▶▶", tr("Play all steps"));
  on_ = tool_button("steps_on", "▶",
                    tr("Next step (→); ↑ ↓: select key, with Shift: select "
                       "query"));
  playground_ = new QPushButton(tr("Into the playground"));
  playground_->setObjectName("steps_playground");
  playground_->setToolTip(
      tr("This query and the tokens it attends to most, in the plane in which "
         "their queries and keys vary most: drag them there"));
  auto* row = new QHBoxLayout;
  row->addWidget(back_);
  row->addWidget(play_);
  row->addWidget(on_);
  row->addStretch(1);
  row->addWidget(playground_);
  body()->addLayout(row);
  const auto step = [this](int by) {
    playing_.stop();
    const int next = std::clamp(static_cast<int>(view_->step()) + by, 0, StepsView::kSteps - 1);
    view_->set_step(static_cast<StepsView::Step>(next));
  };
  connect(back_, &QToolButton::clicked, this, [step] { step(-1); });
  connect(on_, &QToolButton::clicked, this, [step] { step(1); });
  connect(play_, &QToolButton::clicked, this, &StepsPanel::play);
  connect(playground_, &QPushButton::clicked, this, &StepsPanel::to_playground);
}

void StepsPanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  refresh();
}

void StepsPanel::play() {
  if (playing_.isActive()) return playing_.stop();
  view_->set_step(StepsView::Step::vectors);
  playing_.start();
}

void StepsPanel::refresh() {
  if (!isVisible()) return;
  const Selection& at = session_.selection();
  const OpenSubject* const open = session_.find(at.subject);
  const std::shared_ptr<const Trace> trace = session_.trace(at.subject);
  if (!trace) {
    view_->clear();
    return show_instead(
        tr("Open a model: one query of one head is followed here, from its vectors "
           "to the output."));
  }
  try {
    StepsView::Content content;
    content.steps = head_steps(*trace, at.layer, at.head, at.query);
    content.query = at.query;
    content.query_name = QString::fromStdString(query_layout(*trace, at.layer).name(at.query));
    for (std::int64_t key = 0; key < std::ssize(content.steps.weights); ++key) {
      content.names.push_back(QString::fromStdString(key_layout(*trace, at.layer).name(key)));
    }
    content.mechanism = QString::fromStdString(trace->mechanism.name);
    playground_->setEnabled(
        !tokens_in_plane(*trace, at.layer, at.head, at.query, 2, kInPlane).tokens.empty());
    title_->set_text(tr("%1 · layer %2, head %3 · %4")
                         .arg(QString::fromStdString(open->subject.label))
                         .arg(at.layer)
                         .arg(at.head)
                         .arg(content.query_name));
    view_->set_content(std::move(content));
    show_instead({});
    follow_hover();
    show_words();
  } catch (const Error& error) {
    view_->clear();
    show_instead("⚠ " + QString::fromStdString(error.in_window()), true);
  }
}

void StepsPanel::follow_hover() {
  const Selection& at = session_.selection();
  const bool here = at.hover && at.hover->subject == at.subject && at.hover->layer == at.layer &&
                    at.hover->head == at.head && at.hover->query == at.query;
  if (here) view_->set_key(at.hover->key);
}

void StepsPanel::show_words() {
  words_->setText(view_->words());
  back_->setEnabled(view_->step() != StepsView::Step::vectors);
  on_->setEnabled(view_->step() != StepsView::Step::output);
}

void StepsPanel::point_at(std::int64_t key) {
  Selection selection = session_.selection();
  selection.hover.reset();
  if (key >= 0) {
    selection.hover = {selection.subject, selection.layer, selection.head, selection.query, key};
  }
  session_.select(selection);
}

void StepsPanel::select_query(std::int64_t query) {
  Selection selection = session_.selection();
  selection.query = query;
  session_.select(selection);
}

void StepsPanel::to_playground() {
  const Selection& at = session_.selection();
  const std::shared_ptr<const Trace> trace = session_.trace(at.subject);
  if (!trace) return;
  const TokensInPlane found =
      tokens_in_plane(*trace, at.layer, at.head, at.query, kMostInPlane, kInPlane);
  if (found.tokens.empty()) return;
  emit panel_wanted("playground");  // creates it if needed
  PlaygroundView* const view = playground();
  if (!view) return;
  PlaneTokens tokens;
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    tokens.queries.emplace_back(found.query_x[i], found.query_y[i]);
    tokens.keys.emplace_back(found.key_x[i], found.key_y[i]);
  }
  view->take_tokens(std::move(tokens));
}

}  // namespace attnscope
