#include "app/panels/describe/role_trees.h"

#include <QDropEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMimeData>
#include <QSignalBlocker>
#include <algorithm>
#include <set>
#include <string_view>

#include "app/look/theme.h"
#include "core/architecture/architecture.h"

namespace attnscope {

namespace {

constexpr int kKey = Qt::UserRole;  // pattern or role of an item
constexpr const char* kMimeType = "application/x-attnscope-tensor";

QString text(std::string_view words) {
  return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

std::string item_key(const QTreeWidgetItem* item) {
  return item ? item->data(0, kKey).toString().toStdString() : std::string();
}

QTreeWidgetItem* heading(QTreeWidget& tree, const QString& words) {
  auto* item = new QTreeWidgetItem(&tree, {words});
  item->setFlags(Qt::ItemIsEnabled);
  item->setFirstColumnSpanned(true);
  item->setExpanded(true);
  return item;
}

void set_up(QTreeWidget& tree, const QStringList& columns) {
  tree.ensurePolished();  // otherwise rows keep the height without a style sheet
  tree.setHeaderLabels(columns);
  tree.setAlternatingRowColors(true);
  tree.setSelectionMode(QAbstractItemView::SingleSelection);
  tree.header()->setStretchLastSection(true);
}

/// Roles that most models have; they are shown even without a tensor.
bool is_usual(std::string_view role) {
  constexpr std::string_view usual[] = {"token_embedding.weight",
                                        "patch.weight",
                                        "positions",
                                        "layer.norm1.weight",
                                        "layer.query.weight",
                                        "layer.key.weight",
                                        "layer.value.weight",
                                        "layer.out.weight",
                                        "layer.norm2.weight",
                                        "layer.mlp1.weight",
                                        "layer.mlp2.weight",
                                        "final_norm.weight",
                                        "head.weight",
                                        "class_token",
                                        "layer.qkv.weight"};
  return std::ranges::find(usual, role) != std::end(usual);
}

QString certainty_in_words(Certainty certainty) {
  switch (certainty) {
    case Certainty::sure:
      return QObject::tr("●●● by its name");
    case Certainty::likely:
      return QObject::tr("●●○ probably");
    case Certainty::guess:
      return QObject::tr("●○○ a guess");
  }
  return {};
}

}  // namespace

std::vector<std::string> all_roles() {
  std::vector<std::string> roles;
  for (const TensorRole& role : tensor_roles()) {
    const std::string name(role.name);
    if (name == "layer.mechanism" || name.starts_with("stage.")) continue;  // roles of other forms
    if (!role.module) {
      roles.push_back(name);
      continue;
    }
    roles.push_back(name + ".weight");
    roles.push_back(name + ".bias");
  }
  return roles;
}

QString shape_in_words(const Shape& shape) {
  QStringList extents;
  for (const std::int64_t extent : shape) extents << QString::number(extent);
  return "[" + extents.join(", ") + "]";
}

TensorTree::TensorTree(const std::vector<TensorGroup>& groups, QWidget* parent)
    : QTreeWidget(parent) {
  setObjectName("tensor_tree");
  setAccessibleName(tr("Tensors of the file"));
  set_up(*this, {tr("Tensor"), tr("Shape"), tr("Type"), tr("Role")});
  setDragEnabled(true);
  setDragDropMode(QAbstractItemView::DragOnly);
  QTreeWidgetItem *layers = nullptr, *outside = nullptr;
  for (const TensorGroup& group : groups) {
    QTreeWidgetItem*& under = group.of_layers() ? layers : outside;
    if (under == nullptr) {
      under = heading(*this, group.of_layers() ? tr("In every layer") : tr("Outside the layers"));
    }
    const QString type =
        group.count > 1 ? tr("%1 × %2").arg(text(group.type)).arg(group.count) : text(group.type);
    auto* item = new QTreeWidgetItem(
        under, {text(group.of_layers() ? group.tail() : group.pattern),
                group.alike ? shape_in_words(group.shape) : tr("several"), type, QString()});
    item->setData(0, kKey, text(group.pattern));
    item->setToolTip(0, text(group.pattern));
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled);
    items_[group.pattern] = item;
  }
  expandAll();
  connect(this, &QTreeWidget::currentItemChanged, this,
          [this](const QTreeWidgetItem* item) { emit chosen(item_key(item)); });
}

void TensorTree::show_roles(const DescriptionDraft& draft) {
  std::map<std::string, std::string> roles;
  for (const auto& [role, given] : draft.roles) roles[given.pattern] = role;
  const WindowColours& colours = colours_of(*this);
  for (const auto& [pattern, item] : items_) {
    const auto role = roles.find(pattern);
    const bool harmless = std::ranges::find(draft.harmless, pattern) != draft.harmless.end();
    item->setText(3, role != roles.end() ? text(role->second)
                     : harmless          ? tr("takes no part")
                                         : tr("none yet"));
    item->setForeground(3, role != roles.end() ? colours.text
                           : harmless          ? colours.muted
                                               : colours.warning);
  }
  for (const int column : {0, 1, 2}) resizeColumnToContents(column);
}

std::string TensorTree::current_pattern() const { return item_key(currentItem()); }

void TensorTree::choose(const std::string& pattern) {
  const auto found = items_.find(pattern);
  if (found != items_.end()) setCurrentItem(found->second);
}

QMimeData* TensorTree::mimeData(const QList<QTreeWidgetItem*>& items) const {
  auto* data = new QMimeData;
  if (!items.isEmpty()) data->setData(kMimeType, items.front()->data(0, kKey).toByteArray());
  return data;
}

void TensorTree::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete && !current_pattern().empty()) {
    emit role_refused(current_pattern());
  } else {
    QTreeWidget::keyPressEvent(event);
  }
}

RoleTree::RoleTree(QWidget* parent) : QTreeWidget(parent) {
  setObjectName("role_tree");
  setAccessibleName(tr("Roles"));
  set_up(*this, {tr("Role"), tr("Tensor"), tr("How sure")});
  header()->setStretchLastSection(false);
  header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  header()->setSectionResizeMode(1, QHeaderView::Stretch);
  setAcceptDrops(true);
  setDragDropMode(QAbstractItemView::DropOnly);
  connect(this, &QTreeWidget::currentItemChanged, this,
          [this](const QTreeWidgetItem* item) { emit chosen(item_key(item)); });
}

void RoleTree::show_roles(const DescriptionDraft& draft, const std::vector<RoleProposal>& proposals,
                          bool all) {
  const std::string current = item_key(currentItem());
  const QSignalBlocker quiet(this);
  clear();
  const WindowColours& colours = colours_of(*this);
  QTreeWidgetItem *input = nullptr, *layers = nullptr, *readout = nullptr;
  bool past_layers = false;
  for (const std::string& role : all_roles()) {
    const bool of_layer = role.starts_with("layer.");
    past_layers = past_layers || of_layer;
    const auto given = draft.roles.find(role);
    const bool has = given != draft.roles.end();
    if (!has && !all && !(is_usual(role) && is_open(role, draft.roles))) continue;
    QTreeWidgetItem*& under = of_layer ? layers : past_layers ? readout : input;
    if (under == nullptr) {
      under = heading(*this, of_layer      ? tr("In every layer")
                             : past_layers ? tr("After the layers")
                                           : tr("Before the layers"));
    }
    auto* item = new QTreeWidgetItem(
        under, {text(of_layer ? std::string_view(role).substr(6) : std::string_view(role))});
    item->setData(0, kKey, text(role));
    item->setToolTip(0, text(role) + ": " + text(explanation_of(role)));
    if (!has) {
      item->setText(1, tr("drop a tensor here"));
      item->setForeground(1, colours.muted);
    } else {
      const DraftPattern& pattern = given->second;
      item->setText(1, text(pattern.pattern) + (pattern.transposed ? tr("  (as [in, out])") : ""));
      item->setToolTip(1, item->text(1));
      const auto proposed = std::ranges::find_if(proposals, [&](const RoleProposal& each) {
        return each.role == role && each.pattern == pattern.pattern;
      });
      item->setText(
          2, proposed == proposals.end() ? tr("by you") : certainty_in_words(proposed->certainty));
      if (proposed != proposals.end() && proposed->certainty == Certainty::guess) {
        item->setForeground(2, colours.warning);
      }
    }
    if (role == current) setCurrentItem(item);
  }
  expandAll();
}

void RoleTree::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasFormat(kMimeType)) event->acceptProposedAction();
}

void RoleTree::dragMoveEvent(QDragMoveEvent* event) {
  QTreeWidgetItem* const item = itemAt(event->position().toPoint());
  if (!event->mimeData()->hasFormat(kMimeType) || item_key(item).empty()) return event->ignore();
  {
    const QSignalBlocker quiet(this);
    setCurrentItem(item);
  }
  event->acceptProposedAction();
}

void RoleTree::dropEvent(QDropEvent* event) {
  const std::string role = item_key(itemAt(event->position().toPoint()));
  if (role.empty() || !event->mimeData()->hasFormat(kMimeType)) return event->ignore();
  event->acceptProposedAction();
  emit dropped(event->mimeData()->data(kMimeType).toStdString(), role);
}

void RoleTree::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete && currentItem() != nullptr) {
    emit role_refused(item_key(currentItem()));
  } else {
    QTreeWidget::keyPressEvent(event);
  }
}

}  // namespace attnscope
