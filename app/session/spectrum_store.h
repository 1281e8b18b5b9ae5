// Singular values of every open subject's maps, without and with I, computed in the background when
// traces arrive, and kept.
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
struct OpenSubject;

/// Lives on the window's thread, next to its session.
class SpectrumStore : public QObject {
  Q_OBJECT
 public:
  explicit SpectrumStore(Session& session, QObject* parent = nullptr);

  /// The known spectra of the subject's current trace, layer by layer while they are being computed
  /// or if that was cancelled. Null before the first layer.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> of(SubjectId subject) const;
  /// The spectra of the subject without changes while its maps are changed; null if they are
  /// unchanged or the spectra are unknown.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> of_unchanged(SubjectId subject) const;
  /// The spectra of the current trace. While these are being computed, those of the previous trace
  /// with changed maps or other weights on the same input.
  [[nodiscard]] std::shared_ptr<const SubjectSpectra> latest(SubjectId subject) const;
  /// Number of layers with known spectra, and of all layers; equal when all are known. nullopt
  /// before the first layer.
  struct Known {
    std::int64_t layers = 0, of = 0;
  };
  [[nodiscard]] std::optional<Known> known(SubjectId subject) const;
  /// The error of the subject's spectra; empty if there is none.
  [[nodiscard]] std::string error_of(SubjectId subject) const;
  /// True if the user cancelled the computation.
  [[nodiscard]] bool is_stopped(SubjectId subject) const;
  /// Resumes cancelled computations; known spectra are kept.
  void resume();

 signals:
  void spectra_ready(SubjectId subject);  ///< emitted also on failure, see error_of

 private:
  struct Entry {
    std::shared_ptr<const Trace> trace, unchanged_trace;
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Input> input;
    std::shared_ptr<const SubjectSpectra> spectra, unchanged, former;
    std::int64_t run = 0;  ///< OpenSubject::run
    std::string error;
    bool stopped = false, whole = false;  ///< `spectra` hold all recorded layers
    std::int64_t job = 0;
  };

  void compute(SubjectId subject);
  /// The entry of the subject's current trace, also before compute() has begun it.
  [[nodiscard]] Entry present(SubjectId subject) const;
  /// An entry for the subject's current trace with the spectra of `before` that serve it.
  static Entry begun_after(const Entry& before, const OpenSubject& open);
  /// The spectra of an earlier trace's layers whose maps are equal: layers recorded before, or not
  /// reached by a change.
  static std::shared_ptr<const SubjectSpectra> still_right(const Entry& before, const Entry& now);
  void forget_closed();
  void show(SubjectId subject, const std::shared_ptr<const Trace>& of,
            std::shared_ptr<const SubjectSpectra> spectra);
  [[nodiscard]] const Entry* entry(SubjectId subject) const;

  Session& session_;
  std::map<SubjectId, Entry> entries_;
};

/// A figure request for the open subjects whose spectra are known or could not be computed (the
/// figure states why). The figure computes nothing itself.
[[nodiscard]] FigureRequest with_spectra(const Session& session, const SpectrumStore& spectra);

/// Like with_spectra, but subjects with changed maps appear without changes, and their names end
/// with `mark`. nullopt if the spectra of one of these are unknown.
[[nodiscard]] std::optional<FigureRequest> with_unchanged_spectra(const Session& session,
                                                                  const SpectrumStore& spectra,
                                                                  const std::string& mark);

/// The spectrum of one map in the list, or null.
[[nodiscard]] const MapSpectrum* find_spectrum(const std::vector<MapSpectrum>& spectra,
                                               std::int64_t layer, std::int64_t head);

/// Mean equivalent rank at `threshold` over the ready maps of one layer (of all layers if −1); NaN
/// if there are none.
[[nodiscard]] double mean_equivalent_rank(const std::vector<MapSpectrum>& spectra,
                                          const RankThreshold& threshold, std::int64_t layer = -1);
/// True if the values of any of these maps are estimated.
[[nodiscard]] bool are_estimated(const std::vector<MapSpectrum>& spectra, std::int64_t layer = -1);
/// Mean rank as text: "175.6"; "≈ 175.6" if any of the ranks is estimated; empty if there are none.
[[nodiscard]] QString mean_rank_text(const std::vector<MapSpectrum>& spectra,
                                     const RankThreshold& threshold);

}  // namespace attnscope
