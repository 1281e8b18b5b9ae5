#include "app/panels/training/variant_rows.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QToolButton>
#include <algorithm>
#include <initializer_list>

#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/progress_line.h"
#include "app/widgets/subject_badge.h"

namespace attnscope {

namespace {

/// `examples`: number of examples of one step.
QString moment_in_words(const TrainingMoment& moment, const TrainingLog& log,
                        std::int64_t examples) {
  switch (moment.state) {
    case TrainingState::opening:
      return QObject::tr("reading data, testing…");
    case TrainingState::failed:
      return "⚠ " + QString::fromStdString(moment.error);
    default:
      break;
  }
  QString words = QObject::tr("step %1 of %2").arg(moment.step).arg(moment.steps);
  const bool learns = moment.state == TrainingState::running && moment.examples_per_second > 0;
  if (learns && moment.step < moment.steps) {
    const auto left = static_cast<double>((moment.steps - moment.step) * examples);
    words += " · " + remaining_time(left / moment.examples_per_second);
  }
  if (const auto accuracy = log.last("tests/accuracy")) {
    words += QObject::tr(" · accuracy %1 %").arg(100 * *accuracy, 0, 'f', 1);
  } else if (const auto loss = log.last("steps/loss")) {
    words += QObject::tr(" · loss %1 nats").arg(*loss, 0, 'f', 2);
  }
  if (learns) words += QObject::tr(" · %1 examples/s").arg(moment.examples_per_second, 0, 'f', 0);
  return words;
}

}  // namespace

VariantRows::VariantRows(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(6);
  grid_->setVerticalSpacing(4);
  grid_->setColumnStretch(1, 1);
  more_ = new QToolButton;
  more_->setObjectName("training_more");
  more_->setText(tr("+ Add network"));
  more_->setToolTip(tr("Add a network (at most 4)"));
  connect(more_, &QToolButton::clicked, this, [this] {
    std::vector<PresetVariant> all = variants();
    all.push_back(all.back());
    set_variants(all);
    emit changed();
  });
  in_step_ = new QCheckBox(tr("Keep in step"));
  in_step_->setObjectName("training_in_step");
  in_step_->setToolTip(tr("Each network waits until the others have made as many steps"));
  connect(in_step_, &QCheckBox::toggled, this, &VariantRows::in_step_toggled);
  below_ = new QWidget;
  auto* const line = new QHBoxLayout(below_);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(more_);
  line->addStretch(1);
  line->addWidget(in_step_);
}

void VariantRows::set_variants(const std::vector<PresetVariant>& variants) {
  for (const Row& row : rows_) {
    for (QWidget* widget : std::initializer_list<QWidget*>{row.badge, row.mechanism, row.arithmetic,
                                                           row.remove, row.state}) {
      grid_->removeWidget(widget);
      widget->setParent(nullptr);  // otherwise sessions would also find the old controls
      widget->deleteLater();
    }
  }
  rows_.clear();
  std::vector<ParameterValues> recipes;
  for (const PresetVariant& variant : variants) recipes.push_back(variant.recipe);
  const std::vector<std::string> names = variant_names(recipes);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    add_row(variants[i], names[i].substr(variant_name(recipes[i]).size()));
  }
  place();
}

void VariantRows::add_row(const PresetVariant& variant, const std::string& width) {
  const auto place = static_cast<std::int64_t>(rows_.size());
  Row row{};
  row.recipe = variant.recipe;
  row.badge = new SubjectBadge(place);
  row.mechanism = new ElidedComboBox;
  row.mechanism->setObjectName(QString("training_mechanism_%1").arg(place + 1));
  row.mechanism->setAccessibleName(tr("Attention of network %1").arg(place + 1));
  static const std::vector<std::string> mechanisms = trainable_mechanisms();
  for (const std::string& mechanism : mechanisms) {
    row.mechanism->addItem(QString::fromStdString(variant_name({{"mechanism", mechanism}}) + width),
                           QString::fromStdString(mechanism));
  }
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = variant.recipe.find(key);
    return QString::fromStdString(found == variant.recipe.end() ? otherwise
                                                                : to_string(found->second));
  };
  row.mechanism->setCurrentIndex(
      std::max(row.mechanism->findData(text("mechanism", "softmax")), 0));
  row.arithmetic = new ElidedComboBox;
  row.arithmetic->setObjectName(QString("training_arithmetic_%1").arg(place + 1));
  row.arithmetic->setAccessibleName(tr("Linear layers of network %1").arg(place + 1));
  row.arithmetic->setToolTip(tr("Arithmetic of the linear layers"));
  row.arithmetic->addItem(tr("multiplying layers"), "multiplicative");
  row.arithmetic->addItem(tr("adder layers"), "adder");
  row.arithmetic->setCurrentIndex(
      std::max(row.arithmetic->findData(text("arithmetic", "multiplicative")), 0));
  row.remove = new QToolButton;
  row.remove->setText("×");
  row.remove->setProperty("flat", true);
  row.remove->setToolTip(tr("Remove this network"));
  row.remove->setAccessibleName(tr("Remove network %1").arg(place + 1));
  row.state = new ElidedLabel(Qt::ElideRight);
  row.state->setObjectName(QString("training_state_%1").arg(place + 1));
  row.state->hide();
  for (QComboBox* box : {row.mechanism, row.arithmetic}) {
    connect(box, &QComboBox::activated, this, &VariantRows::changed);
  }
  connect(row.remove, &QToolButton::clicked, this, [this, place] {
    std::vector<PresetVariant> all = variants();
    all.erase(all.begin() + place);
    set_variants(all);
    emit changed();
  });
  rows_.push_back(row);
}

void VariantRows::place() {
  grid_->removeWidget(below_);
  int at = 0;
  for (const Row& row : rows_) {
    grid_->addWidget(row.badge, at, 0);
    grid_->addWidget(row.mechanism, at, 1);
    grid_->addWidget(row.arithmetic, at, 2);
    grid_->addWidget(row.remove, at, 3);
    grid_->addWidget(row.state, at, 1, 1, 3);
    row.remove->setEnabled(rows_.size() > 1);
    ++at;
  }
  grid_->addWidget(below_, at, 1, 1, 3);
  more_->setVisible(rows_.size() < kMostVariants);
  in_step_->setVisible(rows_.size() > 1);
}

std::vector<PresetVariant> VariantRows::variants() const {
  std::vector<PresetVariant> all;
  for (const Row& row : rows_) {
    PresetVariant variant;
    variant.recipe = row.recipe;
    variant.recipe["mechanism"] = row.mechanism->currentData().toString().toStdString();
    variant.recipe["arithmetic"] = row.arithmetic->currentData().toString().toStdString();
    all.push_back(std::move(variant));
  }
  std::vector<ParameterValues> recipes;
  for (const PresetVariant& variant : all) recipes.push_back(variant.recipe);
  const std::vector<std::string> names = variant_names(recipes);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].name = names[i];
  return all;
}

void VariantRows::show_runs(const Session& session, const std::vector<TrainingSession::Run>& runs) {
  const bool learn = !runs.empty();
  if (learn && runs.size() != rows_.size()) {
    std::vector<PresetVariant> all;
    for (const TrainingSession::Run& run : runs) {
      all.push_back({run.name, run.training->recipe().values()});
    }
    set_variants(all);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    for (QWidget* widget :
         std::initializer_list<QWidget*>{row.mechanism, row.arithmetic, row.remove}) {
      widget->setVisible(!learn);
    }
    row.state->setVisible(learn);
    const std::int64_t subject = learn ? session.place_of(runs[i].subject) : -1;
    row.badge->set_subject(subject < 0 ? static_cast<std::int64_t>(i) : subject);
    if (!learn) continue;
    row.state->set_text(QString::fromStdString(runs[i].name) + ": " +
                        moment_in_words(runs[i].moment, *runs[i].training->log(),
                                        runs[i].training->recipe().data().batch));
  }
  more_->setVisible(!learn && rows_.size() < kMostVariants);
}

}  // namespace attnscope
