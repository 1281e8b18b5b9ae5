#include "app/window/gallery_window.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/browse_button.h"

namespace attnscope {

namespace {

constexpr int kRedrawDelayMs = 300;
constexpr int kColumns = 3;
constexpr int kPictureWidth = 290, kPictureHeight = 210;  // three fit at 1024

}  // namespace

GalleryWindow::GalleryWindow(Session& session, QWidget* parent)
    : QDialog(parent), session_(session) {
  setWindowTitle(tr("Gallery: the papers' figures"));
  setObjectName("gallery_window");
  resize(1100, 720);
  summary_ = new QLabel;
  summary_->setObjectName("gallery_summary");
  data_set_ = new QLineEdit(QSettings().value("labelled_data_set").toString());
  data_set_->setObjectName("gallery_data_set");
  data_set_->setAccessibleName(tr("Labelled data set"));
  data_set_->setPlaceholderText(tr("IDX images, HDF5, NPZ, or a folder of class folders"));
  auto* browse = new BrowseButton(tr("a labelled data set"), {}, data_set_);
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(summary_, 1);
  top->addWidget(new QLabel(tr("Labelled data set")));
  top->addWidget(data_set_, 1);
  top->addWidget(browse);

  auto* grid_widget = new QWidget;
  auto* grid = new QGridLayout(grid_widget);
  grid->setContentsMargins(0, 0, 8, 0);
  grid->setSpacing(12);
  int place = 0;
  for (const GalleryEntry& entry : gallery()) {
    grid->addWidget(make_card(entry), place / kColumns, place % kColumns);
    ++place;
  }
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setWidget(grid_widget);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 14, 16, 14);
  column->setSpacing(12);
  column->addLayout(top);
  column->addWidget(scroll, 1);

  delay_.setSingleShot(true);
  delay_.setInterval(kRedrawDelayMs);
  connect(&delay_, &QTimer::timeout, this, &GalleryWindow::draw_all);
  connect(&session_, &Session::subjects_changed, this, &GalleryWindow::want);
  connect(data_set_, &QLineEdit::editingFinished, this, &GalleryWindow::want);
  connect(browse, &BrowseButton::chosen, this, &GalleryWindow::want);
}

QWidget* GalleryWindow::make_card(const GalleryEntry& entry) {
  auto* card = new QFrame;
  card->setObjectName("card");
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 10, 12, 10);
  column->setSpacing(6);
  auto* place = new QLabel(QString::fromUtf8(entry.place));
  place->setProperty("role", "heading");
  auto* title = new QLabel(QString::fromUtf8(entry.title));
  title->setWordWrap(true);
  title->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  title->setFixedHeight(2 * title->fontMetrics().lineSpacing() + 2);
  title->setToolTip(QString::fromUtf8(entry.paper));
  auto* picture = new QLabel;
  picture->setFixedHeight(kPictureHeight);
  picture->setMinimumWidth(kPictureWidth);
  picture->setAlignment(Qt::AlignCenter);
  picture->setAccessibleName(QString::fromUtf8(entry.place));
  auto* state = new QLabel;
  state->setProperty("role", "muted");
  state->setWordWrap(true);
  auto* exporting = new QPushButton(tr("Export…"));
  exporting->setAccessibleName(tr("Export %1").arg(QString::fromUtf8(entry.place)));
  exporting->setObjectName("gallery_export_" + QString::fromUtf8(file_name_of(entry)));
  exporting->setAutoDefault(false);
  state->setObjectName("gallery_state_" + QString::fromUtf8(file_name_of(entry)));
  auto* row = new QHBoxLayout;
  row->addWidget(state, 1);
  row->addWidget(exporting);
  column->addWidget(place);
  column->addWidget(title);
  column->addWidget(picture, 1);
  column->addLayout(row);
  const std::size_t index = cards_.size();
  cards_.push_back({&entry, picture, state, exporting, {}, {}, 0});
  connect(exporting, &QPushButton::clicked, this, [this, index] {
    const Card& chosen = cards_[index];
    emit export_wanted(chosen.entry->recipe, chosen.item.request.settings, chosen.subjects);
  });
  return card;
}

void GalleryWindow::showEvent(QShowEvent* event) {
  QDialog::showEvent(event);
  want();
}

void GalleryWindow::hideEvent(QHideEvent* event) {
  QDialog::hideEvent(event);
  ++wanted_;
  for (const Card& card : cards_) session_.jobs().cancel(card.job);
}

void GalleryWindow::want() {
  if (isVisible()) delay_.start();
}

void GalleryWindow::show_missing(Card& card, const QString& why) {
  card.picture->setPixmap(QPixmap());
  card.picture->setText("–");
  card.state->setText(why);
  card.exporting->setEnabled(false);
}

void GalleryWindow::draw_all() {
  ++wanted_;
  const FigureRequest open = request_of(session_);
  const QString data_set = data_set_->text().trimmed();
  if (!data_set.isEmpty()) QSettings().setValue("labelled_data_set", data_set);
  std::vector<GalleryItem> items = gallery_items(open, data_set.toStdString());
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Card& card = cards_[i];
    session_.jobs().cancel(card.job);
    card.item = std::move(items[i]);
    card.subjects.clear();
    for (const Subject& subject : card.item.request.subjects) {
      const auto same = [&](const Subject& other) { return other.trace == subject.trace; };
      const auto at = std::find_if(open.subjects.begin(), open.subjects.end(), same);
      card.subjects.push_back(static_cast<std::size_t>(at - open.subjects.begin()));
    }
    if (!card.item.missing.empty()) {
      QString missing = QString::fromUtf8(card.item.missing);
      missing[0] = missing[0].toUpper();
      show_missing(card, missing);
      continue;
    }
    ++drawn;
    draw(i);
  }
  summary_->setText(
      tr("%1 of %2 figures can be drawn from what is open.").arg(drawn).arg(cards_.size()));
}

void GalleryWindow::draw(std::size_t index) {
  Card& card = cards_[index];
  card.picture->setText(tr("drawing…"));
  card.exporting->setEnabled(true);
  card.state->setText(
      QString::fromUtf8(card.entry->note.empty() ? card.entry->recipe : card.entry->note));
  const std::int64_t wanted = wanted_;
  card.job = session_.jobs().submit(
      tr("Drawing %1").arg(QString::fromUtf8(card.entry->place)),
      [this, index, wanted, recipe = card.entry->recipe,
       request = card.item.request](const Progress& progress) -> JobQueue::Delivery {
        auto figure = std::make_shared<const Figure>(make_figure(recipe, request, progress));
        return [this, index, wanted, figure] {
          if (wanted != wanted_) return;
          QLabel& picture = *cards_[index].picture;
          const double inches_wide = figure->width_mm / 25.4,
                       inches_high = figure->height_mm / 25.4;
          const double ratio = devicePixelRatioF();
          const double dpi =
              std::min(kPictureWidth / inches_wide, kPictureHeight / inches_high) * ratio;
          QImage image = figure_as_image(*figure, dpi);
          image.setDevicePixelRatio(ratio);
          picture.setPixmap(QPixmap::fromImage(image));
          picture.setToolTip("<p>" + QString::fromStdString(figure->caption).toHtmlEscaped() +
                             "</p>");
        };
      },
      [this, index, wanted](const JobFailure& failure) {
        if (wanted != wanted_ || failure.cancelled) return;
        show_missing(cards_[index], QString::fromStdString(failure.what));
      },
      this);
}

}  // namespace attnscope
