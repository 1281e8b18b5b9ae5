#include "app/panels/sweep/sweep_panel.h"

#include "analysis/sweep/sweep.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/session/training_presets.h"

namespace attnscope {

namespace {

// Interval at which the curves grow.
constexpr double kCheckpointSeconds = 1;

/// A data set that the sample models read: Fashion-MNIST if it is installed, else the samples.
QString proposed_data() {
  const std::filesystem::path images = fashion_mnist_folder();
  if (!images.empty()) return QString::fromStdString(images.string());
  const std::filesystem::path samples = sample_data_folder();
  return samples.empty() ? QString()
                         : QString::fromStdString((samples / "inputs/twelve.npz").string());
}

}  // namespace

SweepPanel::SweepPanel(Session& session, QWidget* parent)
    : StudyPanel(session,
                 {.name = "sweep",
                  .title = tr(kTitle),
                  .about = tr("The open models over a whole data set: mean spectra, and how ranks, "
                              "hash codes and importances are distributed. With a file for the "
                              "result, cancelled work is resumed."),
                  .verb = tr("Sweep"),
                  .doing = tr("Sweeping"),
                  .data_hint = tr("IDX, HDF5, NPZ, or class folders"),
                  .result_hint = tr("result file (.h5); empty: discarded"),
                  .data = proposed_data(),
                  .file_name = "sweep.h5",
                  .count = 1000,
                  .count_step = 1000},
                 {{tr("Spectrum"), tr("Mean cumulative spectra"), "sweep-spectrum"},
                  {tr("Ranks"), tr("Distributions of ranks, layer by layer"), "sweep-ranks"},
                  {tr("Codes"), tr("Hash codes and importances"), "sweep-quantities"}},
                 parent) {}

std::optional<StudyPanel::Work> SweepPanel::work() {
  SweepRequest wanted;
  for (const OpenSubject& open : session().subjects()) {
    if (!open.subject.model) continue;
    wanted.subjects.push_back(open.subject);
    wanted.subjects.back().trace = nullptr;
  }
  if (wanted.subjects.empty()) {
    show_note(tr("Open a model first."));
    return std::nullopt;
  }
  if (!ask_for_data()) return std::nullopt;
  wanted.data_set_path = chosen_data();
  wanted.choice.count = chosen_count();
  wanted.out = out();
  wanted.restart = starts_over() || chosen_result().empty();
  wanted.checkpoint_seconds = kCheckpointSeconds;
  return [wanted](const Progress& progress, const std::function<void()>& grown) mutable {
    wanted.data_set = open_data_set(wanted.data_set_path);
    bool anything_done = false;
    const SweepResult result = run_sweep(wanted, progress, [&](const SweepResult&) {
      anything_done = true;
      grown();
    });
    const qlonglong inputs = result.done;
    return anything_done
               ? tr("%1 inputs, complete.").arg(inputs)
               : tr("%1 inputs were complete already. Start over sweeps them again.").arg(inputs);
  };
}

std::filesystem::path SweepPanel::out() const {
  return chosen_result().empty() ? std::filesystem::path(folder_.path().toStdString()) / "sweep.h5"
                                 : chosen_result();
}

}  // namespace attnscope
