#include "app/panels/importance/importance_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/importance/text_heat.h"
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

QString title_of(const TokenImportance& importance) {
  QString title;
  switch (importance.attention) {
    case ImportanceOf::query_attention:
      title = QObject::tr("query-attention");
      break;
    case ImportanceOf::key_attention:
      title = QObject::tr("key-attention");
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

ImportancePanel::ImportancePanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  layer_ = new QComboBox;
  layer_->setObjectName("importance_layer");
  layer_->setAccessibleName(tr("Layer whose importance is shown"));
  head_ = new QComboBox;
  head_->setObjectName("importance_head");
  head_->setAccessibleName(tr("Head whose importance is shown"));
  end_ = new NumberSlider(tr("End of the text"), {0, 1, 1, false}, 0);
  end_->setToolTip(tr("The text is taken to end here: drag it and watch what counts move"));
  end_->setObjectName("importance_end");
  end_->stack();
  auto* controls = new QHBoxLayout;
  controls->setSpacing(8);
  controls->addWidget(layer_);
  controls->addWidget(head_);
  controls->addWidget(end_, 1);
  body()->addLayout(controls);

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
  table_->setMinimumWidth(120);
  middle->addWidget(table_, 1);
  body()->addLayout(middle, 1);
  scale_ = new ScaleBar;
  body()->addWidget(scale_);

  connect(layer_, &QComboBox::activated, this, [this](int layer) {
    session_.select_map(session_.selection().subject, layer, session_.selection().head);
  });
  connect(head_, &QComboBox::activated, this, [this](int index) {
    mean_over_heads_ = index == 0;
    Selection selection = session_.selection();
    if (index > 0) selection.head = index - 1;
    session_.select(selection);
    refresh();
  });
  connect(end_, &NumberSlider::value_changed, this,
          [this](double value) { choose_token(chosen_, std::llround(value)); });
  connect(table_, &QTableWidget::cellEntered, this, [this](int row, int) {
    hover(chosen_, table_->item(row, 0)->data(Qt::UserRole).toLongLong());
  });
  table_->setMouseTracking(true);
  connect(&session_, &Session::subjects_changed, this, &ImportancePanel::refresh);
  connect(&session_, &Session::selection_changed, this, &ImportancePanel::refresh);
  connect(&session_, &Session::view_changed, this, &ImportancePanel::refresh);
  refresh();
}

std::vector<ImportancePanel::Shown> ImportancePanel::shown() const {
  std::vector<Shown> all;
  const Selection& selection = session_.selection();
  for (const OpenSubject& open : session_.subjects()) {
    const std::shared_ptr<const Trace>& trace = open.subject.trace;
    if (!trace || trace->layout.texts.empty() || trace->layers.empty()) continue;
    const std::int64_t layer = std::min(selection.layer, std::ssize(trace->layers) - 1);
    const std::int64_t end = selected_query(session_, open.id, layer).value_or(trace->tokens() - 1);
    std::optional<std::int64_t> head;
    if (!mean_over_heads_) head = std::min(selection.head, trace->heads() - 1);
    try {
      for (const ImportanceOf attention : importances_of(*trace, layer)) {
        Shown one{open.id, trace, token_importance(*trace, layer, head, attention, end), {}};
        if (session_.view().hide_prefix_tokens) {
          hide_special(key_layout(*trace, layer), one.importance);
        }
        one.title = QString("%1 · %2").arg(QString::fromStdString(open.subject.label),
                                           title_of(one.importance));
        all.push_back(std::move(one));
      }
    } catch (const Error&) {
      continue;  // this layer was not recorded
    }
  }
  return all;
}

const ImportancePanel::Shown& ImportancePanel::chosen(const std::vector<Shown>& all) const {
  const auto selected = std::find_if(all.begin(), all.end(), [this](const Shown& one) {
    return one.subject == session_.selection().subject;
  });
  return selected == all.end() ? all.front() : *selected;
}

void ImportancePanel::show_controls(const Shown& shown) {
  const Trace& trace = *shown.trace;
  const Selection& selection = session_.selection();
  const QSignalBlocker quiet_layer(layer_), quiet_head(head_), quiet_end(end_);
  const int layers = static_cast<int>(trace.layers.size());
  if (layer_->count() != layers) {
    layer_->clear();
    for (int i = 0; i < layers; ++i) layer_->addItem(tr("Layer %1").arg(i));
  }
  layer_->setCurrentIndex(static_cast<int>(selection.layer));
  const int heads = static_cast<int>(trace.heads());
  if (head_->count() != heads + 1) {
    head_->clear();
    head_->addItem(tr("Mean over heads"));
    for (int i = 0; i < heads; ++i) head_->addItem(tr("Head %1").arg(i));
  }
  head_->setCurrentIndex(mean_over_heads_ ? 0 : static_cast<int>(selection.head) + 1);
  const double last = static_cast<double>(trace.tokens() - 1);
  if (end_->range().maximum != std::max(last, 1.0)) {
    end_->set_range({0, std::max(last, 1.0), 1, false});
  }
  end_->set_value(static_cast<double>(shown.importance.end));
  // Without a causal mask every token sees the whole text, so the end has no effect.
  end_->setEnabled(trace.causal);
}

void ImportancePanel::refresh() {
  const std::vector<Shown> all = shown();
  if (all.empty()) {
    bool reads_texts = false;
    for (const OpenSubject& open : session_.subjects()) {
      reads_texts |= open.subject.model && open.subject.model->spec().reads_texts();
    }
    show_instead(reads_texts
                     ? tr("Choose a text as input: what counts in it appears here.")
                     : tr("Open a language model: how much each token of a text counts is shown "
                          "here, over the text itself."));
    return;
  }
  show_instead({});
  const Shown& own = chosen(all);
  chosen_ = own.subject;
  show_controls(own);

  auto* layout = static_cast<QVBoxLayout*>(views_->layout());
  while (shown_views_.size() > all.size()) {
    shown_views_.back().title->deleteLater();
    shown_views_.back().heat->deleteLater();
    shown_views_.pop_back();
  }
  while (shown_views_.size() < all.size()) {
    View view{new ElidedLabel(Qt::ElideLeft), new TextHeat};
    view.title->setProperty("role", "muted");
    const std::size_t index = shown_views_.size();
    view.heat->setObjectName(QString("text_heat_%1").arg(index));
    connect(view.heat, &TextHeat::clicked, this, [this, index](std::int64_t token) {
      if (index < view_subjects_.size()) choose_token(view_subjects_[index], token);
    });
    connect(view.heat, &TextHeat::hovered, this, [this, index](std::optional<std::int64_t> token) {
      if (index < view_subjects_.size()) hover(view_subjects_[index], token);
    });
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
  for (const Shown& one : all) {
    for (const RankedToken& top : top_tokens(one.importance, 1)) {
      scale.maximum = std::max(scale.maximum, top.weight);
    }
  }
  if (!(scale.maximum > 0)) scale.maximum = 1;
  view_subjects_.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    view_subjects_.push_back(all[i].subject);
    const auto hovered = hovered_tokens(session_, all[i].subject);
    shown_views_[i].title->set_text(all[i].title);
    shown_views_[i].heat->setAccessibleName(tr("Text with importance, %1").arg(all[i].title));
    shown_views_[i].heat->set_texts(all[i].trace->layout.texts);
    shown_views_[i].heat->set_weights(all[i].importance.weights, scale, all[i].importance.end,
                                      hovered ? hovered->key : std::nullopt);
  }
  scale_->set_scale(scale);
  show_table(own);
}

void ImportancePanel::show_table(const Shown& one) {
  const std::vector<RankedToken> top = top_tokens(one.importance, kTopTokens);
  table_->setToolTip(one.title);
  table_->setRowCount(static_cast<int>(top.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const RankedToken& token = top[static_cast<std::size_t>(row)];
    const TokenLayout& layout = one.trace->layout;
    const QString texts[] = {
        QString("%1  %2").arg(token.token).arg(QString::fromStdString(layout.name(token.token))),
        QString::number(token.weight, 'g', 3),
        in_context(layout, token.token, one.trace->tokens())};
    for (int column = 0; column < 3; ++column) {
      auto* item = new QTableWidgetItem(texts[column]);
      item->setData(Qt::UserRole, QVariant::fromValue<qlonglong>(token.token));
      if (column == 1) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      table_->setItem(row, column, item);
    }
  }
  table_->resizeColumnsToContents();
}

void ImportancePanel::choose_token(SubjectId subject, std::int64_t token) {
  Selection selection = session_.selection();
  selection.subject = subject;
  selection.query = token;
  session_.select(selection);
}

void ImportancePanel::hover(SubjectId subject, std::optional<std::int64_t> token) {
  Selection selection = session_.selection();
  const auto query = selected_query(session_, subject, selection.layer);
  selection.hover.reset();
  if (token && query) selection.hover = {subject, selection.layer, selection.head, *query, *token};
  session_.select(selection);
}

ControlValues ImportancePanel::settings() const {
  return {{kHeads, mean_over_heads_ ? "mean" : "selected"}};
}

void ImportancePanel::restore_settings(const ControlValues& settings) {
  const auto found = settings.find(kHeads);
  if (found == settings.end()) return;
  mean_over_heads_ = found->second == "mean";
  refresh();
}

}  // namespace attnscope
