#include "app/panels/frame/dock_panel.h"

#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMainWindow>
#include <QScrollArea>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/matrix/matrix_kind.h"
#include "app/look/theme.h"
#include "app/widgets/elided_label.h"

namespace attnscope {

namespace {

constexpr int kWidestMinimum = 200;  // pixels; content that needs more scrolls in narrow docks

/// Body that shrinks to its minimum size before it scrolls: a scroll area would otherwise treat the
/// preferred height of wrapped text and pictures as required.
class Body : public QWidget {
 public:
  using QWidget::QWidget;
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }
};

/// Segments fold before a note is shorter than this.
void keep_first_words(ElidedLabel& note) {
  constexpr int kLeast = 60;  // pixels at the default font size
  const int least = static_cast<int>(kLeast * text_scale_of(note.font()));
  note.setMinimumWidth(std::min(note.sizeHint().width(), least));
}

}  // namespace

DockPanel::DockPanel(const QString& title, QWidget* parent) : QFrame(parent), title_(title) {
  setObjectName("panel");
  setAccessibleName(title);

  header_ = new QFrame;
  header_->setObjectName("panel");
  header_row_ = new QHBoxLayout(header_);
  header_row_->setContentsMargins(14, 8, 4, 4);
  header_row_->setSpacing(4);
  name_ = new ElidedLabel(Qt::ElideRight);
  name_->setObjectName("panel_title");
  name_->set_text(title);
  name_->set_whole_or_nothing(true);
  // The title has what buttons and note leave, the note what the title leaves.
  name_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  set_named_by_tab(true);
  header_row_->addWidget(name_, 1);
  note_ = new ElidedLabel(Qt::ElideRight);
  note_->setObjectName("panel_note");
  note_->setProperty("role", "muted");
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  note_->hide();
  header_row_->addWidget(note_, 1);

  stack_ = new QStackedLayout(this);
  auto* content = new QWidget;
  auto* fitted = new QVBoxLayout(content);
  fitted->setContentsMargins(0, 0, 0, 0);
  auto* body = new Body;
  fitted->addWidget(body);
  body_ = new QVBoxLayout(body);
  body_->setContentsMargins(14, 2, 14, 12);
  body_->setSpacing(8);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(content);
  content->setAutoFillBackground(false);
  stack_->addWidget(scroll);
  instead_ = new QLabel;
  instead_->setWordWrap(true);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setMargin(22);
  instead_->setProperty("role", "muted");
  instead_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  connect(instead_, &QLabel::linkActivated, this, [this](const QString& link) {
    if (link == "resume") resume();
    emit link_chosen();
  });
  stack_->addWidget(instead_);
}

void DockPanel::set_short_title(const QString& title) { name_->set_short_text(title); }

void DockPanel::set_named_by_tab(bool named) {
  named_by_tab_ = named;
  name_->set_whole_or_nothing(named);
  // A title that nothing else shows keeps its first word or two.
  constexpr int kLeastTitle = 90;  // pixels at the default font size
  const int least = static_cast<int>(kLeastTitle * text_scale_of(font()));
  name_->setMinimumWidth(named ? 1 : std::min(name_->sizeHint().width(), least));
}

QSize DockPanel::sizeHint() const {
  const QSize hint = QFrame::sizeHint();
  return {std::max(hint.width(), preferred_width_), hint.height()};
}

QSize DockPanel::minimumSizeHint() const {
  const int needed = std::min(body_->parentWidget()->minimumSizeHint().width(), kWidestMinimum);
  return {needed, QFrame::minimumSizeHint().height()};
}

QToolButton* DockPanel::add_action(const QString& icon, const QString& name) {
  auto* button = new QToolButton;
  button->setProperty("flat", true);
  button->setProperty("icon_name", icon);
  button->setToolTip(name);
  button->setAccessibleName(name);
  add_to_header(button);
  set_icons();
  return button;
}

void DockPanel::add_enlarge_action() {
  QToolButton* const button = add_action("enlarge", tr("The whole window, and back (M)"));
  button->setObjectName("enlarge");
  connect(button, &QToolButton::clicked, this, [this] { emit enlarge_wanted(false); });
}

void DockPanel::become_page() {
  name_->hide();
  header_row_->setContentsMargins(0, 0, 0, 0);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->insertWidget(0, header_);
  const QList<QWidget*> inside = header_->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
  header_->setVisible(std::ranges::any_of(
      inside, [this](const QWidget* widget) { return widget != note_ && widget != name_; }));
}

ControlValues DockPanel::settings() const {
  // The dock also contains the title row.
  const auto* const dock = qobject_cast<const QDockWidget*>(parentWidget());
  return control_values(dock ? *dock : static_cast<const QWidget&>(*this));
}

void DockPanel::restore_settings(const ControlValues& settings) {
  auto* const dock = qobject_cast<QDockWidget*>(parentWidget());
  set_control_values(dock ? *dock : static_cast<QWidget&>(*this), settings);
}

bool DockPanel::show_page(const std::string&) { return false; }

bool DockPanel::open_document(const std::filesystem::path&) { return false; }

void DockPanel::add_to_header(QWidget* widget) { header_row_->addWidget(widget); }

void DockPanel::set_note(const QString& note) {
  note_->set_text(note);
  keep_first_words(*note_);
  note_->setVisible(!note.isEmpty());
}

void DockPanel::note_matrix(const MatrixChoice& matrix) {
  set_note(matrix.is_plain_map() ? QString()
                                 : tr("of %1").arg(QString::fromStdString(short_words(matrix))));
}

bool DockPanel::is_seen() const {
  const QWidget* dock = this;
  while (dock && !qobject_cast<const QDockWidget*>(dock)) dock = dock->parentWidget();
  return isVisible() && !(dock && dock->visibleRegion().isEmpty());
}

void DockPanel::show_instead(const QString& text, bool is_error) {
  instead_->setText(text);
  instead_->setFocusPolicy(text.contains("<a ") ? Qt::StrongFocus : Qt::NoFocus);
  set_role(instead_, is_error ? "error" : "muted");
  stack_->setCurrentIndex(text.isEmpty() ? 0 : 1);
}

void DockPanel::show_stopped() { show_instead(tr("Cancelled. <a href='resume'>Resume</a>")); }

void DockPanel::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) set_icons();
  if (event->type() == QEvent::FontChange) {
    set_named_by_tab(named_by_tab_);
    keep_first_words(*note_);
  }
}

void DockPanel::set_icons() {
  constexpr int kIcon = 16;  // pixels at the default font size
  const int size = qRound(kIcon * text_scale_of(font()));
  for (QToolButton* button : header_->findChildren<QToolButton*>()) {
    const QString name = button->property("icon_name").toString();
    if (name.isEmpty()) continue;
    button->setIcon(tinted_icon(name, colours_of(*this).muted));
    button->setIconSize(QSize(size, size));
  }
}

QDockWidget* empty_dock(QMainWindow& window, const QString& title, const QString& object_name) {
  // The dock is a child of the window from the start: a new parent would polish it again with all
  // its children.
  auto* dock = new QDockWidget(title, &window);
  dock->setObjectName(object_name);
  dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable |
                    QDockWidget::DockWidgetFloatable);
  return dock;
}

void fill_dock(QDockWidget& dock, DockPanel& panel) {
  dock.setTitleBarWidget(panel.header());
  dock.setWidget(&panel);
  panel.header()->setToolTip(
      QObject::tr("Double-click: maximise or restore (M). Drag: move or undock"));
  QObject::connect(panel.add_action("close", QObject::tr("Close %1").arg(panel.title())),
                   &QToolButton::clicked, &dock, &QDockWidget::close);
}

}  // namespace attnscope
