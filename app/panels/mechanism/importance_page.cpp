#include "app/panels/mechanism/importance_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/panels/frame/text_heat.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/number_slider.h"
#include "app/widgets/scale_bar.h"
#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr std::int64_t kTopTokens = 12;
constexpr const char* kHeads = "importance_heads";
constexpr int kWideEnough = 420;  // pixels; in a narrower page the texts have the whole width

QString title_of(const TokenImportance& importance) {
  QString title;
  switch (importance.attention) {
    case ImportanceOf::query_attention:
      title = QObject::tr("query attention");
      break;
    case ImportanceOf::key_attention:
      title = QObject::tr("key attention");
      break;
    case ImportanceOf::map:
      title = QObject::tr("row of the map");
      break;
  }
  if (importance.window > 0) title += QObject::tr(", the last %1 tokens").arg(importance.window);
  return title;
}

/// The token with its neighbours as context.
QString in_context(const TokenLayout& layout, std::int64_t token, std::int64_t tokens) {
  QString text;
  for (std::int64_t i = std::max<std::int64_t>(0, token - 6); i < std::min(tokens, token + 7);
       ++i) {
    const QString shown = QString::fromStdString(layout.name(i));
    text += i == token ? "⟦" + shown + "⟧" : shown;
  }
  return text.replace("␣", " ");
}

/// Marks special tokens as not seen, because their weights would outshine all others.
void hide_special(const TokenLayout& layout, TokenImportance& importance) {
  for (const std::int64_t token : layout.special) {
    const auto index = static_cast<std::size_t>(token);
    if (index < importance.weights.size()) {
      importance.weights[index] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace

ImportancePage::ImportancePage(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  end_ = new NumberSlider(tr("End of the text"), {0, 1, 1, false}, 0);
  end_->setToolTip(tr("The text is taken to end here: drag it and watch what counts move"));
  end_->setObjectName("importance_end");
  mean_ = new QCheckBox(tr("Mean of heads"));
  mean_->setObjectName("importance_mean");
  mean_->setToolTip(tr("The mean over the heads of the layer instead of the selected head"));
  body()->addWidget(end_);
  body()->addWidget(mean_);

  auto* middle = new QHBoxLayout;
  middle->setSpacing(10);
  views_ = new QWidget;
  auto* views = new QVBoxLayout(views_);
  views->setContentsMargins(0, 0, 0, 0);
  views->setSpacing(3);
  middle->addWidget(views_, 3);
  table_ = new QTableWidget;
  table_->setObjectName("top_tokens");
  table_->setAccessibleName(tr("Tokens that count most"));
  table_->setColumnCount(3);
  table_->setHorizontalHeaderLabels({tr("Token"), "α", tr("Where")});
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->setMouseTracking(true);
  table_->hide();
  middle->addWidget(table_, 2);
  body()->addLayout(middle, 1);
  scale_ = new ScaleBar;
  body()->addWidget(scale_);

  connect(mean_, &QCheckBox::toggled, this, &ImportancePage::refresh);
  connect(end_, &NumberSlider::value_changed, this,
          [this](double value) { choose_token(std::llround(value)); });
  connect(table_, &QTableWidget::cellEntered, this,
          [this](int row, int) { hover(table_->item(row, 0)->data(Qt::UserRole).toLongLong()); });
  connect(&session_, &Session::subjects_changed, this, &ImportancePage::refresh);
  connect(&session_, &Session::selection_changed, this, &ImportancePage::refresh);
  connect(&session_, &Session::view_changed, this, &ImportancePage::refresh);
  refresh();
}

const OpenSubject* ImportancePage::shown() const {
  const auto is_text = [](const OpenSubject& open) {
    return open.subject.trace && !open.subject.trace->layout.texts.empty() &&
           !open.subject.trace->layers.empty();
  };
  const OpenSubject* const selected = session_.find(session_.selection().subject);
  if (selected != nullptr && is_text(*selected)) return selected;
  const auto found = std::ranges::find_if(session_.subjects(), is_text);
  return found == session_.subjects().end() ? nullptr : &*found;
}

std::vector<TokenImportance> ImportancePage::importances(const OpenSubject& open) const {
  const Trace& trace = *open.subject.trace;
  const Selection& selection = session_.selection();
  const std::int64_t layer = std::min(selection.layer, std::ssize(trace.layers) - 1);
  const std::int64_t end = selected_query(session_, open.id, layer).value_or(trace.tokens() - 1);
  std::optional<std::int64_t> head;
  if (!mean_->isChecked()) head = std::min(selection.head, trace.heads() - 1);
  std::vector<TokenImportance> all;
  try {
    for (const ImportanceOf attention : importances_of(trace, layer)) {
      all.push_back(token_importance(trace, layer, head, attention, end));
      if (session_.view().hide_prefix_tokens) hide_special(key_layout(trace, layer), all.back());
    }
  } catch (const Error&) {
    all.clear();  // this layer was not recorded
  }
  return all;
}

void ImportancePage::refresh() {
  const OpenSubject* const open = shown();
  const std::vector<TokenImportance> all =
      open != nullptr ? importances(*open) : std::vector<TokenImportance>();
  if (all.empty()) {
    const bool reads_texts = std::ranges::any_of(session_.subjects(), [](const OpenSubject& one) {
      return one.subject.model && one.subject.model->spec().reads_texts();
    });
    return show_instead(reads_texts ? tr("Choose a text as input.")
                                    : tr("Open a language model: how much each token of a text "
                                         "counts is shown here, over the text itself."));
  }
  show_instead({});
  subject_ = open->id;
  const Trace& trace = *open->subject.trace;
  show_end(trace, all.front().end);
  show_views(trace, all);
  show_table(trace, all.front());
}

void ImportancePage::show_end(const Trace& trace, std::int64_t end) {
  const QSignalBlocker quiet(end_);
  const double last = std::max(1.0, static_cast<double>(trace.tokens() - 1));
  if (end_->range().maximum != last) end_->set_range({0, last, 1, false});
  end_->set_value(static_cast<double>(end));
  // Without a causal mask every token sees the whole text, so the end has no effect.
  end_->setEnabled(trace.causal);
}

void ImportancePage::show_views(const Trace& trace, const std::vector<TokenImportance>& all) {
  auto* layout = static_cast<QVBoxLayout*>(views_->layout());
  while (shown_views_.size() > all.size()) {
    shown_views_.back().title->deleteLater();
    shown_views_.back().heat->deleteLater();
    shown_views_.pop_back();
  }
  while (shown_views_.size() < all.size()) {
    const View view{new ElidedLabel(Qt::ElideRight), new TextHeat};
    view.title->setProperty("role", "muted");
    view.heat->setObjectName(QString("text_heat_%1").arg(shown_views_.size()));
    connect(view.heat, &TextHeat::clicked, this, &ImportancePage::choose_token);
    connect(view.heat, &TextHeat::hovered, this, &ImportancePage::hover);
    layout->addWidget(view.title);
    layout->addWidget(view.heat, 1);
    shown_views_.push_back(view);
  }
  const ViewSettings& view = session_.view();
  ColourScale scale;
  scale.label = "weight of the token, α";
  scale.colour_map = view.colour_map;
  scale.reversed = view.reversed_colours;
  scale.norm = view.norm;
  scale.maximum = 0;
  for (const TokenImportance& one : all) {
    for (const RankedToken& top : top_tokens(one, 1)) {
      scale.maximum = std::max(scale.maximum, top.weight);
    }
  }
  if (!(scale.maximum > 0)) scale.maximum = 1;
  const auto hovered = hovered_tokens(session_, subject_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const QString title = title_of(all[i]);
    shown_views_[i].title->set_text(title);
    shown_views_[i].heat->setAccessibleName(tr("Text with importance, %1").arg(title));
    shown_views_[i].heat->set_texts(trace.layout.texts);
    shown_views_[i].heat->set_weights(all[i].weights, scale, all[i].end,
                                      hovered ? hovered->key : std::nullopt);
  }
  scale_->set_scale(scale);
}

void ImportancePage::show_table(const Trace& trace, const TokenImportance& importance) {
  const std::vector<RankedToken> top = top_tokens(importance, kTopTokens);
  table_->setToolTip(title_of(importance));
  table_->setRowCount(static_cast<int>(top.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const RankedToken& token = top[static_cast<std::size_t>(row)];
    const QString texts[] = {QString("%1  %2")
                                 .arg(token.token)
                                 .arg(QString::fromStdString(trace.layout.name(token.token))),
                             QString::number(token.weight, 'g', 3),
                             in_context(trace.layout, token.token, trace.tokens())};
    for (int column = 0; column < 3; ++column) {
      auto* item = new QTableWidgetItem(texts[column]);
      item->setData(Qt::UserRole, QVariant::fromValue<qlonglong>(token.token));
      if (column == 1) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      table_->setItem(row, column, item);
    }
  }
  table_->resizeColumnsToContents();
}

void ImportancePage::choose_token(std::int64_t token) {
  Selection selection = session_.selection();
  selection.subject = subject_;
  selection.query = token;
  session_.select(selection);
}

void ImportancePage::hover(std::optional<std::int64_t> token) {
  Selection selection = session_.selection();
  const auto query = selected_query(session_, subject_, selection.layer);
  selection.hover.reset();
  if (token && query) selection.hover = {subject_, selection.layer, selection.head, *query, *token};
  session_.select(selection);
}

void ImportancePage::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  table_->setVisible(width() >= kWideEnough);
}

ControlValues ImportancePage::settings() const {
  return {{kHeads, mean_->isChecked() ? "mean" : "selected"}};
}

void ImportancePage::restore_settings(const ControlValues& settings) {
  const auto found = settings.find(kHeads);
  if (found != settings.end()) mean_->setChecked(found->second == "mean");
}

}  // namespace attnscope
