#include "app/panels/sweep/sweep_panel.h"

#include "analysis/sweep/sweep.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

// Interval at which the curves grow.
constexpr double kCheckpointSeconds = 1;

}  // namespace

SweepPanel::SweepPanel(Session& session, QWidget* parent)
    : StudyPanel(session,
                 {.name = "sweep",
                  .title = tr(kTitle),
                  .about = tr("The open models over a whole data set: mean spectra, and how ranks, "
                              "hash codes and importances are distributed. Choose a data set and "
                              "the file of its result; cancelled work is resumed."),
                  .verb = tr("Sweep"),
                  .doing = tr("Sweeping"),
                  .data_hint = tr("IDX, HDF5, NPZ, or a folder of class folders"),
                  .result_hint = tr("Result file (.h5): new, or one made earlier"),
                  .file_name = "sweep.h5",
                  .count = 10'000,
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
    say(tr("Open a model first."));
    return std::nullopt;
  }
  if (!ask_for_data() || !ask_for_result()) return std::nullopt;
  wanted.data_set_path = chosen_data();
  wanted.choice.count = chosen_count();
  wanted.out = out();
  wanted.restart = begins_anew();
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

}  // namespace attnscope
