#include "app/panels/groups/groups_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analysis/groups/grouped_maps.h"
#include "app/look/theme.h"
#include "app/panels/frame/figure_page.h"
#include "app/panels/frame/text_heat.h"
#include "app/panels/groups/grid_painter.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/segments.h"
#include "app/widgets/tool_button.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kGroupsWidth = 440, kLeastFigure = 220, kTextHeight = 130;  // pixels
constexpr std::size_t kColours = 7;       // colours of subject_colour
constexpr int kLongestField = 1'000'000;  // characters
constexpr float kGroundOpacity = 0.45F;

bool has_some_maps(const Trace& trace) { return trace.heads() > 0; }

/// The colour of each token's group, those of the lines of the figure; alternating grounds if there
/// are more groups than colours.
std::vector<QColor> grounds_of(const TokenGroups& groups, std::int64_t tokens,
                               const WindowColours& colours) {
  std::vector<QColor> grounds;
  for (const std::int64_t group : group_of_tokens(groups, tokens)) {
    QColor& ground = grounds.emplace_back();
    if (group < 0) continue;
    ground = groups.size() <= kColours ? subject_colour(group, colours.theme)
             : group % 2 == 0          ? colours.accent
                                       : colours.muted;
    ground.setAlphaF(kGroundOpacity);
  }
  return grounds;
}

/// The texts of the tokens, with a square for each that stands for a part of a picture.
std::vector<std::string> painted_texts(const TokenLayout& layout) {
  std::vector<std::string> texts = layout.texts;
  for (std::int64_t token = 0; token < std::ssize(texts); ++token) {
    if (layout.is_of_picture(token)) texts[static_cast<std::size_t>(token)] = "▦";
  }
  return texts;
}

}  // namespace

GroupsPanel::GroupsPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  set_preferred_width(kGroupsWidth);
  add_figures();
  add_painters();
  add_names();
  page_ = new FigurePage(tr(kTitle), recipe(), session_, [this] { return request(); });
  page_->setMinimumHeight(kLeastFigure);
  body()->addWidget(page_, 1);
  QToolButton* const export_figure = add_action("export", tr("Export this figure…"));
  export_figure->setObjectName("groups_export");
  connect(export_figure, &QToolButton::clicked, page_, &FigurePanel::want_export);
  connect(&session_, &Session::subjects_changed, this, &GroupsPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &GroupsPanel::refresh);
  connect(written_, &QComboBox::currentTextChanged, this, &GroupsPanel::refresh);
  connect(from_, &QComboBox::currentIndexChanged, page_, &FigurePanel::want);
  connect(stacked_, &QCheckBox::toggled, page_, &FigurePanel::want);
  refresh();
  choose_figure();
}

void GroupsPanel::add_figures() {
  auto* const segments = new Segments;
  over_depth_ =
      segment_button("groups_depth", tr("Depth"),
                     tr("The share of the attention of each group, over the layers"), "first");
  as_maps_ = segment_button("groups_maps", tr("Maps"),
                            tr("Maps averaged by group, mean over heads"), "middle");
  receivers_ = segment_button("groups_receivers", tr("Receivers"),
                              tr("Heads whose later groups return to few earlier ones"), "last");
  over_depth_->setChecked(true);
  for (QToolButton* button : {over_depth_, as_maps_, receivers_}) {
    segments->add(button);
    connect(button, &QToolButton::toggled, this, [this](bool on) {
      if (on) choose_figure();
    });
  }
  add_to_header(segments);
}

void GroupsPanel::add_painters() {
  written_ = new QComboBox;
  written_->setObjectName("groups_written");
  written_->setAccessibleName(tr("Groups"));
  written_->setEditable(true);
  written_->setInsertPolicy(QComboBox::NoInsert);
  written_->setCompleter(nullptr);
  written_->lineEdit()->setObjectName("groups_written_text");
  written_->lineEdit()->setMaxLength(kLongestField);
  written_->setMinimumContentsLength(8);
  written_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  written_->addItem("auto");
  for (const EnumName<GroupKind>& kind : group_kind_names) {
    written_->addItem(QString::fromUtf8(kind.name.data(), std::ssize(kind.name)));
  }
  written_->setToolTip(
      tr("A kind of groups, or groups by hand: subject=3-5+9,others=rest. Drag over the tokens "
         "below to select them, and name them."));
  body()->addWidget(written_);
  text_ = new TextHeat;
  text_->setObjectName("groups_text");
  text_->setAccessibleName(tr("Tokens, coloured by group"));
  text_->setFixedHeight(kTextHeight);
  grid_ = new GridPainter;
  grid_->setObjectName("groups_grid");
  grid_->setAccessibleName(tr("Patches, coloured by group"));
  body()->addWidget(text_);
  body()->addWidget(grid_);
  connect(text_, &QTextEdit::selectionChanged, this, &GroupsPanel::show_selection);
  connect(grid_, &GridPainter::selection_changed, this, &GroupsPanel::show_selection);
}

void GroupsPanel::add_names() {
  naming_ = new QWidget;
  auto* const names = new QHBoxLayout(naming_);
  names->setContentsMargins(0, 0, 0, 0);
  names->setSpacing(6);
  name_ = new QLineEdit;
  name_->setObjectName("groups_name");
  name_->setAccessibleName(tr("Name of the group"));
  name_->setPlaceholderText(tr("Name of the group"));
  add_ = new QPushButton(tr("Add group"));
  add_->setObjectName("groups_add");
  selected_ = new QLabel;
  selected_->setObjectName("groups_selected");
  selected_->setProperty("role", "muted");
  names->addWidget(name_, 1);
  names->addWidget(selected_);
  names->addWidget(add_);
  body()->addWidget(naming_);
  connect(name_, &QLineEdit::textChanged, this, &GroupsPanel::show_selection);
  connect(name_, &QLineEdit::returnPressed, this, &GroupsPanel::add_group);
  connect(add_, &QPushButton::clicked, this, &GroupsPanel::add_group);

  from_ = new ElidedComboBox;
  from_->setObjectName("groups_from");
  from_->setAccessibleName(tr("Queries"));
  from_->setToolTip(tr("The queries whose attention is shared out"));
  from_->addItem(tr("Attention of all queries"), "all");
  stacked_ = new QCheckBox(tr("Stacked"));
  stacked_->setObjectName("groups_stacked");
  stacked_->setToolTip(tr("Shares as stacked bands instead of lines"));
  auto* const row = new QHBoxLayout;
  row->setSpacing(10);
  row->addWidget(from_, 1);
  row->addWidget(stacked_);
  body()->addLayout(row);
}

bool GroupsPanel::is_behind() const { return page_->is_behind(); }

bool GroupsPanel::is_stopped() const { return page_->is_stopped(); }

void GroupsPanel::resume() { page_->resume(); }

const Figure* GroupsPanel::figure() const { return page_->figure(); }

std::string GroupsPanel::recipe() const {
  return as_maps_->isChecked()     ? "group-maps"
         : receivers_->isChecked() ? "receiver-heads"
                                   : "groups-over-depth";
}

void GroupsPanel::choose_figure() {
  from_->setVisible(over_depth_->isChecked());
  stacked_->setVisible(over_depth_->isChecked());
  page_->set_recipe(recipe());
  page_->want();
}

FigureRequest GroupsPanel::request() const {
  FigureRequest request = request_of_selected(session_, has_some_maps);
  request.settings["groups"] = written_->currentText().trimmed().toStdString();
  if (!over_depth_->isChecked()) return request;
  request.settings["from"] = from_->currentData().toString().toStdString();
  request.settings["style"] = std::string(stacked_->isChecked() ? "bands" : "lines");
  return request;
}

std::shared_ptr<const Trace> GroupsPanel::trace() const {
  const FigureRequest request = request_of_selected(session_, has_some_maps);
  return request.subjects.empty() ? nullptr : request.subjects.front().trace;
}

TokenGroups GroupsPanel::groups() const {
  const std::shared_ptr<const Trace> own = trace();
  try {
    if (own) {
      return token_groups(own->layout, own->tokens(),
                          written_->currentText().trimmed().toStdString());
    }
  } catch (const Error&) {
    // The figure says why.
  }
  return {};
}

void GroupsPanel::refresh() {
  const std::shared_ptr<const Trace> own = trace();
  const bool is_text = own && own->layout.is_text();
  const bool is_grid = own && own->layout.is_grid_of(own->tokens());
  text_->setVisible(is_text);
  grid_->setVisible(is_grid);
  naming_->setVisible(is_text || is_grid);
  const TokenGroups now = groups();
  if (own) {
    const std::vector<QColor> grounds = grounds_of(now, own->tokens(), colours_of(*this));
    if (is_text) {
      text_->set_texts(painted_texts(own->layout));
      text_->set_grounds(grounds);
    }
    if (is_grid) grid_->set_content(own, grounds);
  }
  show_groups(now);
  show_selection();
  page_->want();
}

/// Lists the groups whose attention can be shown, the chosen one as before.
void GroupsPanel::show_groups(const TokenGroups& groups) {
  constexpr std::size_t most = 500;
  const QSignalBlocker quiet(from_);
  const QVariant chosen = from_->currentData();
  while (from_->count() > 1) from_->removeItem(1);
  for (std::size_t group = 0; group < std::min(groups.size(), most); ++group) {
    from_->addItem(
        tr("Attention of %1").arg(QString::fromStdString(group_in_words(groups, group, 40))),
        QString::number(group));
  }
  from_->setCurrentIndex(std::max(0, from_->findData(chosen)));
}

std::vector<std::int64_t> GroupsPanel::selected_tokens() const {
  if (!grid_->isHidden()) return grid_->selected_tokens();
  std::vector<std::int64_t> tokens;
  if (const auto range = text_->selected_tokens()) {
    for (std::int64_t token = range->first; token <= range->second; ++token) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

void GroupsPanel::show_selection() {
  const std::size_t count = selected_tokens().size();
  selected_->setText(count == 0   ? tr("drag over tokens")
                     : count == 1 ? tr("1 token")
                                  : tr("%1 tokens").arg(count));
  add_->setEnabled(count > 0 && !name_->text().trimmed().isEmpty());
}

void GroupsPanel::add_group() {
  const std::vector<std::int64_t> tokens = selected_tokens();
  const std::string name = name_->text().trimmed().toStdString();
  if (tokens.empty() || name.empty()) return;
  // The groups of a kind are replaced: they would leave no token to name.
  TokenGroups all = written_->currentText().contains('=') ? groups() : TokenGroups{};
  for (TokenGroup& group : all) {
    std::erase_if(group.tokens, [&tokens](std::int64_t token) {
      return std::ranges::binary_search(tokens, token);
    });
  }
  auto own = std::ranges::find(all, name, &TokenGroup::name);
  if (own == all.end()) own = all.insert(own, {name, {}});
  own->tokens.insert(own->tokens.end(), tokens.begin(), tokens.end());
  std::ranges::sort(own->tokens);
  std::erase_if(all, [](const TokenGroup& group) { return group.tokens.empty(); });
  // Inserted like typed text, the former groups come back with the field's undo.
  written_->lineEdit()->selectAll();
  written_->lineEdit()->insert(QString::fromStdString(groups_as_text(all)));
  name_->clear();
  // The colour of the group is seen in place of the selection.
  grid_->clear_selection();
  QTextCursor cursor = text_->textCursor();
  cursor.clearSelection();
  text_->setTextCursor(cursor);
}

}  // namespace attnscope
