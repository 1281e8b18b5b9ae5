// Interface of all attention mechanisms. A new mechanism needs one file, one line in mechanisms.cpp
// and a naive twin in tests/support; every view, table and command then supports it
// (docs/adding-a-mechanism.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/costs/cost.h"
#include "core/attention/score_terms.h"
#include "core/attention/token_layout.h"
#include "core/parameters/typed_values.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Tensors by name: the learned parameters of a mechanism at one layer, or its recorded quantities.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Input of one attention layer. Head h has columns [h·d, (h+1)·d) of each row.
struct AttentionInput {
  ConstMatrixMap queries;  ///< [N, H·d]
  ConstMatrixMap keys;     ///< [M, Hk·d]
  ConstMatrixMap values;   ///< [M, Hk·dv]
  std::int64_t heads = 1;
  /// The mechanism's own parameters at this layer (position biases, importance vectors, anchors),
  /// under the names that its file documents; null or empty for mechanisms without any.
  const NamedTensors* parameters = nullptr;
  const TokenLayout* layout = nullptr;  ///< token positions; null if unknown
  bool causal = false;                  ///< no query sees later keys, as in language models
  std::int64_t layer = 0;               ///< layer index; random parameters depend on it
  /// Channel of the implied map for mechanisms with a map per channel; absent: the mean of all.
  std::optional<std::int64_t> channel = std::nullopt;
  /// Factor of q·k if the model specifies one other than 1/√d.
  std::optional<double> scale = std::nullopt;

  [[nodiscard]] AttentionShape shape() const;
  /// Hk, a divisor of H: query head h uses the keys and values of head ⌊h·Hk/H⌋. 0 means H. Always
  /// 0 or H for mechanisms without MechanismEntry::terms.
  std::int64_t key_heads = 0;
  /// Terms of the scores. Always null for mechanisms without MechanismEntry::terms.
  const ScoreTerms* terms = nullptr;

  /// The key and value head of query head `head`.
  [[nodiscard]] std::int64_t key_head(std::int64_t head) const {
    return key_heads ? head * key_heads / heads : head;
  }
  [[nodiscard]] std::int64_t heads_of_keys() const { return key_heads ? key_heads : heads; }
  /// Factor of q·k: `scale` if present, else 1/√d.
  [[nodiscard]] double score_scale() const;
};

/// Properties of an implied map that are known without computing it.
struct MapStructure {
  std::int64_t rank_bound = 0;  ///< rank of each N×M map at most, in exact arithmetic
  bool rows_sum_to_one = true;  ///< false if rows may have other sums, e.g. 2 with identity mapping
  bool non_negative = true;
  /// Number of maps per head: 1, or one per value channel (DAFT).
  std::int64_t channels = 1;
};

/// Maps as products of narrow matrices, row scaling included: W = left · rightᵀ per head, equal to
/// the implied map up to float32 rounding.
struct MapFactors {
  Tensor left;   ///< [H, N, b]
  Tensor right;  ///< [H, M, b]
};

/// Writes rows [n, M] of a head's implied map, from query `first` on. Called from several threads
/// at once.
using MapRows = std::function<void(std::int64_t head, std::int64_t first, StridedMatrixMap rows)>;

/// Output of one attention layer and the implied maps behind it.
struct Attended {
  Tensor output;       ///< result of Mechanism::forward
  Tensor implied_map;  ///< result of Mechanism::implied_map
};

/// An attention mechanism with fixed settings. Immutable and safe to share between threads.
class Mechanism {
 public:
  virtual ~Mechanism() = default;

  /// The choice that make_mechanism was given, with every parameter, defaults included.
  [[nodiscard]] const MechanismChoice& choice() const { return choice_; }

  /// Output of all heads, [N, H·dv]. Avoids the full map where the mechanism allows it.
  [[nodiscard]] virtual Tensor forward(const AttentionInput& input) const = 0;

  /// The weights W [H, N, M] with forward = W · V per head, exactly; rows are queries. If the
  /// channels of a head differ, W is that of `input.channel` (exact for that channel) or the mean
  /// over channels.
  [[nodiscard]] virtual Tensor implied_map(const AttentionInput& input) const = 0;

  /// Results of forward and implied_map, bitwise the same. Mechanisms that derive both from one set
  /// of scores compute it once.
  [[nodiscard]] virtual Attended forward_with_map(const AttentionInput& input) const {
    return {forward(input), implied_map(input)};
  }

  /// Computes the maps some rows at a time, for maps that are not stored. Empty unless
  /// MechanismEntry::rows. `input` must outlive the result.
  [[nodiscard]] virtual MapRows map_rows(const AttentionInput& input) const {
    (void)input;
    return {};
  }

  /// The maps in factored form, if the mechanism has one and b is below N and M. Spectra are then
  /// computed from the factors. At most (N + M) · b numbers per head.
  [[nodiscard]] virtual std::optional<MapFactors> factors(const AttentionInput&) const {
    return std::nullopt;
  }

  /// The mechanism's own quantities (codes, importances); empty by default.
  [[nodiscard]] virtual NamedTensors quantities(const AttentionInput&) const { return {}; }

  [[nodiscard]] virtual MapStructure structure(const AttentionShape& shape) const = 0;

  /// True if the implied map includes I (Adder, Eq. 20).
  [[nodiscard]] virtual bool has_identity_mapping() const { return false; }

 private:
  friend std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice);
  MechanismChoice choice_;
};

/// An optional tensor of a layer that a mechanism reads from AttentionInput::parameters. A model
/// file stores it next to the layer's projections.
struct TensorDescription {
  std::string_view name;         ///< "pe0"
  std::string_view explanation;  ///< "[N, n], the left factor of the position biases (Eq. 6)"
  /// Its shape, with the heads first if each head has its own. The result is empty if these
  /// settings have no such tensor; the function is null if the shape does not follow from the
  /// settings ("local_mask").
  std::optional<Shape> (*shape)(const AttentionShape& shape, const TypedValues& values) = nullptr;
  /// Number of such tensors among a layer's learned parameters; 0 for random tensors, which are not
  /// trained.
  std::int64_t learned = 1;
};

/// A linear layer of a mechanism, applied to every token.
struct Projection {
  std::string component;     ///< "query projection"
  std::int64_t inputs = 0;   ///< features
  std::int64_t outputs = 0;  ///< features
  bool of_keys = false;      ///< applied to the M key tokens, not to the N query tokens
};

/// Asymptotic time and space of one layer with its projections, in symbols: N tokens, D channels, b
/// bits, F features, k landmarks, s window positions, h hash rounds, c tokens per bucket.
struct Complexity {
  std::string_view time, space;
  std::string_view source;  ///< publication
};

/// Entry of the list of mechanisms: everything that is known about one of them.
struct MechanismEntry {
  std::string_view name;          ///< "adder", used in files, flags and errors
  std::string_view title;         ///< "Adder attention"
  std::string_view source;        ///< "Shu et al. 2021, Eq. 7"
  std::string_view formula = {};  ///< weights for the manual: "softmax(QKᵀ/√d)"
  std::string_view rank = {};     ///< largest rank of its map, in symbols: "N"
  Complexity complexity = {};
  std::vector<ParameterDescription> parameters = {};
  /// Further settings that only affect how papers count operations.
  std::vector<ParameterDescription> accounting = {};
  std::vector<TensorDescription> tensors = {};

  /// Operations of one layer's core, from scores to weighted values, without projections (see
  /// costs/costs.h). `values` holds all of counted_parameters().
  std::vector<OperationCount> (*counts)(const AttentionShape& shape, CostConvention convention,
                                        const TypedValues& values) = nullptr;
  /// The linear layers around the core. `width` is D of the model; the dimensions of the core come
  /// from `shape`.
  std::vector<Projection> (*projections)(std::int64_t width, const AttentionShape& shape,
                                         const TypedValues& values) = nullptr;
  /// Creates the mechanism; `values` holds all of `parameters`, validated. Null if the mechanism
  /// can only be counted, because it is not a product of weights with values.
  std::unique_ptr<Mechanism> (*make)(const TypedValues& values) = nullptr;
  /// True if it honours AttentionInput::causal; language models require this.
  bool causal = false;
  /// True if it reads its tokens in order and is causal in every layer.
  bool sequential = false;
  /// True if its scores are q·k and it honours AttentionInput::scale.
  bool scaled = false;
  /// True if it has scores and honours AttentionInput::terms, or refuses sinks, and key_heads.
  bool terms = false;
  /// True if each row of its map, without I, is a softmax of scores: the softmax of the scores
  /// divided by a temperature T has weights proportional to w^(1/T).
  bool tempered = false;

  /// True if rows of its map can be computed separately, each from its own query and the keys.
  bool rows = false;

  /// All settings: `parameters`, then `accounting`.
  [[nodiscard]] std::vector<ParameterDescription> counted_parameters() const;
};

/// Mechanisms that the program can run.
[[nodiscard]] std::span<const MechanismEntry> mechanisms();

/// All mechanisms, including those that the program can only count.
[[nodiscard]] std::span<const MechanismEntry> counted_mechanisms();

/// Finds one of mechanisms(). Throws Error(usage) listing the known names.
[[nodiscard]] const MechanismEntry& find_mechanism(std::string_view name);

/// Finds one of counted_mechanisms(). Throws Error(usage) listing the known names.
[[nodiscard]] const MechanismEntry& find_counted_mechanism(std::string_view name);

/// `choice` with "dimensions" resolved if they are missing or "auto": 2 for tokens on a grid of
/// patches, 1 for a sequence.
[[nodiscard]] MechanismChoice choice_over_tokens(MechanismChoice choice, bool on_grid);

/// λ₀ of differential attention in layer `layer`, from 0 (Ye et al. 2024): 0.8 − 0.6 exp(−0.3 l).
[[nodiscard]] double initial_lambda(std::int64_t layer);

/// The choice for people: "adder attention + identity", "hash attention, learned codes, 16 bits".
/// Settings at their defaults are left out; to_string(choice) names all.
[[nodiscard]] std::string in_words(const MechanismChoice& choice);

/// The settings alone: "+ identity", "learned codes, 16 bits"; empty if all have their defaults.
[[nodiscard]] std::string settings_in_words(const MechanismChoice& choice);

/// Creates the mechanism: fills in defaults and validates. Throws Error(usage) naming mechanism,
/// parameter and range.
[[nodiscard]] std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice);

/// The mechanism `name` (that of `trained` if empty) with its parameters as text, each under its
/// name. Parameters that are not given are taken from `trained` if it is the same mechanism, else
/// they have their defaults. Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const std::string& name,
                                               const std::map<std::string, std::string>& texts,
                                               const MechanismChoice& trained);

}  // namespace attnscope
