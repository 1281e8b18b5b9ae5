#include "app/panels/models/structure_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <memory>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/wrapped_label.h"
#include "core/architecture/architecture.h"
#include "core/architecture/vision_language/vision_language_file.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kAllColumns = 360;  // pixels for tensors, shapes and types next to the parts
enum Column { kPart, kTensor, kShape, kType };

QString to_text(const std::string& text) { return QString::fromStdString(text); }

QTreeWidgetItem* item_of(const StructureNode& node) {
  auto* item = new QTreeWidgetItem(
      {to_text(node.title), to_text(node.tensor), to_text(node.shape), to_text(node.type)});
  const bool is_tensor = !node.tensor.empty();
  if (!is_tensor && node.numbers > 0) {
    item->setText(kShape, to_text(count_in_words(node.numbers)));
    item->setToolTip(kShape, QObject::tr("numbers in its tensors: %1").arg(node.numbers));
  }
  if (!node.note.empty()) {
    if (!is_tensor) item->setText(kTensor, to_text(node.note));
    item->setToolTip(kTensor, to_text(is_tensor ? node.tensor + "\n" + node.note : node.note));
  } else {
    item->setToolTip(kTensor, to_text(node.tensor));
  }
  // In a narrow page only the parts have a column.
  item->setToolTip(kPart, (item->text(kTensor) + "\n" + item->text(kShape)).trimmed());
  for (const StructureNode& child : node.children) item->addChild(item_of(child));
  return item;
}

/// Hides items without `words` in themselves or their children; true if the item is shown.
bool show_matching(QTreeWidgetItem& item, const QString& words) {
  bool any = item.text(kPart).contains(words, Qt::CaseInsensitive) ||
             item.text(kTensor).contains(words, Qt::CaseInsensitive);
  for (int i = 0; i < item.childCount(); ++i) {
    any = show_matching(*item.child(i), words) || any;
  }
  item.setHidden(!any);
  if (any && !words.isEmpty()) item.setExpanded(true);
  return any;
}

}  // namespace

StructurePage::StructurePage(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  facts_ = new WrappedLabel;
  facts_->setProperty("role", "muted");
  facts_->setObjectName("structure_facts");
  words_ = new QLineEdit;
  words_->setObjectName("structure_words");
  words_->setPlaceholderText(tr("Find a part or a tensor"));
  words_->setAccessibleName(tr("Find a part or a tensor"));
  words_->setClearButtonEnabled(true);
  tree_ = new QTreeWidget;
  tree_->setObjectName("structure_tree");
  tree_->setAccessibleName(tr("Parts and tensors of the model"));
  tree_->setHeaderLabels({tr("Part"), tr("Tensor"), tr("Shape"), tr("Type")});
  tree_->setUniformRowHeights(true);
  tree_->setContextMenuPolicy(Qt::CustomContextMenu);
  body()->addWidget(facts_);
  body()->addWidget(words_);
  body()->addWidget(tree_, 1);
  add_enlarge_action();
  connect(words_, &QLineEdit::textChanged, this, &StructurePage::find_words);
  connect(tree_, &QTreeWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    const QTreeWidgetItem* const item = tree_->itemAt(at);
    if (item == nullptr) return;
    QMenu menu(tree_);
    menu.addAction(tr("Copy the name"), this, [item] {
      QApplication::clipboard()->setText(
          item->text(item->text(kTensor).isEmpty() ? kPart : kTensor));
    });
    menu.addAction(tr("Unfold all"), tree_, &QTreeWidget::expandAll);
    menu.addAction(tr("Fold all"), tree_, &QTreeWidget::collapseAll);
    menu.exec(tree_->viewport()->mapToGlobal(at));
  });
  connect(&session_, &Session::selection_changed, this, &StructurePage::refresh);
  connect(&session_, &Session::subjects_changed, this, &StructurePage::refresh);
  connect(&session_, &Session::view_changed, this, &StructurePage::refresh);
  refresh();
}

void StructurePage::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  for (const int column : {kTensor, kShape, kType}) {
    tree_->setColumnHidden(column, width() < kAllColumns);
  }
}

bool StructurePage::is_behind() const { return isVisible() && wanted() != shown_; }

std::optional<StructurePage::Shown> StructurePage::wanted() const {
  const OpenSubject* open = session_.find(session_.selection().subject);
  // A model that failed to open has a structure, too, but no map that could be selected.
  if (open == nullptr && !session_.subjects().empty()) open = &session_.subjects().front();
  if (open == nullptr || open->file.empty()) return std::nullopt;
  const bool is_trace = open->subject.trace && !open->subject.model;
  if (is_trace) return std::nullopt;
  return Shown{open->file, open->options, session_.view().first_layer};
}

void StructurePage::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  refresh();
}

void StructurePage::refresh() {
  if (!isVisible()) return;
  const std::optional<Shown> wanted = this->wanted();
  if (!wanted) {
    asked_ = shown_ = std::nullopt;
    return show_instead(session_.subjects().empty()
                            ? tr("The layers, parts and tensors of the selected model.")
                            : tr("A trace holds maps, but no weights."));
  }
  if (asked_ == wanted) return;
  asked_ = wanted;
  stopped_ = false;
  session_.jobs().submit(
      tr("Reading the structure of %1").arg(to_text(wanted->file.filename().string())),
      [this, wanted](const Progress&) -> JobQueue::Delivery {
        Checkpoint checkpoint = open_model_file(wanted->file, wanted->options);
        ModelOptions options = wanted->options;
        if (const auto parts = vision_language_file(checkpoint, options)) {
          const Checkpoint* const one = one_part(*parts, options);
          checkpoint = one ? *one : parts->language;
          if (!one) options = options_of_language(options);
        }
        std::optional<Architecture> architecture;
        QString problem;
        try {
          architecture = recognise_architecture(checkpoint, options);
        } catch (const Error& error) {
          problem = to_text(error.in_window());
        }
        auto model = std::make_shared<StructureNode>(
            structure_of(checkpoint, architecture ? &*architecture : nullptr, wanted->first_layer));
        return [this, wanted, model, problem] {
          if (asked_ != wanted) return;
          shown_ = wanted;
          show_structure(*model, problem);
        };
      },
      [this, wanted](const JobFailure& failure) {
        if (asked_ != wanted) return;
        shown_ = wanted;
        stopped_ = failure.cancelled;
        if (stopped_) return show_stopped();
        show_instead(to_text(failure.what), true);
      },
      this);
}

void StructurePage::resume() {
  if (!stopped_) return;
  asked_.reset();
  refresh();
}

void StructurePage::show_structure(const StructureNode& model, const QString& problem) {
  show_instead({});
  facts_->setText(to_text(model.title + ": " + model.note) +
                  (problem.isEmpty() ? QString() : "\n⚠ " + problem));
  tree_->clear();
  for (const StructureNode& child : model.children) tree_->addTopLevelItem(item_of(child));
  for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
    QTreeWidgetItem& item = *tree_->topLevelItem(i);
    item.setExpanded(item.text(kPart) == "Layers");
    if (item.text(kPart) != "Layers" || item.childCount() == 0) continue;
    // The first layer is expanded as an example of all.
    item.child(0)->setExpanded(true);
    for (int part = 0; part < item.child(0)->childCount(); ++part) {
      item.child(0)->child(part)->setExpanded(true);
    }
  }
  for (const int column : {kPart, kTensor, kShape}) tree_->resizeColumnToContents(column);
  constexpr int kWidestName = 260;  // pixels; the tool tip has the full name
  if (tree_->columnWidth(kTensor) > kWidestName) tree_->setColumnWidth(kTensor, kWidestName);
  find_words(words_->text());
}

void StructurePage::find_words(const QString& words) {
  for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
    show_matching(*tree_->topLevelItem(i), words);
  }
}

}  // namespace attnscope
