// Walks the widgets of the window with every panel and page in front, and finds what a reader would
// call broken: cut text, controls outside their parents, overlaps, unplanned scroll bars. Set
// ATTNSCOPE_LAYOUT_PICTURES to a folder to get a picture of each place with a fault.
#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QStyleOptionComboBox>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <map>
#include <string>

#include "app/look/theme.h"
#include "app/panels/panels.h"
#include "app/session/sample_data.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/segments.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

constexpr const char* kTimmName = "vit_base_patch16_clip_quickgelu_224.metaclip_2pt5b_ft_in1k";

/// Docks whose content is a list or a page of any length, so that it may scroll vertically.
constexpr const char* kScrolling[] = {
    "models",     "inputs",   "answer", "what-if", "analyses",   "training", "sweep",
    "truncation", "ablation", "energy", "lessons", "playground", "steps",    "mechanism"};

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
  return QString("%1: %2 %3 \"%4\"")
      .arg(dock ? dock->objectName() : QString("window"), widget.metaObject()->className(),
           widget.objectName(), text.left(60).replace('\n', ' '));
}

/// True for a segment button that is seen, or that is in the menu of folded segments.
bool can_be_chosen(const QToolButton& button) {
  if (!button.isCheckable() || !button.isEnabled()) return false;
  const QWidget* const row = button.parentWidget();
  const auto* const folded = dynamic_cast<const Segments*>(row->parentWidget());
  return folded ? folded->isVisible() && !button.isHidden() : button.isVisible();
}

QString letters(const QString& text) { return QString(text).remove("…").trimmed(); }

/// What is wrong with the text of a widget; empty if nothing is.
QString text_fault(const QWidget& widget) {
  if (const auto* const label = qobject_cast<const ElidedLabel*>(&widget)) {
    const QString shown = label->text(), full = label->full_text();
    if (shown == full || shown.isEmpty()) return {};
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
    QStyleOptionComboBox option;
    option.initFrom(box);
    option.editable = box->isEditable();
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
    font.setPointSizeF(font.pointSizeF() * 8.5 / usual_font_pt);  // as in the style sheet
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

/// What is wrong with the widget's place in its parent; empty if nothing is.
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

/// What a scroll area hides that it should not; empty if nothing.
QString scroll_fault(const QAbstractScrollArea& area) {
  const QDockWidget* const dock = dock_of(area);
  const bool is_table = qobject_cast<const QTableView*>(&area) != nullptr ||
                        qobject_cast<const QTreeView*>(&area) != nullptr;
  const auto* const scroll = qobject_cast<const QScrollArea*>(&area);
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

class Layout : public WindowTest {
 protected:
  /// A ViT of twelve layers with a long name and two overlays, on a picture.
  void open_timm() {
    const std::filesystem::path file = folder() / (std::string(kTimmName) + ".safetensors");
    write_hashed_safetensors(file, timm_shapes({.width = 48,
                                                .layers = 12,
                                                .image = 32,
                                                .patch = 8,
                                                .classes = 1000,
                                                .mlp_width = 48}));
    session().set_input((sample_data_folder() / "inputs/00_t_shirt.png").string());
    session().open(file, {{{"heads", "4"}}, {}});
    ASSERT_TRUE(wait_until_settled());
    ASSERT_TRUE(session().trace(id(0))) << session().subjects()[0].error;
    session().overlay(id(0), {"adder", {{"identity", true}}});
    session().overlay(id(0), {"cosformer", {}});
    ASSERT_TRUE(wait_until_settled());
    ASSERT_TRUE(session().trace(id(2))) << session().subjects()[2].error;
  }

  void rest() {
    constexpr int kStillPolls = 3;
    QList<QRect> before;
    int still = 0;
    EXPECT_TRUE(wait_until([&] {
      QList<QRect> places;
      for (const QWidget* widget : window().findChildren<QWidget*>()) {
        if (widget->isVisible()) places << QRect(widget->mapToGlobal(QPoint()), widget->size());
      }
      still = window().settled() && places == before ? still + 1 : 0;
      before = places;
      return still >= kStillPolls;
    }));
  }

  /// Collects the faults of all visible widgets.
  void look_around(const QString& where) {
    const std::size_t before = faults_.size();
    for (const QWidget* widget : window().findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->isHidden() || is_part(*widget) ||
          widget->window() != &window())
        continue;
      const QDockWidget* const dock = dock_of(*widget);
      if (dock != nullptr && dock->visibleRegion().isEmpty()) continue;
      add(where, *widget, text_fault(*widget));
      add(where, *widget, place_fault(*widget));
      if (const QWidget* const other = overlapped(*widget)) {
        add(where, *widget, "lies under " + named(*other));
      }
      if (const auto* const area = qobject_cast<const QAbstractScrollArea*>(widget)) {
        add(where, *widget, scroll_fault(*area));
      }
      const QString name = widget->objectName();
      if (widget->parentWidget()->objectName() == "comparison_bar") continue;  // hides by design
      if (name == "qt_toolbar_ext_button" || name == "qt_menubar_ext_button" ||
          name == "ScrollLeftButton") {
        add(where, *widget, "hides what does not fit");
      }
    }
    const QString pictures = qEnvironmentVariable("ATTNSCOPE_LAYOUT_PICTURES");
    if (pictures.isEmpty() || faults_.size() == before) return;
    const QString name = QString("%1 %2.png").arg(window().width()).arg(where);
    window().grab().save(pictures + "/" + name);
  }

  void walk(const std::string& panel) {
    window().show_panel(panel);
    rest();
    look_around(QString::fromStdString(panel));
  }

  /// Looks at every panel, its pages, and what each of its segment buttons shows.
  void walk_all() {
    for (const PanelEntry& entry : panels()) {
      walk(entry.name);
      for (const PanelPage& page : entry.pages) walk(page.name);
      auto* const dock = child<QDockWidget>(entry.name);
      QStringList names;
      for (const QToolButton* button : dock->findChildren<QToolButton*>()) {
        if (can_be_chosen(*button) && button->autoExclusive() && !button->isChecked()) {
          names << button->objectName();
        }
      }
      for (const QString& name : names) {
        auto* const button = dock->findChild<QToolButton*>(name);
        if (button == nullptr || !can_be_chosen(*button)) continue;
        button->click();
        rest();
        look_around(QString("%1, %2").arg(entry.name, name));
      }
      if (entry.place == PanelPlace::beside) dock->close();
    }
  }

  [[nodiscard]] std::string report() const {
    std::string text;
    for (const auto& [fault, where] : faults_) {
      text += (fault + ": " + where + "\n").toStdString();
    }
    return text;
  }
  [[nodiscard]] bool has_faults() const { return !faults_.empty(); }

 private:
  void add(const QString& where, const QWidget& widget, const QString& fault) {
    if (fault.isEmpty()) return;
    faults_.try_emplace(
        named(widget),
        QString("%1×%2, %3 (%4)").arg(widget.width()).arg(widget.height()).arg(fault, where));
  }

  std::map<QString, QString> faults_;  // each with the place where it was first seen
};

struct Look {
  const char* name;
  QSize size;
  Theme theme = Theme::dark;
  bool presents = false;
};

class LayoutAt : public Layout, public testing::WithParamInterface<Look> {};

TEST_P(LayoutAt, NothingIsCutOrCovered) {
  const Look& look = GetParam();
  window().resize(look.size);
  window().set_theme(look.theme);
  rest();
  open_timm();
  if (look.presents) {
    press(Qt::Key_F5);
    // The screen of the test may have another size.
    window().setWindowState(window().windowState() & ~Qt::WindowFullScreen);
    window().resize(look.size);
    rest();
  }
  walk_all();
  session().set_reference(id(0));
  ViewSettings view = session().view();
  view.comparison = ComparisonView::wipe;
  session().set_view(view);
  press(Qt::Key_L);
  rest();
  look_around("compared, with the lens");
  EXPECT_EQ(window().size(), look.size);
  EXPECT_FALSE(has_faults()) << report();
}

INSTANTIATE_TEST_SUITE_P(Looks, LayoutAt,
                         testing::Values(Look{"small", {1024, 768}}, Look{"usual", {1280, 800}},
                                         Look{"large", {1600, 1000}, Theme::light},
                                         Look{"small_presented", {1024, 768}, Theme::dark, true},
                                         Look{"usual_presented", {1280, 800}, Theme::light, true},
                                         Look{"large_presented", {1600, 1000}, Theme::dark, true}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_F(Layout, PagesOfEveryMechanismFit) {
  window().resize(1280, 800);
  const auto show = [this](const char* model, const std::string& input) {
    session().set_input(input);
    const std::string file = std::string(model) + ".h5";
    const SubjectId opened = session().open(sample_data_folder() / "models" / file);
    rest();
    session().select_map(opened, 0, 0);
    for (const PanelEntry& entry : panels()) {
      if (entry.group == PanelGroup::experiments || entry.group == PanelGroup::learn) continue;
      walk(entry.name);
      for (const PanelPage& page : entry.pages) walk(page.name);
      if (entry.place == PanelPlace::beside) child<QDockWidget>(entry.name)->close();
    }
    EXPECT_FALSE(has_faults()) << model << "\n" << report();
    session().close(opened);
  };
  const std::string picture = (sample_data_folder() / "inputs/00_t_shirt.png").string();
  show("fashion-daft-full", picture);
  show("fashion-hash", picture);
  show("shakespeare-fastformer", "text:To be, or not to be, that is the question");
}

TEST_F(Layout, AnEmptyWindowFitsAlsoWhenItGrows) {
  for (const QSize size : {QSize(1024, 768), QSize(1600, 1000)}) {
    window().resize(size);
    rest();
    walk_all();
  }
  EXPECT_FALSE(has_faults()) << report();
}

}  // namespace
}  // namespace attnscope
