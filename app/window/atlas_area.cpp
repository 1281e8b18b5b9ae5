#include "app/window/atlas_area.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QOpenGLWidget>
#include <QPushButton>
#include <QStackedLayout>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/graphics.h"
#include "app/panels/models/subject_card.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/subject_badge.h"

namespace attnscope {

namespace {

constexpr int kMostColumns = 3;
constexpr int kLeastHead = 100;  // pixels of the mean rank that are seen in any window

QWidget* empty_area(QPushButton*& open, QPushButton*& samples) {
  auto* area = new QWidget;
  auto* box = new QFrame;
  box->setObjectName("drop_area");
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(44, 36, 44, 36);
  column->setSpacing(10);
  auto* title = new QLabel(QObject::tr("Drop a weight file here"));
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() + 6);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  title->setAlignment(Qt::AlignCenter);
  auto* text = new QLabel(QObject::tr(
      "A vision transformer or a language model as .safetensors, .pt, .pth, .bin, .h5 or .npz, or "
      "a trace of attention maps. Its maps appear here, their ranks on the right."));
  text->setAlignment(Qt::AlignCenter);
  text->setWordWrap(true);
  text->setMinimumWidth(240);
  text->setProperty("role", "muted");
  open = new QPushButton(QObject::tr("Open model or trace…"));
  open->setProperty("primary", true);
  samples = new QPushButton(QObject::tr("Open the two sample models"));
  column->addWidget(title);
  column->addWidget(text);
  column->addSpacing(8);
  column->addWidget(open, 0, Qt::AlignCenter);
  column->addWidget(samples, 0, Qt::AlignCenter);
  auto* middle = new QGridLayout(area);
  middle->addWidget(box, 1, 1);
  middle->setRowStretch(0, 1);
  middle->setRowStretch(2, 1);
  middle->setColumnStretch(0, 1);
  middle->setColumnStretch(2, 1);
  return area;
}

/// " of 197", the largest rank there could be; empty where the maps differ in size.
QString of_full_rank(const Trace& trace) {
  std::int64_t full = 0;
  for (const LayerTrace& layer : trace.layers) {
    const Shape& shape = layer.implied_map.shape();
    if (shape.size() < 2) continue;
    const std::int64_t here = std::min(shape[shape.size() - 2], shape.back());
    if (full != 0 && here != full) return {};
    full = here;
  }
  return full == 0 ? QString() : AtlasCell::tr(" of %1").arg(full);
}

}  // namespace

AtlasCell::AtlasCell(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
                     const QString& no_graphics, QWidget* parent)
    : QFrame(parent),
      session_(session),
      spectra_(spectra),
      subject_(subject),
      no_graphics_(no_graphics) {
  setObjectName("atlas_cell");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);

  auto* head = new QFrame;
  head->setObjectName("atlas_head");
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(10, 7, 12, 7);
  row->setSpacing(8);
  badge_ = new SubjectBadge(session.place_of(subject));
  name_ = new ElidedLabel;
  name_->setProperty("role", "heading");
  ranks_ = new QLabel;
  ranks_->setTextFormat(Qt::RichText);
  ranks_->setProperty("role", "muted");
  ranks_->setMinimumWidth(kLeastHead);
  row->addWidget(badge_);
  row->addWidget(name_, 1);
  row->addWidget(ranks_);
  row->addStretch(0);
  column->addWidget(head);

  auto* content = new QWidget;
  stack_ = new QStackedLayout(content);
  if (no_graphics.isEmpty()) {
    canvas_ = new AtlasCanvas(session, link, subject);
    stack_->addWidget(canvas_);
  } else {
    stack_->addWidget(new QWidget);
  }
  auto* message = new QWidget;
  auto* message_column = new QVBoxLayout(message);
  message_column->setContentsMargins(28, 20, 28, 20);
  instead_ = new QLabel;
  instead_->setWordWrap(true);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  retry_ = new QPushButton(tr("Try again"));
  message_column->addStretch(1);
  message_column->addWidget(instead_);
  message_column->addWidget(retry_, 0, Qt::AlignCenter);
  message_column->addStretch(1);
  stack_->addWidget(message);
  column->addWidget(content, 1);

  connect(retry_, &QPushButton::clicked, this, [this] { session_.reload(subject_); });
  refresh();
}

bool AtlasCell::settled() const {
  return !canvas_ || stack_->currentIndex() != 0 || canvas_->settled();
}

QString AtlasCell::rank_text() const {
  const std::shared_ptr<const SubjectSpectra> spectra = spectra_.of(subject_);
  if (!spectra || spectra->without.empty()) return {};
  const double threshold = session_.view().rank_threshold;
  const double without = mean_equivalent_rank(spectra->without, threshold);
  const double with = mean_equivalent_rank(spectra->with, threshold);
  if (std::isnan(without)) return tr("⚠ no rank: see the table");
  const QString text = tr("mean rank <b>%1</b>%2")
                           .arg(without, 0, 'f', 1)
                           .arg(of_full_rank(*session_.trace(subject_)));
  // There is no I to add to maps that are not square.
  return std::isnan(with) || spectra->with.size() != spectra->without.size()
             ? text
             : text + tr(", with I <b>%1</b>").arg(with, 0, 'f', 1);
}

QString AtlasCell::instead_of_maps(const OpenSubject& open) const {
  if (open.state == OpenSubject::State::failed) return "⚠ " + QString::fromStdString(open.error);
  if (open.subject.trace) return no_graphics_;
  switch (open.state) {
    case OpenSubject::State::loading:
      return tr("Opening the file…");
    case OpenSubject::State::running:
      return tr("Running the model…");
    default:
      return session_.input_error().empty()
                 ? tr("Waiting for an input: choose a sample on the left, or drop an image.")
                 : tr("The input could not be opened: choose another on the left.");
  }
}

void AtlasCell::refresh() {
  const OpenSubject* const found = session_.find(subject_);
  if (!found) return;
  const OpenSubject& open = *found;
  badge_->set_subject(session_.place_of(subject_));
  const QString label = QString::fromStdString(open.subject.label);
  const QString facts = subject_facts(open.subject);
  name_->set_text(label);
  name_->setToolTip(facts.isEmpty() ? label : label + "\n" + facts);
  ranks_->setText(rank_text());
  ranks_->setToolTip(tr("Mean over all maps of the fewest singular values that hold %1 % of their "
                        "sum, without and with I")
                         .arg(100 * session_.view().rank_threshold));

  const bool failed = open.state == OpenSubject::State::failed;
  const QString instead = instead_of_maps(open);
  const char* role = failed ? "error" : "muted";
  retry_->setVisible(failed);
  instead_->setText(instead);
  if (instead_->property("role") != role) {
    instead_->setProperty("role", role);
    instead_->style()->unpolish(instead_);
    instead_->style()->polish(instead_);
  }
  stack_->setCurrentIndex(instead.isEmpty() ? 0 : 1);
  // The atlas says its name itself.
  badge_->setVisible(!instead.isEmpty());
  name_->setVisible(!instead.isEmpty());

  const bool selected = session_.selection().subject == subject_ && session_.subjects().size() > 1;
  if (property("selected").toBool() != selected) {
    setProperty("selected", selected);
    style()->unpolish(this);
    style()->polish(this);
  }
}

void AtlasCell::mousePressEvent(QMouseEvent* event) {
  QFrame::mousePressEvent(event);
  const Selection& selection = session_.selection();
  session_.select_map(subject_, selection.layer, selection.head);
}

AtlasArea::AtlasArea(Session& session, SpectrumStore& spectra, AtlasLink& link, QWidget* parent)
    : QWidget(parent),
      session_(session),
      spectra_(spectra),
      link_(link),
      no_graphics_(why_no_graphics()) {
  if (no_graphics_.isEmpty()) {
    // A window that meets its first OpenGL widget after it is shown is torn down and made anew: it
    // would flash and lose the keys. This one is there from the start, behind everything.
    auto* first = new QOpenGLWidget(this);
    first->resize(1, 1);
    first->lower();
  }
  stack_ = new QStackedLayout(this);
  QPushButton* open = nullptr;
  QPushButton* samples = nullptr;
  stack_->addWidget(empty_area(open, samples));
  auto* atlases = new QWidget;
  grid_ = new QGridLayout(atlases);
  grid_->setContentsMargins(0, 6, 0, 6);
  grid_->setSpacing(6);
  stack_->addWidget(atlases);
  connect(open, &QPushButton::clicked, this, &AtlasArea::open_wanted);
  connect(samples, &QPushButton::clicked, this, &AtlasArea::samples_wanted);
  connect(&session_, &Session::subjects_changed, this, &AtlasArea::refresh);
  connect(&session_, &Session::input_changed, this, &AtlasArea::refresh_heads);
  connect(&session_, &Session::view_changed, this, &AtlasArea::refresh_heads);
  connect(&session_, &Session::selection_changed, this, &AtlasArea::refresh_heads);
  connect(&spectra_, &SpectrumStore::spectra_ready, this, &AtlasArea::refresh_heads);
  refresh();
}

bool AtlasArea::settled() const {
  return std::ranges::all_of(cells_, [](const AtlasCell* cell) { return cell->settled(); });
}

AtlasCanvas* AtlasArea::canvas(SubjectId subject) {
  const auto found = std::ranges::find(cells_, subject, &AtlasCell::subject);
  return found == cells_.end() ? nullptr : (*found)->canvas();
}

void AtlasArea::refresh() {
  std::vector<AtlasCell*> next;
  for (const OpenSubject& open : session_.subjects()) {
    const auto known = std::ranges::find(cells_, open.id, &AtlasCell::subject);
    next.push_back(known != cells_.end()
                       ? *known
                       : new AtlasCell(session_, spectra_, link_, open.id, no_graphics_));
  }
  if (next != cells_) {
    for (AtlasCell* cell : cells_) {
      grid_->removeWidget(cell);
      if (std::ranges::find(next, cell) == next.end()) {
        cell->hide();
        cell->deleteLater();
      }
    }
    cells_ = next;
    const int count = static_cast<int>(cells_.size());
    const int columns = count <= kMostColumns ? std::max(count, 1) : (count + 1) / 2;
    for (int i = 0; i < grid_->columnCount(); ++i) grid_->setColumnStretch(i, 0);
    for (int i = 0; i < grid_->rowCount(); ++i) grid_->setRowStretch(i, 0);
    for (int i = 0; i < count; ++i) {
      grid_->addWidget(cells_[static_cast<std::size_t>(i)], i / columns, i % columns);
      grid_->setColumnStretch(i % columns, 1);
      grid_->setRowStretch(i / columns, 1);
    }
  }
  stack_->setCurrentIndex(cells_.empty() ? 0 : 1);
  refresh_heads();
}

void AtlasArea::refresh_heads() {
  for (AtlasCell* cell : cells_) cell->refresh();
}

}  // namespace attnscope
