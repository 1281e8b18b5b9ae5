// Activation patching and path patching: a model runs on one input with parts of its run on another
// (Meng et al. 2022; Wang et al. 2022, "Interpretability in the Wild", § 3.1 and App. B).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/intervention/study.h"
#include "core/input/input.h"
#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The part of a layer that is taken from the run on the other input.
enum class PatchedPart {
  head_output,  ///< map times values of a head, before the output projection
  map,          ///< map of a head; the values are those of the changed run
  residual,     ///< residual stream before the layer
  attention,    ///< output of the attention that is added to the residual stream
  mlp           ///< that of the MLP
};
inline constexpr EnumName<PatchedPart> patched_part_names[] = {
    {PatchedPart::head_output, "head-output"},
    {PatchedPart::map, "map"},
    {PatchedPart::residual, "residual"},
    {PatchedPart::attention, "attention"},
    {PatchedPart::mlp, "mlp"}};

/// True if heads are patched, each at all chosen token positions; else all channels of a position.
[[nodiscard]] bool is_of_heads(PatchedPart part);

/// One head or one token position of a layer; the other is −1.
struct PatchPlace {
  std::int64_t layer = 0, head = -1, position = -1;

  bool operator==(const PatchPlace&) const = default;
};

/// The end of a path: the queries, keys or values of a head. Keys and values have the numbers of
/// their own heads, which several heads of queries may share.
struct PathReceiver {
  std::int64_t layer = 0, head = 0;
  LayerRows input = LayerRows::queries;
};

/// "9.6.query", separated by commas; "end" is an empty list, the end of the residual stream. Throws
/// Error(usage) about `option`.
[[nodiscard]] std::vector<PathReceiver> path_receivers(const std::string& text,
                                                       const std::string& option);

struct PatchRequest {
  PatchedPart of = PatchedPart::head_output;
  HeadChoice where = {};
  std::vector<std::int64_t> positions = {};  ///< token positions, from 0; all if empty
  /// Two classes or tokens: the measure is the logit of `answer` minus that of `against`. If empty,
  /// the likeliest on the other input, and the likeliest on the input.
  std::string answer = {}, against = {};
  std::int64_t place = -1;  ///< position whose logits are read, of a language model; −1: the last
  /// Path patching if set: the patched part reaches its receivers directly, and the end of the
  /// residual stream if there are none. All heads in between are those of the unchanged run.
  std::optional<std::vector<PathReceiver>> path = std::nullopt;
  bool through_mlps = true;  ///< false: MLPs in between are those of the unchanged run, too
};

/// Two unchanged runs of a model, and runs on the first input with parts of the second. Its
/// functions may be called from several threads.
class Patching {
 public:
  /// Runs both inputs. Throws Error(usage) if they have different numbers of tokens; for places
  /// that the model does not have; answers that are no class or single token; models without
  /// logits; paths from parts other than head outputs, attention and MLPs; Cancelled.
  Patching(Subject subject, Input input, Input from, PatchRequest request,
           const Progress& progress = {});

  [[nodiscard]] const PatchRequest& request() const { return request_; }
  [[nodiscard]] const Subject& subject() const { return subject_; }
  /// Chosen layers, and chosen heads (the most of any layer) or positions, ascending.
  [[nodiscard]] const std::vector<std::int64_t>& layers() const { return layers_; }
  [[nodiscard]] const std::vector<std::int64_t>& columns() const { return columns_; }
  /// Every place: the heads of each layer, or the layers of each position.
  [[nodiscard]] const std::vector<PatchPlace>& places() const { return places_; }

  /// The logit difference of a run with these places patched together; NaN if a logit is not
  /// finite. Throws Error(usage) if the maps cannot be changed; Cancelled.
  [[nodiscard]] double difference(const std::vector<PatchPlace>& places,
                                  const Progress& progress = {}) const;
  /// The logit differences of the unchanged runs on the input and on the other one.
  [[nodiscard]] double corrupted() const { return corrupted_; }
  [[nodiscard]] double clean() const { return clean_; }
  /// (difference − corrupted) / (clean − corrupted): 0 without a change, 1 as on the other input.
  /// NaN if the two unchanged runs have the same difference.
  [[nodiscard]] double effect(double difference) const;

  /// Names of the answers and of the tokens of both inputs.
  [[nodiscard]] const std::string& answer_name() const { return answer_name_; }
  [[nodiscard]] const std::string& against_name() const { return against_name_; }
  [[nodiscard]] const std::vector<std::string>& tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<std::string>& other_tokens() const { return other_tokens_; }
  [[nodiscard]] const Input& input() const { return input_; }
  [[nodiscard]] const Input& other() const { return other_; }

 private:
  /// Tensors of an unchanged run, by layer; those that no patch needs are empty.
  struct Kept {
    std::vector<Matrix> residual, heads, attention, mlp;
    std::vector<ImpliedMaps> maps;
  };
  using Change = std::function<void(LayerRows, std::int64_t, MatrixMap)>;

  void check_request();
  void choose_places();
  void choose_answers(const Trace& own, const Trace& other);
  [[nodiscard]] Trace run_kept(const Input& input, bool is_other, Kept& kept,
                               const Progress& progress) const;
  void check_tokens() const;
  [[nodiscard]] bool needs(LayerRows of, std::int64_t layer, bool is_other) const;
  /// The logits that are read.
  [[nodiscard]] std::span<const float> logits_of(const Trace& trace) const;
  [[nodiscard]] double difference_of(const Trace& trace) const;
  [[nodiscard]] std::int64_t heads_of(std::int64_t layer) const;
  void put(const std::vector<PatchPlace>& places, LayerRows of, std::int64_t layer,
           MatrixMap rows) const;
  void put_map(const std::vector<PatchPlace>& places, std::int64_t layer, std::int64_t head,
               MatrixMap map) const;
  /// Runs the input from layer `first` on, with these changes.
  [[nodiscard]] Trace run_changed(std::int64_t first, const Change& change, const MapChange& maps,
                                  const Progress& progress) const;
  [[nodiscard]] double path_difference(const std::vector<PatchPlace>& places, std::int64_t first,
                                       const Progress& progress) const;

  Subject subject_;
  Input input_, other_;
  PatchRequest request_;
  bool skips_ = false;  ///< runs begin at the first patched layer
  std::vector<std::int64_t> layers_, columns_;
  std::vector<PatchPlace> places_;
  Kept own_, given_;
  std::int64_t answer_ = 0, against_ = 0;
  std::string answer_name_, against_name_;
  std::vector<std::string> tokens_, other_tokens_;
  double corrupted_ = 0, clean_ = 0;
};

/// The logit difference of each place of Patching::places alone; NaN where it is not known, or not
/// yet.
struct PatchTable {
  std::shared_ptr<const Patching> patching;
  std::vector<double> differences;
};

/// Called with the number of a place and its logit difference as soon as it is known, never by two
/// threads at once. The order varies.
using PatchFound = std::function<void(std::size_t place, double difference)>;

/// Runs on all cores; the result has the same bits for any number of cores. Throws the errors of
/// Patching::difference, and Cancelled.
[[nodiscard]] PatchTable patch_each(std::shared_ptr<const Patching> patching,
                                    const PatchFound& found = {}, const Progress& progress = {});

/// "head outputs of all layers, all heads, at token positions 3, 4, to the queries of head 9.6".
[[nodiscard]] std::string in_words(const PatchRequest& request);

}  // namespace attnscope
