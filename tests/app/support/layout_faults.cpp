#include "tests/app/support/layout_faults.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QStyleOptionComboBox>
#include <QTableView>
#include <QTreeView>
#include <algorithm>
#include <vector>

#include "app/look/theme.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"

namespace attnscope {

namespace {

/// Docks whose content is a list or a page of any length, so that it may scroll vertically.
constexpr const char* kScrolling[] = {
    "models",   "inputs", "answer",  "what-if",    "analyses", "training",  "sweep",  "truncation",
    "ablation", "energy", "lessons", "playground", "steps",    "mechanism", "groups", "patching"};

/// A widget with text, or one that is operated.
bool is_control(const QWidget& widget) {
  const auto* const label = qobject_cast<const QLabel*>(&widget);
  return (label != nullptr && !label->text().isEmpty()) ||
         qobject_cast<const QAbstractButton*>(&widget) != nullptr ||
         qobject_cast<const QComboBox*>(&widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
         qobject_cast<const QSlider*>(&widget) != nullptr ||
         qobject_cast<const QLineEdit*>(&widget) != nullptr;
}

/// True for parts that Qt places within its own widgets.
bool is_part(const QWidget& widget) {
  const QWidget* const parent = widget.parentWidget();
  return qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
         qobject_cast<const QComboBox*>(parent) != nullptr ||
         qobject_cast<const QScrollBar*>(parent) != nullptr;
}

const QDockWidget* dock_of(const QWidget& widget) {
  const QWidget* one = &widget;
  while (one != nullptr && qobject_cast<const QDockWidget*>(one) == nullptr) {
    one = one->parentWidget();
  }
  return qobject_cast<const QDockWidget*>(one);
}

/// "models: QLabel model_name "fashion-softmax"": its dock, class, object name and text.
QString named(const QWidget& widget) {
  QString text = widget.accessibleName();
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) text = label->text();
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
    text = button->text().isEmpty() ? button->accessibleName() : button->text();
  }
  if (const auto* box = qobject_cast<const QComboBox*>(&widget)) text = box->currentText();
  const QDockWidget* const dock = dock_of(widget);
  const QString window =
      qobject_cast<const QDialog*>(widget.window()) ? widget.window()->windowTitle() : "window";
  return QString("%1: %2 %3 \"%4\"")
      .arg(dock ? dock->objectName() : window, widget.metaObject()->className(),
           widget.objectName(), text.left(60).replace('\n', ' '));
}

QString letters(const QString& text) { return QString(text).remove("…").trimmed(); }

/// The fault of a widget's text; empty if there is none.
QString text_fault(const QWidget& widget) {
  if (const auto* const label = qobject_cast<const ElidedLabel*>(&widget)) {
    const QString shown = label->text(), full = label->full_text();
    if (shown.isEmpty()) return {};
    if (label->height() < label->fontMetrics().height()) return "is lower than its letters";
    if (shown == full) return {};
    if (letters(shown).size() < 3) return "shows less than three letters of " + full;
    if (label->toolTip().isEmpty()) return "is shortened without a tool tip";
    return {};
  }
  if (const auto* const label = qobject_cast<const QLabel*>(&widget)) {
    if (label->text().isEmpty()) return {};
    const QSize needed = label->wordWrap() ? QSize(label->minimumSizeHint().width(),
                                                   label->heightForWidth(label->width()))
                                           : label->sizeHint();
    const bool fits = needed.width() <= label->width() && needed.height() <= label->height();
    return fits ? QString() : QString("needs %1×%2").arg(needed.width()).arg(needed.height());
  }
  if (const auto* const box = dynamic_cast<const ElidedComboBox*>(&widget);
      box != nullptr && !box->isEditable()) {
    const QString shown = box->shown_text();
    const bool is_said = shown == box->currentText() || letters(shown).size() >= 3;
    return is_said ? QString() : "shows only " + shown;
  }
  if (const auto* const box = qobject_cast<const QComboBox*>(&widget)) {
    if (box->isEditable()) return {};  // its text moves with the caret
    QStyleOptionComboBox option;
    option.initFrom(box);
    const int room =
        box->style()
            ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box)
            .width();
    const int needed = box->fontMetrics().horizontalAdvance(box->currentText());
    return needed <= room ? QString() : QString("text of %1 in %2").arg(needed).arg(room);
  }
  if (const auto* const spin = qobject_cast<const QAbstractSpinBox*>(&widget)) {
    const auto* const line = spin->findChild<QLineEdit*>();
    const int needed = spin->fontMetrics().horizontalAdvance(spin->text());
    return needed <= line->width() ? QString()
                                   : QString("text of %1 in %2").arg(needed).arg(line->width());
  }
  if (const auto* const button = qobject_cast<const QAbstractButton*>(&widget)) {
    if (button->text().isEmpty()) return {};
    const QSize needed = button->sizeHint();
    const bool fits =
        needed.width() <= button->width() && button->fontMetrics().height() <= button->height();
    return fits ? QString() : QString("needs %1×%2").arg(needed.width()).arg(needed.height());
  }
  if (const auto* const header = qobject_cast<const QHeaderView*>(&widget)) {
    if (header->orientation() != Qt::Horizontal) return {};
    QFont font = header->font();
    font.setPointSizeF(font.pointSizeF() * 8.5 / usual_font_pt);  // the size in the style sheet
    font.setWeight(QFont::DemiBold);
    for (int i = 0; i < header->count(); ++i) {
      if (header->isSectionHidden(i)) continue;
      const QString title = header->model()->headerData(i, Qt::Horizontal).toString();
      const int needed = QFontMetrics(font).horizontalAdvance(title);
      if (needed > header->sectionSize(i)) {
        return QString("column %1 is %2 wide").arg(title).arg(header->sectionSize(i));
      }
    }
  }
  return {};
}

/// The fault of the widget's place in its parent; empty if there is none.
QString place_fault(const QWidget& widget) {
  const QWidget* const parent = widget.parentWidget();
  if (parent == nullptr || !is_control(widget)) return {};
  const auto* const area = qobject_cast<const QAbstractScrollArea*>(parent->parentWidget());
  if (area != nullptr && area->viewport() == parent) return {};
  if (parent->rect().contains(widget.geometry())) return {};
  const QRect at = widget.geometry();
  return QString("at %1,%2 is outside its parent of %3×%4")
      .arg(at.x())
      .arg(at.y())
      .arg(parent->width())
      .arg(parent->height());
}

/// The first sibling that lies over a part of the widget, or null.
const QWidget* overlapped(const QWidget& widget) {
  if (!is_control(widget) || widget.parentWidget() == nullptr) return nullptr;
  bool after = false;
  for (const QObject* object : widget.parentWidget()->children()) {
    const auto* const other = qobject_cast<const QWidget*>(object);
    if (other == &widget) after = true;
    if (!after || other == &widget || other == nullptr) continue;
    if (!other->isVisible() || other->isHidden() || !is_control(*other) || other->isWindow())
      continue;
    const QRect both = other->geometry().intersected(widget.geometry());
    if (both.width() > 1 && both.height() > 1) return other;
  }
  return nullptr;
}

/// The innermost widget that needs more than `width` pixels, as the reason of a content's width.
const QWidget& widest_part(const QWidget& content, int width) {
  for (const QObject* object : content.children()) {
    const auto* const part = qobject_cast<const QWidget*>(object);
    if (part == nullptr || part->isHidden()) continue;
    const int needed = std::max(part->minimumWidth(), part->minimumSizeHint().width());
    if (needed > width) return widest_part(*part, width);
  }
  return content;
}

/// The contents that a scroll area hides and should show; empty if there are none.
QString scroll_fault(const QAbstractScrollArea& area) {
  const QDockWidget* const dock = dock_of(area);
  const bool is_table = qobject_cast<const QTableView*>(&area) != nullptr ||
                        qobject_cast<const QTreeView*>(&area) != nullptr;
  const auto* const scroll = qobject_cast<const QScrollArea*>(&area);
  const bool is_sheet = scroll != nullptr && scroll->widget() != nullptr &&
                        scroll->widget()->objectName() == "page_canvas";
  if (is_sheet) return {};  // it is zoomed
  if (scroll != nullptr && scroll->widget() != nullptr &&
      scroll->widget()->width() > area.viewport()->width()) {
    const QWidget& part = widest_part(*scroll->widget(), area.viewport()->width() * 2 / 3);
    return QString("shows %1 of %2 pixels of its width; [%3 needs %4]")
        .arg(area.viewport()->width())
        .arg(scroll->widget()->width())
        .arg(named(part))
        .arg(part.minimumSizeHint().width());
  }
  if (area.horizontalScrollBar()->isVisible() && !is_table) return "scrolls sideways";
  if (!area.verticalScrollBar()->isVisible() || is_table || dock == nullptr) return {};
  for (const char* const may : kScrolling) {
    if (dock->objectName() == may) return {};
  }
  return QString("scrolls: %1 of %2")
      .arg(area.viewport()->height())
      .arg(scroll && scroll->widget() ? scroll->widget()->height() : 0);
}

/// A field's placeholder that is longer than the field; empty if none is.
QString placeholder_fault(const QWidget& widget) {
  const auto* const line = qobject_cast<const QLineEdit*>(&widget);
  if (line == nullptr || line->placeholderText().isEmpty()) return {};
  const int needed = line->fontMetrics().horizontalAdvance(line->placeholderText());
  const int room = line->contentsRect().width() - 2 * line->textMargins().left();
  return needed <= room ? QString() : QString("placeholder of %1 in %2").arg(needed).arg(room);
}

/// The first entry of a dialog's list that is cut and has no tool tip; empty if none is.
QString entry_fault(const QAbstractItemView& view) {
  constexpr int kMost = 300;  // entries of each level
  const QAbstractItemModel* const model = view.model();
  if (model == nullptr || dock_of(view) != nullptr) return {};
  const auto cut = [&](const QModelIndex& index) {
    const QRect at = view.visualRect(index);
    const QString text = index.data().toString();
    return at.isValid() && view.viewport()->rect().intersects(at) && !text.isEmpty() &&
           index.data(Qt::ToolTipRole).toString().isEmpty() &&
           view.fontMetrics().horizontalAdvance(text) > at.width();
  };
  std::vector<QModelIndex> parents = {{}};
  for (std::size_t next = 0; next < parents.size(); ++next) {
    const QModelIndex parent = parents[next];
    for (int row = 0; row < std::min(kMost, model->rowCount(parent)); ++row) {
      for (int column = 0; column < model->columnCount(parent); ++column) {
        const QModelIndex index = model->index(row, column, parent);
        if (cut(index)) return "cuts the entry " + index.data().toString();
      }
      if (parents.size() < kMost) parents.push_back(model->index(row, 0, parent));
    }
  }
  return {};
}

}  // namespace

void LayoutFaults::look_around(const QWidget& page, const QString& where) {
  for (const QWidget* widget : page.findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->isHidden() || is_part(*widget) ||
        widget->window() != page.window())
      continue;
    const QDockWidget* const dock = dock_of(*widget);
    if (dock != nullptr && dock->visibleRegion().isEmpty()) continue;
    add(where, *widget, text_fault(*widget));
    add(where, *widget, placeholder_fault(*widget));
    add(where, *widget, place_fault(*widget));
    if (const QWidget* const other = overlapped(*widget)) {
      add(where, *widget, "lies under " + named(*other));
    }
    if (const auto* const area = qobject_cast<const QAbstractScrollArea*>(widget)) {
      add(where, *widget, scroll_fault(*area));
    }
    if (const auto* const view = qobject_cast<const QAbstractItemView*>(widget)) {
      add(where, *widget, entry_fault(*view));
    }
    const QString name = widget->objectName();
    if (widget->parentWidget()->objectName() == "comparison_bar") continue;  // hides by design
    if (name == "qt_toolbar_ext_button" || name == "qt_menubar_ext_button" ||
        name == "ScrollLeftButton") {
      add(where, *widget, "hides what does not fit");
    }
  }
  const QString pictures = qEnvironmentVariable("ATTNSCOPE_LAYOUT_PICTURES");
  const bool all = qEnvironmentVariableIsSet("ATTNSCOPE_LAYOUT_ALL_PICTURES");
  if (!pictures.isEmpty() && (all || faults_.size() > pictured_)) {
    QString name = QString("%1 %2.png").arg(page.window()->width()).arg(where);
    page.window()->grab().save(pictures + "/" + name.replace('/', '-'));
  }
  pictured_ = faults_.size();
}

void LayoutFaults::add(const QString& where, const QWidget& widget, const QString& fault) {
  if (fault.isEmpty()) return;
  faults_.try_emplace(
      named(widget),
      QString("%1×%2, %3 (%4)").arg(widget.width()).arg(widget.height()).arg(fault, where));
}

std::string LayoutFaults::report() const {
  std::string text;
  for (const auto& [fault, where] : faults_) {
    text += (fault + ": " + where + "\n").toStdString();
  }
  return text;
}

}  // namespace attnscope
