#include "app/panels/energy/energy_controls.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/energy/architecture.h"
#include "analysis/energy/constants.h"
#include "app/look/theme.h"
#include "app/widgets/elided_combo_box.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {

namespace {

QComboBox* list_of(const char* name, const QString& what) {
  auto* list = new ElidedComboBox;
  list->setObjectName(name);
  list->setAccessibleName(what);
  list->setToolTip(what);
  // Keeps long names from widening the dock.
  return list;
}

/// Integers evenly spaced on a logarithmic scale, about `per_octave` per doubling.
std::vector<std::int64_t> logarithmic_stops(std::int64_t least, std::int64_t most, int per_octave) {
  std::vector<std::int64_t> stops;
  const double octaves = std::log2(static_cast<double>(most) / static_cast<double>(least));
  const auto steps = std::lround(octaves * per_octave);
  for (long step = 0; step <= steps; ++step) {
    const double exact = static_cast<double>(least) *
                         std::exp2(static_cast<double>(step) / static_cast<double>(per_octave));
    const std::int64_t stop = std::min<std::int64_t>(std::llround(exact), most);
    if (stops.empty() || stop > stops.back()) stops.push_back(stop);
  }
  return stops;
}

/// 0, then multiples of 64, which pyramids can halve three times.
std::vector<std::int64_t> token_stops() {
  std::vector<std::int64_t> stops{0};
  for (const std::int64_t blocks : logarithmic_stops(1, 1024, 4)) stops.push_back(64 * blocks);
  return stops;
}

std::vector<std::int64_t> every_whole(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> stops;
  for (std::int64_t stop = least; stop <= most; ++stop) stops.push_back(stop);
  return stops;
}

std::vector<std::int64_t> with_zero(std::vector<std::int64_t> stops) {
  stops.insert(stops.begin(), 0);
  return stops;
}

bool has(const std::string& mechanism, const std::string& parameter) {
  const auto described = find_counted_mechanism(mechanism).counted_parameters();
  return find_description(described, parameter) != nullptr;
}

}  // namespace

// ---- drop-down lists ----

EnergyChoosers::EnergyChoosers(QWidget* parent) : QWidget(parent) {
  network_ = list_of("energy_network", tr("Counted network"));
  network_->addItem(tr("Open models"), QString());
  for (const NamedNetwork& named : named_architectures()) {
    network_->addItem(QString::fromUtf8(named.title), QString::fromUtf8(named.name));
    network_->setItemData(network_->count() - 1, QString::fromUtf8(named.source), Qt::ToolTipRole);
  }

  mechanism_button_ = new QToolButton;
  mechanism_button_->setObjectName("energy_mechanisms");
  mechanism_button_->setAccessibleName(tr("Mechanisms"));
  mechanism_button_->setToolTip(tr("Mechanisms for which every network is counted"));
  mechanism_button_->setPopupMode(QToolButton::InstantPopup);
  mechanism_button_->setProperty("opens", "menu");
  mechanism_button_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  mechanism_menu_ = new QMenu(this);
  mechanism_menu_->installEventFilter(this);
  for (const MechanismEntry& mechanism : counted_mechanisms()) {
    QAction* const action = mechanism_menu_->addAction(QString::fromUtf8(mechanism.title));
    action->setObjectName("energy_mechanism_" + QString::fromUtf8(mechanism.name));
    action->setCheckable(true);
    action->setData(QString::fromUtf8(mechanism.name));
    action->setToolTip(QString::fromUtf8(mechanism.source));
    connect(action, &QAction::toggled, this, &EnergyChoosers::take_mechanisms);
  }
  mechanism_menu_->addSeparator();
  QAction* const own = mechanism_menu_->addAction(tr("Each model's own attention"));
  own->setObjectName("energy_own_mechanisms");
  connect(own, &QAction::triggered, this, [this] {
    for (QAction* action : mechanism_menu_->actions()) {
      if (action->isCheckable()) action->setChecked(false);
    }
  });
  mechanism_button_->setMenu(mechanism_menu_);

  convention_ = list_of("energy_convention", tr("Accounting"));
  convention_->addItem(tr("All operations"), "complete");
  convention_->addItem(tr("As Adder counts"), "adder");
  convention_->addItem(tr("As EcoFormer counts"), "ecoformer");
  constants_ = list_of("energy_constants", tr("Energy per operation"));
  for (const EnergyConstants& table : energy_tables()) {
    constants_->addItem(QString::fromStdString(table.name + ", 45 nm"),
                        QString::fromStdString(table.name));
    constants_->setItemData(constants_->count() - 1, QString::fromStdString(table.title),
                            Qt::ToolTipRole);
  }
  constants_->addItem(tr("Own table…"), QString());
  reference_ = list_of("energy_reference", tr("Absolute, or relative to a pinned network"));
  reference_->addItem(tr("Absolute"));

  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(6);
  grid->addWidget(network_, 0, 0, 1, 3);
  grid->addWidget(mechanism_button_, 0, 3, 1, 3);
  grid->addWidget(convention_, 1, 0, 1, 2);
  grid->addWidget(constants_, 1, 2, 1, 2);
  grid->addWidget(reference_, 1, 4, 1, 2);
  for (int column = 0; column < 6; ++column) grid->setColumnStretch(column, 1);

  connect(network_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(convention_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(reference_, &QComboBox::currentIndexChanged, this, &EnergyChoosers::changed);
  connect(constants_, &QComboBox::activated, this, &EnergyChoosers::choose_constants);
  take_mechanisms();
}

std::string EnergyChoosers::network() const {
  return network_->currentData().toString().toStdString();
}
std::string EnergyChoosers::convention() const {
  return convention_->currentData().toString().toStdString();
}
std::string EnergyChoosers::constants() const {
  return constants_->itemData(last_constants_).toString().toStdString();
}
int EnergyChoosers::reference() const { return reference_->currentIndex(); }

void EnergyChoosers::set_models_open(bool open) {
  network_->setItemText(0, open ? tr("Open models") : tr("Examples of the papers"));
}

void EnergyChoosers::set_references(const QStringList& labels) {
  QStringList items{tr("Absolute")};
  for (const QString& label : labels) items << tr("Relative to %1").arg(label);
  QStringList now;
  for (int i = 0; i < reference_->count(); ++i) now << reference_->itemText(i);
  if (items == now) return;
  const int before = reference_->currentIndex();
  const QString pinned = reference_->currentText();
  {
    const QSignalBlocker quiet(reference_);
    reference_->clear();
    reference_->addItems(items);
    reference_->setCurrentIndex(std::max(0, static_cast<int>(items.indexOf(pinned))));
  }
  if (reference_->currentIndex() != before) emit changed();
}

void EnergyChoosers::show_lists(bool mechanisms, bool accounting, bool references) {
  mechanism_button_->setEnabled(mechanisms);
  convention_->setEnabled(accounting);
  reference_->setEnabled(references);
}

void EnergyChoosers::choose_constants(int index) {
  if (!constants_->itemData(index).toString().isEmpty()) {
    last_constants_ = index;
    emit changed();
    return;
  }
  const QString file = QFileDialog::getOpenFileName(this, tr("Energy per operation"), QString(),
                                                    tr("Energy tables (*.json);;All files (*)"));
  try {
    if (!file.isEmpty()) {
      const EnergyConstants own = find_energy_constants(file.toStdString());
      const int at = constants_->count() - 1;
      constants_->insertItem(at, QString::fromStdString(own.name), file);
      constants_->setItemData(at, QString::fromStdString(own.title), Qt::ToolTipRole);
      last_constants_ = at;
    }
  } catch (const Error& error) {
    QMessageBox::warning(this, tr("The energy table cannot be used"),
                         QString::fromStdString(error.in_window()));
  }
  constants_->setCurrentIndex(last_constants_);
  emit changed();
}

void EnergyChoosers::take_mechanisms() {
  mechanisms_.clear();
  QStringList names;
  for (const QAction* action : mechanism_menu_->actions()) {
    if (!action->isChecked()) continue;
    mechanisms_.push_back(action->data().toString().toStdString());
    names << action->data().toString();
  }
  QString text = tr("Each model's own attention");
  if (names.size() == 1) text = names.front();
  if (names.size() > 1) text = tr("%1 mechanisms").arg(names.size());
  mechanism_button_->setText(text);
  mechanism_button_->setAccessibleDescription(names.join(", "));
  emit changed();
}

bool EnergyChoosers::eventFilter(QObject* watched, QEvent* event) {
  if (watched == mechanism_menu_ && event->type() == QEvent::MouseButtonRelease) {
    QAction* const action =
        mechanism_menu_->actionAt(static_cast<QMouseEvent*>(event)->position().toPoint());
    if (action != nullptr && action->isCheckable()) {
      action->trigger();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

// ---- sliders ----

ParameterSlider::ParameterSlider(const char* object_name, const QString& name, const QString& tip,
                                 std::vector<std::int64_t> values, std::int64_t start,
                                 const QString& zero_text, QWidget* parent)
    : QWidget(parent), values_(std::move(values)), zero_text_(zero_text) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  auto* title = new QLabel(name);
  title->setProperty("role", "muted");
  title->setMinimumWidth(62);
  slider_ = new QSlider(Qt::Horizontal);
  slider_->setObjectName(object_name);
  slider_->setAccessibleName(name);
  slider_->setToolTip(tip);
  slider_->setRange(0, static_cast<int>(values_.size()) - 1);
  slider_->setMinimumWidth(50);
  label_ = new QLabel;
  label_->setFont(number_font(font()));
  label_->setMinimumWidth(label_->fontMetrics().horizontalAdvance("65 536"));
  label_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row->addWidget(title);
  row->addWidget(slider_, 1);
  row->addWidget(label_);
  const auto nearest =
      std::min_element(values_.begin(), values_.end(), [start](std::int64_t a, std::int64_t b) {
        return std::abs(a - start) < std::abs(b - start);
      });
  start_ = *nearest;
  slider_->setValue(static_cast<int>(nearest - values_.begin()));
  show_value();
  connect(slider_, &QSlider::valueChanged, this, [this] {
    show_value();
    emit changed();
  });
}

std::int64_t ParameterSlider::value() const {
  return values_[static_cast<std::size_t>(slider_->value())];
}

void ParameterSlider::show_value() {
  const QString text =
      value() == 0 && !zero_text_.isEmpty() ? zero_text_ : QString::number(value());
  label_->setText(text);
  slider_->setAccessibleDescription(text);
}

EnergySliders::EnergySliders(QWidget* parent) : QWidget(parent) {
  grid_ = new QGridLayout(this);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(18);
  grid_->setVerticalSpacing(3);
  grid_->setColumnStretch(0, 1);
  grid_->setColumnStretch(1, 1);
  add("energy_tokens", tr("Tokens"), tr("N, tokens of every network"), {}, token_stops(), 0,
      tr("own"));
  add("energy_bits", tr("Bits"), tr("b, bits of a hash code"), {"bits"}, every_whole(1, 64), 16);
  add("energy_supports", tr("Supports"), tr("m, support samples of kernelised hashing"),
      {"supports"}, every_whole(1, 128), 25);
  add("energy_window", tr("Window"),
      tr("Tokens a windowed, causal additive layer pools, and extent of DAFT's window"),
      {"window", "kernel"}, with_zero(logarithmic_stops(3, 1024, 3)), 0, tr("own"));
  add("energy_landmarks", tr("Landmarks"), tr("k, rows Linformer projects keys and values to"),
      {"landmarks"}, with_zero(logarithmic_stops(8, 2048, 4)), 0, tr("own"));
  add("energy_features", tr("Features"),
      tr("F, random features of Performer, LSH and binary codes"), {"features"},
      logarithmic_stops(8, 2048, 4), 256);
}

void EnergySliders::add(const char* object_name, const QString& name, const QString& tip,
                        std::vector<std::string> parameters, std::vector<std::int64_t> stops,
                        std::int64_t start, const QString& zero_text) {
  auto* slider = new ParameterSlider(object_name, name, tip, std::move(stops), start, zero_text);
  connect(slider, &ParameterSlider::changed, this, &EnergySliders::changed);
  entries_.push_back({std::move(parameters), slider});
  slider->setParent(this);
  slider->hide();
}

std::int64_t EnergySliders::tokens() const { return entries_.front().slider->value(); }

std::vector<std::string> EnergySliders::parameters() const {
  std::vector<std::string> list;
  for (const Entry& entry : entries_) {
    if (entry.slider->is_default()) continue;
    for (const std::string& name : entry.parameters) {
      list.push_back(name + "=" + std::to_string(entry.slider->value()));
      // Only causal layers have a window.
      if (name == "window") list.emplace_back("causal=true");
    }
  }
  return list;
}

void EnergySliders::show_for(const std::vector<std::string>& mechanisms, bool with_tokens) {
  int shown = 0;
  for (const Entry& entry : entries_) {
    grid_->removeWidget(entry.slider);
    const bool matters =
        entry.parameters.empty()
            ? with_tokens
            : std::any_of(mechanisms.begin(), mechanisms.end(), [&](const std::string& mechanism) {
                return std::any_of(
                    entry.parameters.begin(), entry.parameters.end(),
                    [&](const std::string& parameter) { return has(mechanism, parameter); });
              });
    entry.slider->setVisible(matters);
    if (!matters) continue;
    grid_->addWidget(entry.slider, shown / 2, shown % 2);
    ++shown;
  }
}

}  // namespace attnscope
