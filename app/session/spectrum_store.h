// The singular values of every open subject's maps, without and with I: computed in the background
// as traces arrive, and kept.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/spectrum/spectrum.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

namespace attnscope {

class Session;

/// Lives on the window's thread, beside its session.
class SpectrumStore : public QObject {
  Q_OBJECT
 public:
  explicit SpectrumStore(Session& session, QObject* parent = nullptr);

  /// Of the subject's current trace, as far as they are known: layer by layer while they are being
  /// found, and where that was stopped. Null before the first.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> of(SubjectId subject) const;
  /// Of how the subject runs by itself, while its maps are changed; null where they are not, or
  /// these are not known.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> of_unchanged(SubjectId subject) const;
  /// Those of the current trace; while these are being found, of the one before it, of changed maps
  /// or other weights on the same input.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> latest(SubjectId subject) const;
  /// Of how many layers of() tells, and how many the model has; equal when all are known. Null
  /// before the first.
  struct Known {
    std::int64_t layers = 0, of = 0;
  };
  [[nodiscard]] std::optional<Known> known(SubjectId subject) const;
  /// Why they are not known; empty if nothing is wrong.
  [[nodiscard]] std::string error_of(SubjectId subject) const;
  /// Whether that is because finding them was stopped by the user.
  [[nodiscard]] bool is_stopped(SubjectId subject) const;
  /// Finds what was stopped after all; what was found stays.
  void go_on();

 signals:
  void spectra_ready(SubjectId subject);  ///< or failed: see error_of

 private:
  struct Entry {
    std::shared_ptr<const Trace> trace, unchanged_trace;
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Input> input;
    std::shared_ptr<const SubjectSpectra> spectra, unchanged, former;
    std::int64_t run = 0;  ///< OpenSubject::run
    std::string error;
    bool stopped = false, whole = false;  ///< `spectra` are those of all layers it recorded
    std::int64_t job = 0;
  };

  void compute(SubjectId subject);
  /// Those of an earlier trace's maps that this one's are equal to: of the layers that were there
  /// already, or that no change reaches.
  static std::shared_ptr<const SubjectSpectra> still_right(const Entry& before, const Entry& now);
  void forget_closed();
  void show(SubjectId subject, const std::shared_ptr<const Trace>& of,
            std::shared_ptr<const SubjectSpectra> spectra);
  [[nodiscard]] const Entry* entry(SubjectId subject) const;

  Session& session_;
  std::map<SubjectId, Entry> entries_;
};

/// What a figure of the open subjects' spectra is asked for: those of which they are known, or
/// could not be found (the figure says why). The figure has nothing left to compute.
[[nodiscard]] FigureRequest with_spectra(const Session& session, const SpectrumStore& spectra);

/// The same subjects, those whose maps are changed as they run by themselves: their names end with
/// `mark`. None where the spectra of one of these are not known.
[[nodiscard]] std::optional<FigureRequest> with_unchanged_spectra(const Session& session,
                                                                  const SpectrumStore& spectra,
                                                                  const std::string& mark);

/// The spectrum of one map in such a list, or null.
[[nodiscard]] const MapSpectrum* find_spectrum(const std::vector<MapSpectrum>& spectra,
                                               std::int64_t layer, std::int64_t head);

/// Mean equivalent rank at `threshold` over the ready maps of one layer (of all layers if −1), NaN
/// if there are none.
[[nodiscard]] double mean_equivalent_rank(const std::vector<MapSpectrum>& spectra, double threshold,
                                          std::int64_t layer = -1);
/// Whether the values of any of these maps are estimated.
[[nodiscard]] bool are_estimated(const std::vector<MapSpectrum>& spectra, std::int64_t layer = -1);
/// "175.6"; "≈ 175.6" where any of the ranks is estimated; empty if there are none.
[[nodiscard]] QString mean_rank_text(const std::vector<MapSpectrum>& spectra, double threshold);

}  // namespace attnscope
