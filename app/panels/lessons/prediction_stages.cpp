#include "app/panels/lessons/prediction_stages.h"

#include <QBuffer>
#include <QDockWidget>
#include <QMainWindow>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "analysis/spectrum/rank.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/lesson.h"
#include "app/panels/lessons/predictions/lesson_answers.h"
#include "app/panels/lessons/predictions/prediction_cards.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

// Readings of the window itself at the view's threshold: the selected map's equivalent rank, the
// mean over all maps of each open model, and the model that is first, second, … by that mean.
constexpr std::string_view kRankReading = "rank", kRankWithIdentity = "rank-with-identity",
                           kMeanRanks = "mean-ranks";
constexpr std::array<std::string_view, 4> kRanked = {"ranked-1", "ranked-2", "ranked-3",
                                                     "ranked-4"};
constexpr int kMostPictureWidth = 640;  // pixels: a sheet of ten steps can be sent by mail

std::string png_of(QWidget& widget) {
  QImage image = widget.grab().toImage();
  if (image.isNull()) return {};
  if (image.width() > kMostPictureWidth) {
    image = image.scaledToWidth(kMostPictureWidth, Qt::SmoothTransformation);
  }
  QByteArray bytes;
  QBuffer buffer(&bytes);
  return image.save(&buffer, "PNG") ? bytes.toStdString() : std::string();
}

}  // namespace

PredictionStages::PredictionStages(Session& session, const SpectrumStore& spectra,
                                   LessonAnswers& answers, QVBoxLayout& column, QWidget* page)
    : QObject(page),
      session_(session),
      spectra_(spectra),
      answers_(answers),
      page_(page),
      whole_(&column),
      column_(&column) {}

QWidget* PredictionStages::begin_part(bool shown) {
  auto* part = new QWidget;
  column_ = new QVBoxLayout(part);
  column_->setContentsMargins(0, 0, 0, 0);
  column_->setSpacing(whole_->spacing());
  whole_->addWidget(part);
  part->setVisible(shown);
  return part;
}

void PredictionStages::add_prediction(const LessonBlock& block, QWidget* question) {
  PredictionAnswer& answer = answers_.predictions[stages_.size()];
  stages_.push_back({block.line, block.fields, {}, {}, {}});
  auto* card =
      new PredictionCard(static_cast<int>(stages_.size()), question, stages_.back().fields, answer);
  column_->addWidget(card);
  QWidget* const part = begin_part(answer.kept);
  connect(card, &PredictionCard::kept, part, [this, part] {
    part->show();
    emit shown(part);
  });
}

void PredictionStages::add_seen(const LessonBlock& block, QWidget* why) {
  std::unique_ptr<QWidget> owned(why);  // until the card owns it
  const std::size_t index = stages_.size() - 1;
  Stage& stage = stages_.back();
  std::vector<std::string_view> known = {kRankReading, kRankWithIdentity, kMeanRanks};
  known.insert(known.end(), kRanked.begin(), kRanked.end());
  for (const std::string& name : stage.names) {
    const auto entry = std::ranges::find(experiments(), name, &ExperimentEntry::name);
    known.insert(known.end(), entry->readings.begin(), entry->readings.end());
  }
  for (const PredictionField& field : stage.fields) {
    const std::string reading = field.reading();
    if (reading.empty() || std::ranges::find(known, reading) != known.end()) continue;
    throw unknown_name("reading", reading, name_list(known))
        .about("line " + std::to_string(stage.line));
  }
  stage.pictures = block.pictures;
  const PredictionAnswer& answer = answers_.predictions[index];
  stage.card = new SeenCard(static_cast<int>(index) + 1, stage.fields, answer, owned.release());
  column_->addWidget(stage.card);
  QWidget* const part = begin_part(answer.compared);
  connect(stage.card, &SeenCard::compare_wanted, part, [this, part, index] {
    const bool first = !part->isVisibleTo(page_);
    compare(index);
    part->show();
    if (first) emit shown(stages_[index].card);
  });
}

void PredictionStages::add_experiment(const std::string& name, QWidget* experiment) {
  // Experiments after a comparison belong to no prediction.
  if (stages_.empty() || stages_.back().card != nullptr) return;
  stages_.back().experiments.push_back(experiment);
  stages_.back().names.push_back(name);
}

void PredictionStages::compare(std::size_t index) {
  const Stage& stage = stages_[index];
  PredictionAnswer& answer = answers_.predictions[index];
  for (std::size_t i = 0; i < stage.fields.size(); ++i) {
    const std::string reading = stage.fields[i].reading();
    answer.seen[i] = reading.empty() ? stage.fields[i].seen : value_of(stage, reading);
  }
  answer.where = where();
  QStringList numbers;
  for (const QWidget* experiment : stage.experiments) {
    if (const QString shown = shown_numbers(*experiment); !shown.isEmpty()) numbers << shown;
  }
  answer.numbers = numbers.join('\n').toStdString();
  answer.pictures = pictures_of(stage);
  answer.compared = true;
  stage.card->refresh();
}

std::string PredictionStages::value_of(const Stage& stage, const std::string& reading) const {
  if (reading == kRankReading) return selected_rank(false);
  if (reading == kRankWithIdentity) return selected_rank(true);
  if (reading == kMeanRanks) return mean_ranks();
  const auto* const ranked = std::ranges::find(kRanked, reading);
  if (ranked != kRanked.end()) return ranked_model(ranked - kRanked.begin());
  for (const QWidget* experiment : stage.experiments) {
    const QString value = reading_of(*experiment, QString::fromStdString(reading));
    if (!value.isEmpty()) return value.toStdString();
  }
  return {};
}

std::string PredictionStages::selected_rank(bool with_identity) const {
  const Selection& at = session_.selection();
  const auto spectra = spectra_.of(at.subject);
  if (!spectra) return {};
  const MapSpectrum* const map =
      find_spectrum(with_identity ? spectra->with : spectra->without, at.layer, at.head);
  if (!map || map->state != SpectrumState::ready) return {};
  return tr("%1 of %2")
      .arg(equivalent_rank(*map, session_.view().rank_threshold))
      .arg(map->tokens)
      .toStdString();
}

std::string PredictionStages::mean_ranks() const {
  QStringList ranks;
  for (const OpenSubject& open : session_.subjects()) {
    const auto spectra = spectra_.latest(open.id);
    if (!spectra) continue;
    const QString mean = mean_rank_text(spectra->without, session_.view().rank_threshold);
    if (!mean.isEmpty()) ranks << QString::fromStdString(open.subject.label) + " " + mean;
  }
  return ranks.join(", ").toStdString();
}

std::string PredictionStages::ranked_model(std::ptrdiff_t place) const {
  std::vector<std::pair<double, std::string>> models;
  for (const OpenSubject& open : session_.subjects()) {
    const auto spectra = spectra_.latest(open.id);
    if (!spectra) continue;
    const RankThreshold& threshold = session_.view().rank_threshold;
    const double mean = mean_equivalent_rank(spectra->without, threshold);
    if (std::isnan(mean)) continue;
    const std::string text = mean_rank_text(spectra->without, threshold).toStdString();
    models.emplace_back(mean, open.subject.label + " (" + text + ")");
  }
  std::ranges::stable_sort(models, std::greater(), &std::pair<double, std::string>::first);
  return place < std::ssize(models) ? models[static_cast<std::size_t>(place)].second
                                    : std::string();
}

std::string PredictionStages::where() const {
  const Selection& at = session_.selection();
  const QString threshold =
      tr("threshold %1").arg(QString::fromStdString(to_string(session_.view().rank_threshold)));
  const OpenSubject* const open = session_.find(at.subject);
  if (!open) return threshold.toStdString();
  const QString input =
      QString::fromStdString(std::filesystem::path(session_.input_locator()).filename().string());
  return tr("%1, layer %2, head %3, input %4, %5")
      .arg(QString::fromStdString(open->subject.label))
      .arg(at.layer + session_.view().first_layer)
      .arg(at.head)
      .arg(input, threshold)
      .toStdString();
}

QMainWindow* PredictionStages::main_window() const {
  for (QWidget* one = page_; one != nullptr; one = one->parentWidget()) {
    if (auto* const window = qobject_cast<QMainWindow*>(one)) return window;
  }
  return nullptr;
}

std::vector<std::string> PredictionStages::pictures_of(const Stage& stage) const {
  std::vector<std::string> pictures;
  const auto add = [&pictures](QWidget* widget) {
    if (widget == nullptr || !widget->isVisible()) return;
    if (std::string bytes = png_of(*widget); !bytes.empty()) pictures.push_back(std::move(bytes));
  };
  const QMainWindow* const window = main_window();
  for (const std::string& part : stage.pictures) {
    if (part == "experiment") {
      for (QWidget* experiment : stage.experiments) add(experiment);
    } else if (window != nullptr && part == "maps") {
      add(window->centralWidget());
    } else if (window != nullptr) {
      add(window->findChild<QDockWidget*>(QString::fromStdString(part.substr(5))));
    }
  }
  return pictures;
}

}  // namespace attnscope
