#include "app/panels/describe/role_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTemporaryDir>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/describe/role_trees.h"
#include "app/session/job_queue.h"
#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/model/model.h"

namespace attnscope {

namespace {

constexpr int kCheckAfterMs = 120;

// Members that weights do not contain, asked for first.
constexpr std::array<std::string_view, 8> kMembers = {
    "heads",   "norm_position", "activation",          "norm",
    "readout", "positions",     "layer.scores.causal", "patch_order"};

QString words_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString member_title(std::string_view member) {
  const std::size_t dot = member.rfind('.');
  return words_of(dot == std::string_view::npos ? member : member.substr(dot + 1))
      .replace('_', ' ');
}

/// Writes the description; throws if `description` is one of the weight files.
void write_description(const std::filesystem::path& description, const std::string& text,
                       const std::filesystem::path& weights) {
  refuse_to_overwrite(description, weight_files(weights));
  write_file(description, text);
}

/// Summary such as "It runs: 6 layers of 3 maps of 197 × 197.", and whether all weights are finite.
QString trace_in_words(const Trace& trace) {
  if (trace.layers.empty()) return QObject::tr("It runs, and records no layer.");
  const ImpliedMaps& maps = trace.layers.front().implied_map;
  QString words = QObject::tr("It runs: %1 layers of %2 maps of %3 × %4.")
                      .arg(trace.layers.size())
                      .arg(maps.extent(0))
                      .arg(maps.extent(1))
                      .arg(maps.extent(2));
  const bool finite = std::ranges::all_of(trace.layers, [](const LayerTrace& layer) {
    return std::ranges::all_of(layer.implied_map.entries(),
                               [](float value) { return std::isfinite(value); });
  });
  words += finite ? QObject::tr(" Every weight is finite.")
                  : QObject::tr(" Some weights are not finite: something is read wrongly.");
  return words;
}

}  // namespace

bool RoleEditor::is_for(const std::filesystem::path& file, const ModelOptions& options) {
  try {
    const Checkpoint checkpoint = open_model_file(file, options);
    if (checkpoint.tensors().empty()) return false;
    try {
      (void)recognise_architecture(checkpoint, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::unsupported;
    }
  } catch (const Error&) {
  }
  return false;
}

RoleEditor::RoleEditor(Session& session, const std::filesystem::path& file,
                       const ModelOptions& options, SubjectId subject, QWidget* parent)
    : QDialog(parent, Qt::Window),
      session_(session),
      file_(file),
      options_(options),
      subject_(subject),
      checkpoint_(open_model_file(file, options)),
      groups_(group_tensors(checkpoint_)),
      proposals_(propose_roles(groups_)),
      draft_(draft_of(checkpoint_, proposals_)) {
  setObjectName("role_editor");
  setWindowTitle(tr("Tensor roles of %1").arg(words_of(file_.filename().string())));
  resize(1120, 760);
  options_.description.clear();
  delay_.setSingleShot(true);
  delay_.setInterval(kCheckAfterMs);
  connect(&delay_, &QTimer::timeout, this, &RoleEditor::check);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 14, 18, 14);
  column->setSpacing(10);
  auto* what = new QLabel(
      tr("No known model has these names. The roles below are proposed from names and shapes: "
         "drag a tensor onto its role, or choose both by the keys. The result is checked at "
         "once."));
  what->setWordWrap(true);
  what->setProperty("role", "muted");
  status_ = new QLabel;
  status_->setObjectName("role_status");
  status_->setWordWrap(true);
  assumed_ = new QLabel;
  assumed_->setObjectName("role_assumed");
  assumed_->setWordWrap(true);
  assumed_->setProperty("role", "muted");
  tried_ = new QLabel;
  tried_->setObjectName("role_tried");
  tried_->setWordWrap(true);
  tried_->hide();
  column->addWidget(what);
  column->addWidget(make_trees(), 1);
  column->addLayout(make_role_row());
  column->addWidget(make_members());
  column->addWidget(status_);
  column->addWidget(assumed_);
  column->addWidget(tried_);
  column->addLayout(make_buttons());
  show_draft();
  check();
}

QWidget* RoleEditor::make_trees() {
  auto* halves = new QSplitter;
  tensors_ = new TensorTree(groups_);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  roles_ = new RoleTree;
  column->addWidget(roles_, 1);
  halves->addWidget(tensors_);
  halves->addWidget(right);
  halves->setChildrenCollapsible(false);
  halves->setSizes({560, 520});
  connect(tensors_, &TensorTree::chosen, this, &RoleEditor::show_chosen);
  connect(tensors_, &TensorTree::role_refused, this, &RoleEditor::clear_role);
  connect(roles_, &RoleTree::dropped, this, &RoleEditor::assign);
  connect(roles_, &RoleTree::chosen, this, [this](const std::string& role) {
    const auto given = draft_.roles.find(role);
    if (given != draft_.roles.end()) tensors_->choose(given->second.pattern);
  });
  connect(roles_, &RoleTree::role_refused, this, [this](const std::string& role) {
    const auto given = draft_.roles.find(role);
    if (given != draft_.roles.end()) clear_role(given->second.pattern);
  });
  return halves;
}

QLayout* RoleEditor::make_role_row() {
  auto* row = new QHBoxLayout;
  tensor_ = new QLabel;
  tensor_->setProperty("role", "heading");
  role_ = new QComboBox;
  role_->setObjectName("role_chooser");
  role_->setAccessibleName(tr("Role of the chosen tensor"));
  role_->setMinimumContentsLength(26);
  transposed_ = new QCheckBox(tr("stored as [in, out]"));
  transposed_->setObjectName("role_transposed");
  all_ = new QCheckBox(tr("Show all roles"));
  all_->setObjectName("role_all");
  row->addWidget(tensor_);
  row->addWidget(new QLabel(tr("is")));
  row->addWidget(role_);
  row->addWidget(transposed_);
  row->addStretch(1);
  row->addWidget(all_);
  connect(role_, &QComboBox::activated, this, [this] {
    const std::string pattern = tensors_->current_pattern();
    const QVariant chosen = role_->currentData();
    if (pattern.empty()) return;
    if (chosen.isNull()) return clear_role(pattern);
    assign(pattern, chosen.toString().toStdString());
  });
  connect(transposed_, &QCheckBox::toggled, this, [this](bool on) {
    for (auto& [role, given] : draft_.roles) {
      if (given.pattern == tensors_->current_pattern()) given.transposed = on;
    }
    show_draft();
  });
  connect(all_, &QCheckBox::toggled, this, &RoleEditor::show_draft);
  return row;
}

QWidget* RoleEditor::make_members() {
  auto* frame = new QFrame;
  frame->setProperty("card", "members");
  auto* grid = new QGridLayout(frame);
  grid->setContentsMargins(12, 8, 12, 10);
  grid->setHorizontalSpacing(10);
  auto* said = new QLabel(
      tr("Settings that only the training code shows (empty: assumed or required, as shown)"));
  said->setProperty("role", "muted");
  grid->addWidget(said, 0, 0, 1, 8);
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    const auto& list = model_options();
    const auto option = std::ranges::find(list, kMembers[i], &ModelOption::name);
    if (option == list.end()) continue;
    QWidget* field = nullptr;
    const std::string member(option->name);
    if (option->choices.empty()) {
      auto* line = new QLineEdit;
      line->setPlaceholderText(tr("assumed"));
      connect(line, &QLineEdit::textChanged, this,
              [this, member](const QString& value) { set_member(member, value); });
      field = line;
    } else {
      auto* list_of = new QComboBox;
      list_of->addItem(tr("assumed"), QString());
      for (const std::string& choice : option->choices) {
        list_of->addItem(words_of(choice), words_of(choice));
      }
      connect(list_of, &QComboBox::currentIndexChanged, this,
              [this, member, list_of] { set_member(member, list_of->currentData().toString()); });
      field = list_of;
    }
    field->setObjectName("member_" + words_of(member));
    field->setAccessibleName(member_title(member));
    field->setToolTip(words_of(option->explanation));
    const int place = static_cast<int>(i);
    grid->addWidget(new QLabel(member_title(member)), 1 + place / 4, 2 * (place % 4));
    grid->addWidget(field, 1 + place / 4, 2 * (place % 4) + 1);
    grid->setColumnStretch(2 * (place % 4) + 1, 1);
  }
  return frame;
}

QLayout* RoleEditor::make_buttons() {
  auto* row = new QHBoxLayout;
  try_ = new QPushButton(tr("Try it on the input"));
  try_->setObjectName("role_try");
  save_ = new QPushButton(tr("Save and open…"));
  save_->setObjectName("role_save");
  save_->setProperty("primary", true);
  auto* close = new QPushButton(tr("Close"));
  for (QPushButton* button : {try_, save_, close}) button->setAutoDefault(false);
  row->addStretch(1);
  row->addWidget(close);
  row->addWidget(try_);
  row->addWidget(save_);
  connect(try_, &QPushButton::clicked, this, &RoleEditor::try_it);
  connect(save_, &QPushButton::clicked, this, &RoleEditor::ask_where_to_save);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(&session_, &Session::input_changed, this, &RoleEditor::check);
  return row;
}

const TensorGroup* RoleEditor::group(const std::string& pattern) const {
  const auto found = std::ranges::find(groups_, pattern, &TensorGroup::pattern);
  return found == groups_.end() ? nullptr : &*found;
}

void RoleEditor::set_member(const std::string& member, const QString& value) {
  draft_.members[member] = value.trimmed().toStdString();
  delay_.start();
}

void RoleEditor::assign(const std::string& pattern, const std::string& role) {
  const TensorGroup* const tensor = group(pattern);
  if (tensor == nullptr) return;
  std::erase_if(draft_.roles, [&](const auto& entry) { return entry.second.pattern == pattern; });
  std::erase(draft_.harmless, pattern);
  DraftPattern given{pattern, false};
  (void)shape_fits(role, tensor->shape, width_of(groups_), &given.transposed);
  const auto proposed = std::ranges::find_if(proposals_, [&](const RoleProposal& each) {
    return each.role == role && each.pattern == pattern;
  });
  if (proposed != proposals_.end()) given.transposed = proposed->transposed;
  draft_.roles[role] = given;
  show_draft();
}

void RoleEditor::clear_role(const std::string& pattern) {
  std::erase_if(draft_.roles, [&](const auto& entry) { return entry.second.pattern == pattern; });
  show_draft();
}

void RoleEditor::show_draft() {
  tensors_->show_roles(draft_);
  roles_->show_roles(draft_, proposals_, all_->isChecked());
  show_chosen(tensors_->current_pattern());
  delay_.start();
}

void RoleEditor::show_chosen(const std::string& pattern) {
  const TensorGroup* const tensor = group(pattern);
  role_->setEnabled(tensor != nullptr);
  transposed_->setEnabled(false);
  const QSignalBlocker quiet(role_), quiet_box(transposed_);
  role_->clear();
  transposed_->setChecked(false);
  if (tensor == nullptr) {
    tensor_->setText(tr("The chosen tensor"));
    return;
  }
  tensor_->setText(words_of(tensor->tail()) + " " + shape_in_words(tensor->shape));
  role_->addItem(tr("nothing yet"));
  const std::int64_t width = width_of(groups_);
  for (const std::string& role : all_roles()) {
    const auto given = draft_.roles.find(role);
    const bool has = given != draft_.roles.end() && given->second.pattern == pattern;
    const bool fits = role.starts_with("layer.") == tensor->of_layers() &&
                      (shape_fits(role, tensor->shape, width) || !tensor->alike);
    if (!has && !fits && !all_->isChecked()) continue;
    role_->addItem(words_of(role), words_of(role));
    role_->setItemData(role_->count() - 1, words_of(explanation_of(role)), Qt::ToolTipRole);
    if (!has) continue;
    role_->setCurrentIndex(role_->count() - 1);
    transposed_->setEnabled(tensor->shape.size() == 2);
    transposed_->setChecked(given->second.transposed);
  }
}

void RoleEditor::show_note(QLabel& label, const QString& words, const char* role) {
  label.setText(words);
  set_role(&label, role);
}

void RoleEditor::check() {
  delay_.stop();
  checked_ = check_draft(draft_, checkpoint_, options_);
  const bool good = checked_.problem.empty();
  show_note(*status_, (good ? "✓ " : "⚠ ") + words_of(attnscope::in_words(checked_, draft_)),
            good ? "heading" : "warning");
  QStringList assumed;
  for (const Assumption& assumption : checked_.assumptions) {
    if (assumption.stated) continue;
    assumed << words_of(assumption.option) + " " + words_of(assumption.value);
  }
  assumed_->setText(assumed.isEmpty() ? QString() : tr("Assumed: %1").arg(assumed.join(", ")));
  assumed_->setVisible(!assumed.isEmpty());
  save_->setEnabled(good);
  try_->setEnabled(good && session_.input());
  try_->setToolTip(session_.input() ? QString() : tr("Open an input first"));
}

void RoleEditor::try_it() {
  delay_.stop();
  const std::shared_ptr<const Input> input = session_.input();
  if (!input) return;
  auto folder = std::make_shared<QTemporaryDir>();
  ModelOptions options = options_;
  options.description = (folder->path() + "/description.json").toStdString();
  try {
    write_description(options.description, to_json(draft_, checkpoint_), file_);
  } catch (const Error& error) {
    tried_->show();
    return show_note(*tried_, words_of(error.in_window()), "error");
  }
  try_->setEnabled(false);
  tried_->show();
  show_note(*tried_, tr("Running…"), "muted");
  session_.jobs().submit(
      tr("Trying %1").arg(words_of(file_.filename().string())),
      [file = file_, options, input, folder, this](const Progress& progress) -> JobQueue::Delivery {
        const auto model = load_model(file, options, progress);
        const Trace trace = model->run(*input, model->spec().mechanism, {}, progress);
        return [this, words = trace_in_words(trace)] {
          try_->setEnabled(true);
          show_note(*tried_, "✓ " + words, "heading");
        };
      },
      [this](const JobFailure& failure) {
        try_->setEnabled(true);
        show_note(*tried_, failure.cancelled ? tr("Cancelled.") : "⚠ " + words_of(failure.what),
                  "error");
      },
      this);
}

void RoleEditor::ask_where_to_save() {
  std::filesystem::path proposed = file_;
  proposed.replace_extension(".description.json");
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save the description"), words_of(proposed.string()), tr("Descriptions (*.json)"));
  if (!file.isEmpty() && save(file.toStdString())) accept();
}

bool RoleEditor::save(const std::filesystem::path& description) {
  try {
    write_description(description, to_json(draft_, checkpoint_), file_);
  } catch (const Error& error) {
    tried_->show();
    show_note(*tried_, words_of(error.in_window()), "error");
    return false;
  }
  ModelOptions options = options_;
  options.description = description;
  if (session_.find(subject_) != nullptr) {
    session_.set_options(subject_, options);
  } else {
    session_.open(file_, options);
  }
  return true;
}

}  // namespace attnscope
