// The one interface of attention. Adding a mechanism = one file, one line in mechanisms.cpp, one
// naive twin in tests/support; every view, table and command then has it
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

/// Tensors by name: a mechanism's own learned parameters at one layer, or what it recorded.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// What one attention layer is given. Head h's share of a row is columns [h·d, (h+1)·d).
struct AttentionInput {
  ConstMatrixMap queries;  ///< [N, H·d]
  ConstMatrixMap keys;     ///< [M, Hk·d]
  ConstMatrixMap values;   ///< [M, Hk·dv]
  std::int64_t heads = 1;
  /// The mechanism's own parameters (position biases, importance vectors, anchors) at this layer,
  /// under the names its file documents; empty for mechanisms without any.
  const NamedTensors* parameters = nullptr;
  const TokenLayout* layout = nullptr;  ///< of queries and keys; null where they lie nowhere
  bool causal = false;                  ///< no query sees later keys: a language model's layer
  std::int64_t layer = 0;  ///< which it is: random parameters differ from layer to layer
  /// Which channel's implied map is asked for, where each has its own; their mean if absent.
  std::optional<std::int64_t> channel = std::nullopt;
  /// What q·k is multiplied with, where the model says other than 1/√d.
  std::optional<double> scale = std::nullopt;

  [[nodiscard]] AttentionShape shape() const;
  /// Hk, a divisor of H: query head h has the keys and values of head ⌊h·Hk/H⌋. 0: H. Only
  /// mechanisms with MechanismEntry::terms are given another.
  std::int64_t key_heads = 0;
  /// Only mechanisms with MechanismEntry::terms are given any.
  const ScoreTerms* terms = nullptr;

  /// Which head's keys and values query head `head` has.
  [[nodiscard]] std::int64_t key_head(std::int64_t head) const {
    return key_heads ? head * key_heads / heads : head;
  }
  [[nodiscard]] std::int64_t heads_of_keys() const { return key_heads ? key_heads : heads; }
  /// `scale`, else 1/√d.
  [[nodiscard]] double score_scale() const;
};

/// What is known of an implied map without computing it.
struct MapStructure {
  std::int64_t rank_bound = 0;  ///< of each N×M map, in exact arithmetic
  bool rows_sum_to_one = true;  ///< false with identity mapping (2) and for upstream hashing
  bool non_negative = true;
  /// Maps each head has: 1, or one for each channel of its values (DAFT).
  std::int64_t channels = 1;
};

/// Maps as products of narrow matrices, with the scaling of rows: W = left · rightᵀ of every head,
/// exactly as the implied map to the rounding of float32.
struct MapFactors {
  Tensor left;   ///< [H, N, b]
  Tensor right;  ///< [H, M, b]
};

/// Writes of a head's implied map the rows from query `first` on, [n, M]; from several threads at
/// once.
using MapRows = std::function<void(std::int64_t head, std::int64_t first, StridedMatrixMap rows)>;

/// What one attention layer gives, and the maps it gave it with.
struct Attended {
  Tensor output;       ///< Mechanism::forward's
  Tensor implied_map;  ///< Mechanism::implied_map's
};

/// One way to attend, with its parameters fixed. Immutable, safe to share between threads.
class Mechanism {
 public:
  virtual ~Mechanism() = default;

  /// What make_mechanism made it of: every parameter, defaults too.
  [[nodiscard]] const MechanismChoice& choice() const { return choice_; }

  /// Output of every head, [N, H·dv]: fast, and never larger than it must be.
  [[nodiscard]] virtual Tensor forward(const AttentionInput& input) const = 0;

  /// The weights W with forward = W · V per head, exactly: [H, N, M], rows are queries. Where the
  /// channels of a head differ, W of `input.channel` (then exact for that channel) or their mean.
  [[nodiscard]] virtual Tensor implied_map(const AttentionInput& input) const = 0;

  /// forward and implied_map, the same to the bit: at once where both follow from one set of
  /// scores.
  [[nodiscard]] virtual Attended forward_with_map(const AttentionInput& input) const {
    return {forward(input), implied_map(input)};
  }

  /// The same maps some rows at a time, for those that are held nowhere; empty unless
  /// MechanismEntry::rows. It reads `input`, which must live as long.
  [[nodiscard]] virtual MapRows map_rows(const AttentionInput& input) const {
    (void)input;
    return {};
  }

  /// The same maps in factored form, where the mechanism has one and b is below N and M; its
  /// spectra and those of very long inputs come from it. Never larger than (N + M) · b a head.
  [[nodiscard]] virtual std::optional<MapFactors> factors(const AttentionInput&) const {
    return std::nullopt;
  }

  /// The mechanism's own quantities (codes, importances); none by default.
  [[nodiscard]] virtual NamedTensors quantities(const AttentionInput&) const { return {}; }

  [[nodiscard]] virtual MapStructure structure(const AttentionShape& shape) const = 0;

  /// Whether I is part of the implied map (Adder, Eq. 20).
  [[nodiscard]] virtual bool has_identity_mapping() const { return false; }

 private:
  friend std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice);
  MechanismChoice choice_;
};

/// A tensor of a layer that a mechanism reads from AttentionInput::parameters where it is there. A
/// model file holds it beside the layer's projections.
struct TensorDescription {
  std::string_view name;         ///< "pe0"
  std::string_view explanation;  ///< "[N, n], the left factor of the position biases (Eq. 6)"
  /// Its extents, heads first where each has its own; null where these settings have no such
  /// tensor. Absent for one that goes with another model's settings only ("local_mask").
  std::optional<Shape> (*shape)(const AttentionShape& shape, const TypedValues& values) = nullptr;
  /// How many a trained layer holds among its parameters: 0 of random ones, kept as drawn.
  std::int64_t learned = 1;
};

/// A linear layer of a mechanism, applied to every token.
struct Projection {
  std::string component;     ///< "query projection"
  std::int64_t inputs = 0;   ///< features
  std::int64_t outputs = 0;  ///< features
  bool of_keys = false;      ///< applied to the M key tokens, not to the N query tokens
};

/// How time and space of one layer with its projections grow, in symbols: N tokens, D channels; b
/// bits, F features, k landmarks, s positions of a window, h rounds of hashing, c tokens a bucket.
struct Complexity {
  std::string_view time, space;
  std::string_view source;  ///< who says so
};

/// One line of the list of mechanisms: all that is known of it.
struct MechanismEntry {
  std::string_view name;          ///< "adder": in files, flags and errors
  std::string_view title;         ///< "Adder attention"
  std::string_view source;        ///< "Shu et al. 2021, Eq. 7"
  std::string_view formula = {};  ///< "softmax(QKᵀ/√d)": the weights, for the manual
  std::string_view rank = {};     ///< "N": of its map at most, in symbols
  Complexity complexity = {};
  std::vector<ParameterDescription> parameters = {};
  /// Further settings that change nothing but how papers count it.
  std::vector<ParameterDescription> accounting = {};
  std::vector<TensorDescription> tensors = {};

  /// Operations of one layer's core, scores to weighted values, without projections; see
  /// costs/costs.h. `values` holds all of counted_parameters().
  std::vector<OperationCount> (*counts)(const AttentionShape& shape, CostConvention convention,
                                        const TypedValues& values) = nullptr;
  /// The linear layers around the core. `width` is D of the model; the core's own extents come from
  /// `shape`.
  std::vector<Projection> (*projections)(std::int64_t width, const AttentionShape& shape,
                                         const TypedValues& values) = nullptr;
  /// `values` holds every one of `parameters`, validated. Null for what is counted only, because it
  /// is no product of weights with values.
  std::unique_ptr<Mechanism> (*make)(const TypedValues& values) = nullptr;
  /// Whether it honours AttentionInput::causal; if not, language models refuse it.
  bool causal = false;
  /// Whether it scores by q·k and honours AttentionInput::scale.
  bool scaled = false;
  /// Whether it is a softmax over scores, which honours AttentionInput::terms and key_heads.
  bool terms = false;

  /// Whether rows of its map can be had alone: each follows from its own query and the keys.
  bool rows = false;

  /// `parameters`, then `accounting`.
  [[nodiscard]] std::vector<ParameterDescription> counted_parameters() const;
};

/// Those that the program can run.
[[nodiscard]] std::span<const MechanismEntry> mechanisms();

/// Those and the ones that it can only count.
[[nodiscard]] std::span<const MechanismEntry> counted_mechanisms();

/// One of mechanisms(). Throws Error(usage) listing the known names.
[[nodiscard]] const MechanismEntry& find_mechanism(std::string_view name);

/// One of counted_mechanisms(). Throws Error(usage) listing the known names.
[[nodiscard]] const MechanismEntry& find_counted_mechanism(std::string_view name);

/// `choice` as it is over tokens that lie on a grid of patches, or along a sequence: a window whose
/// "dimensions" are left out or "auto" has 2 of them, or 1.
[[nodiscard]] MechanismChoice choice_over_tokens(MechanismChoice choice, bool on_grid);

/// Fills in defaults and validates. Throws Error(usage) naming mechanism, parameter and range.
[[nodiscard]] std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice);

}  // namespace attnscope
