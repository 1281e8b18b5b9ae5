#include "app/panels/patching/patching_panel.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "app/look/theme.h"
#include "app/panels/patching/patch_grid.h"
#include "app/session/hand_over.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/progress_line.h"
#include "app/widgets/scale_bar.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"
#include "core/input/input.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

QString number(double value) {
  if (!std::isfinite(value)) return PatchingPanel::tr("not known");
  return QString::number(value, 'f', 3).replace('-', QChar(0x2212));
}

QString shown(const std::string& text) {
  return QString::fromStdString(shown_text(text)).toHtmlEscaped();
}

/// Results on their way to the window: those of a burst arrive together.
struct Arriving {
  std::mutex mutex;
  std::vector<std::pair<std::size_t, double>> found;
};

}  // namespace

PatchingPanel::PatchingPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  set_short_title(tr("Patch"));
  export_ = add_action("export", tr("Export this figure…"));
  export_->setObjectName("patching_export");
  export_->setEnabled(false);
  connect(export_, &QToolButton::clicked, this, &PatchingPanel::want_export);
  add_fields();
  add_results();
  connect(&session_, &Session::subjects_changed, this, &PatchingPanel::refresh);
  connect(&session_, &Session::input_changed, this, &PatchingPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &PatchingPanel::refresh);
  refresh();
}

void PatchingPanel::add_fields() {
  auto* const about = new WrappedLabel(tr(
      "Runs the selected model on its input with one part at a time of its run on another input. "
      "0: the answer stays; 1: it is that of the other input."));
  set_role(about, "muted");
  body()->addWidget(about);
  const auto field = [&](const char* name, const QString& hint, const QString& tip) {
    auto* const line = new QLineEdit;
    line->setObjectName(name);
    line->setAccessibleName(hint);
    line->setPlaceholderText(hint);
    line->setToolTip(tip);
    connect(line, &QLineEdit::textChanged, this, [this] { clear({}); });
    connect(line, &QLineEdit::returnPressed, this, [this] {
      clear({});
      start();
    });
    return line;
  };
  from_ = field("patching_from", tr("other text or file"),
                tr("Input that the parts come from, with as many tokens as the open one"));
  answer_ = field("patching_answer", tr("its answer"),
                  tr("Class or token whose logit counts; empty: the likeliest on the other input"));
  against_ =
      field("patching_against", tr("answer against it"),
            tr("Class or token whose logit is subtracted; empty: the likeliest on the open input"));
  to_ =
      field("patching_to", tr("every path"),
            tr("Path patching: end (of the residual stream), or LAYER.HEAD.query, .key or .value; "
               "all heads in between stay as they were. Empty: every path"));
  of_ = new ElidedComboBox;
  of_->setObjectName("patching_of");
  of_->setAccessibleName(tr("Patched part"));
  of_->setToolTip(tr("Part that comes from the other input's run"));
  of_->addItem(tr("head outputs"), "head-output");
  of_->addItem(tr("maps"), "map");
  of_->addItem(tr("residual stream before a layer"), "residual");
  of_->addItem(tr("attention outputs"), "attention");
  of_->addItem(tr("MLP outputs"), "mlp");
  connect(of_, &QComboBox::currentIndexChanged, this, [this] { clear({}); });
  button_ = new QPushButton(tr("Patch"));
  button_->setObjectName("patching_start");
  connect(button_, &QPushButton::clicked, this, &PatchingPanel::start_or_stop);
  auto* const form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->addRow(tr("From"), from_);
  auto* const answers = new QHBoxLayout;
  answers->addWidget(answer_);
  answers->addWidget(new QLabel("−"));
  answers->addWidget(against_);
  form->addRow(tr("Logits"), answers);
  auto* const parts = new QHBoxLayout;
  parts->addWidget(of_, 1);
  parts->addWidget(button_);
  form->addRow(tr("Part"), parts);
  form->addRow(tr("Path to"), to_);
  body()->addLayout(form);
}

void PatchingPanel::add_results() {
  progress_ = new ProgressLine(tr("Progress of patching"));
  progress_->hide();
  body()->addWidget(progress_);
  note_ = new WrappedLabel;
  note_->setObjectName("patching_note");
  note_->setTextFormat(Qt::RichText);
  body()->addWidget(note_);
  grid_ = new PatchGrid;
  grid_->setObjectName("patching_grid");
  grid_->hide();
  body()->addWidget(grid_, 100);
  scale_ = new ScaleBar;
  scale_->hide();
  body()->addWidget(scale_);
  joint_ = new WrappedLabel;
  joint_->setObjectName("patching_joint");
  joint_->hide();
  body()->addWidget(joint_);
  body()->addStretch(1);
  connect(grid_, &PatchGrid::chosen, this, &PatchingPanel::choose);
  connect(grid_, &PatchGrid::painted_changed, this, &PatchingPanel::patch_painted);
  connect(grid_, &PatchGrid::scale_changed, this, [this] { scale_->set_scale(grid_->scale()); });
  connect(&session_.jobs(), &JobQueue::changed, this, [this] {
    for (const JobStatus& status : session_.jobs().status()) {
      if (status.id == job_) progress_->set_fraction(status.fraction);
    }
  });
}

const OpenSubject* PatchingPanel::selected() const {
  return session_.find(session_.selection().subject);
}

PatchingPanel::Source PatchingPanel::source() const {
  const OpenSubject* const open = selected();
  if (!open || !open->subject.model || !open->subject.input) return {};
  return {open->subject.model, open->subject.mechanism, open->subject.input};
}

void PatchingPanel::refresh() {
  const Source now = source();
  show_instead(now.model
                   ? QString()
                   : tr("Open a model and an input: its answer on that input is compared with "
                        "its answer on another."));
  if (now == source_) return;
  source_ = now;
  clear({});
}

void PatchingPanel::start_or_stop() {
  if (job_ != 0) {
    session_.jobs().cancel(job_);
    return;
  }
  clear({});
  start();
}

void PatchingPanel::clear(const QString& note) {
  ++round_;
  if (job_ != 0) session_.jobs().cancel(job_);
  if (joint_job_ != 0) session_.jobs().cancel(joint_job_);
  job_ = joint_job_ = 0;
  patching_.reset();
  export_->setEnabled(false);
  button_->setText(tr("Patch"));
  progress_->hide();
  grid_->hide();
  scale_->hide();
  joint_->hide();
  note_->setText(note);
  note_->setVisible(!note.isEmpty());
}

std::string PatchingPanel::other_locator() const {
  const std::string text = from_->text().toStdString();
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(text, ignored);
  const bool reads_texts = source_.model->spec().reads_texts();
  return reads_texts && !is_file && !is_written_out(text) ? "text:" + text : text;
}

PatchRequest PatchingPanel::request() const {
  PatchRequest request;
  request.of = value_of(patched_part_names, of_->currentData().toString().toStdString(), "part");
  request.answer = answer_->text().toStdString();
  request.against = against_->text().toStdString();
  if (!to_->text().isEmpty()) request.path = path_receivers(to_->text().toStdString(), "path");
  return request;
}

void PatchingPanel::start() {
  if (!source_.model) return;
  if (from_->text().isEmpty()) {
    clear(tr("Write another text of as many tokens, or the file of another input."));
    from_->setFocus();
    return;
  }
  PatchRequest wanted;
  try {
    wanted = request();
  } catch (const Error& error) {
    return clear("⚠ " + QString::fromStdString(error.in_window()).toHtmlEscaped());
  }
  const OpenSubject& open = *selected();
  Subject subject = open.subject;
  subject.trace.reset();
  button_->setText(tr("Stop"));
  progress_->set_fraction(0);
  progress_->show();
  JobQueue& jobs = session_.jobs();
  const auto deliver = [&jobs, panel = QPointer<PatchingPanel>(this), round = round_](auto call) {
    queue_call(&jobs, [panel, round, call = std::move(call)] {
      if (panel && panel->round_ == round) call(*panel);
    });
  };
  job_ = jobs.submit(
      tr("Patching"),
      [subject, wanted, from = other_locator(), deliver, this,
       round = round_](const Progress& progress) -> JobQueue::Delivery {
        const auto patching = std::make_shared<const Patching>(
            subject, *subject.input, open_input(from), wanted, progress.part(0, 0.1));
        deliver([patching](PatchingPanel& panel) { panel.begin(patching); });
        const auto arriving = std::make_shared<Arriving>();
        const auto found = [&](std::size_t place, double difference) {
          const std::lock_guard lock(arriving->mutex);
          arriving->found.emplace_back(place, difference);
          if (arriving->found.size() > 1) return;  // a delivery is under way
          deliver([arriving](PatchingPanel& panel) {
            std::vector<std::pair<std::size_t, double>> all;
            {
              const std::lock_guard taking(arriving->mutex);
              all.swap(arriving->found);
            }
            panel.take(all);
          });
        };
        (void)patch_each(patching, found, progress.part(0.1, 1));
        return [this, round] {
          if (round == round_) ended({});
        };
      },
      [this, round = round_](const JobFailure& failure) {
        if (round != round_) return;
        ended(failure.cancelled ? tr("Cancelled; the effects so far are shown.")
                                : "⚠ " + QString::fromStdString(failure.what).toHtmlEscaped());
      },
      this);
}

void PatchingPanel::want_export() {
  const FigureRequest open = request_of(session_);
  const auto is_selected = [&](const Subject& subject) {
    return subject.trace == selected()->subject.trace;
  };
  const auto found = std::ranges::find_if(open.subjects, is_selected);
  if (!patching_ || found == open.subjects.end()) return;
  const PatchRequest& made = patching_->request();
  const std::string to = to_->text().toStdString();
  emit export_wanted("patching",
                     {{"from", other_locator()},
                      {"answer", made.answer},
                      {"against", made.against},
                      {"of", std::string(name_of(patched_part_names, made.of))},
                      {"to", to.empty() ? "none" : to}},
                     {static_cast<std::size_t>(found - open.subjects.begin())});
}

void PatchingPanel::begin(std::shared_ptr<const Patching> patching) {
  patching_ = std::move(patching);
  export_->setEnabled(true);
  const auto numbers = [](const std::vector<std::int64_t>& indices) {
    QStringList list;
    for (const std::int64_t index : indices) list << QString::number(index);
    return list;
  };
  if (is_of_heads(patching_->request().of)) {
    grid_->set_labels(numbers(patching_->layers()), numbers(patching_->columns()), tr("layer"),
                      tr("head"));
  } else {
    QStringList tokens;
    for (const std::int64_t position : patching_->columns()) {
      const auto at = static_cast<std::size_t>(position);
      const std::string own = shown_text(patching_->tokens()[at]),
                        other = shown_text(patching_->other_tokens()[at]);
      tokens << QString::fromStdString(own == other ? own : own + " ← " + other);
    }
    grid_->set_labels(tokens, numbers(patching_->layers()), tr("token"), tr("layer"));
  }
  note_->setText(tr("Logit of “%1” − “%2”: <b>%3</b> on the open input, <b>%4</b> on the other.")
                     .arg(shown(patching_->answer_name()), shown(patching_->against_name()),
                          number(patching_->corrupted()), number(patching_->clean())));
  note_->show();
  grid_->show();
  scale_->set_scale(grid_->scale());
  scale_->show();
  joint_->setText(tr("Click a cell to select its map; drag over cells to patch them together."));
  joint_->show();
}

void PatchingPanel::take(const std::vector<std::pair<std::size_t, double>>& found) {
  for (const auto& [place, difference] : found) {
    grid_->set_value(cell_of(patching_->places()[place]), patching_->effect(difference));
  }
}

void PatchingPanel::ended(const QString& note) {
  job_ = 0;
  button_->setText(tr("Patch"));
  progress_->hide();
  if (note.isEmpty()) return;
  note_->setText(patching_ ? note_->text() + "<br>" + note : note);
  note_->show();
}

std::pair<int, int> PatchingPanel::cell_of(const PatchPlace& place) const {
  const auto index = [](const std::vector<std::int64_t>& list, std::int64_t value) {
    return static_cast<int>(std::ranges::find(list, value) - list.begin());
  };
  const int layer = index(patching_->layers(), place.layer);
  if (place.head >= 0) return {layer, index(patching_->columns(), place.head)};
  return {index(patching_->columns(), place.position), layer};
}

PatchPlace PatchingPanel::place_at(int row, int column) const {
  const auto at = [](const std::vector<std::int64_t>& list, int index) {
    return list[static_cast<std::size_t>(index)];
  };
  if (is_of_heads(patching_->request().of)) {
    return {.layer = at(patching_->layers(), row), .head = at(patching_->columns(), column)};
  }
  return {.layer = at(patching_->layers(), column), .position = at(patching_->columns(), row)};
}

void PatchingPanel::choose(int row, int column) {
  const PatchPlace place = place_at(row, column);
  Selection selection = session_.selection();
  if (place.head >= 0) {
    session_.select_map(selection.subject, place.layer, place.head);
    return;
  }
  selection.layer = place.layer;
  selection.query = place.position;
  selection.to.reset();
  session_.select(selection);
}

void PatchingPanel::patch_painted() {
  if (joint_job_ != 0) session_.jobs().cancel(joint_job_);
  joint_job_ = 0;
  std::vector<PatchPlace> places;
  double sum = 0;
  for (const auto& [row, column] : grid_->painted()) {
    const PatchPlace place = place_at(row, column);
    if (std::ranges::find(patching_->places(), place) == patching_->places().end()) continue;
    places.push_back(place);
    sum += grid_->value({row, column});
  }
  if (places.empty()) {
    joint_->setText(tr("Click a cell to select its map; drag over cells to patch them together."));
    return;
  }
  const QString cells =
      places.size() == 1 ? tr("1 cell") : tr("%1 cells together").arg(places.size());
  joint_->setText(cells + " …");
  joint_job_ = session_.jobs().submit(
      tr("Patching together"),
      [this, patching = patching_, places, cells, sum, painted = grid_->painted(),
       round = round_](const Progress& progress) -> JobQueue::Delivery {
        const double difference = patching->difference(places, progress);
        return [this, patching, difference, cells, sum, painted, round] {
          if (round != round_ || painted != grid_->painted()) return;
          joint_job_ = 0;
          joint_->setText(
              tr("%1: effect %2, logit difference %3. Their single effects add up to %4.")
                  .arg(cells, number(patching->effect(difference)), number(difference),
                       number(sum)));
        };
      },
      [this, painted = grid_->painted(), round = round_](const JobFailure& failure) {
        if (round != round_ || painted != grid_->painted()) return;
        joint_job_ = 0;
        if (!failure.cancelled) joint_->setText("⚠ " + QString::fromStdString(failure.what));
      },
      this);
}

}  // namespace attnscope
