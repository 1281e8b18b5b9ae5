// Operation counts of each mechanism's attention core: one function per mechanism, for its entry in
// the list of mechanisms.
//
// Every accounting counts a sum of n products as n multiplications and n additions: accumulators
// start at zero. The conventions differ in what they leave out.
//   adder      Only products and distances of matrices; element-wise operations are free.
//   ecoformer  EcoFormer's: also scaling, normalisers, divisions (as multiplications); exp is free.
//   complete   All operations of a naive loop over the equation: also comparisons (as additions),
//              shifts, divisions, exponentials, and the bytes read and written once, as float32.
// Scores of future tokens are counted under causal masks: dense kernels compute them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/attention/costs/cost.h"

namespace attnscope::costs {

using OperationCounts = std::vector<OperationCount>;

/// N tokens, M keys, H heads of width d, values of width dv. Throws Error(usage) naming the
/// dimension that is not positive.
void check(const AttentionShape& shape);

/// Softmax of scaled products (Adder, Eq. 3). EcoFormer counts one multiplication per score.
OperationCounts softmax(const AttentionShape& shape, CostConvention convention);

/// Softmax of negated L1 distances (Adder, Eq. 7): |q - k| and its accumulation are two additions.
/// `identity` adds I to the map (Eq. 20). `identity_products` also counts N·dv multiplications per
/// head for I·V, as the printed #Mul of DeiT-B (0.48 B) suggests.
OperationCounts adder(const AttentionShape& shape, CostConvention convention, bool identity = false,
                      bool identity_products = false);

/// Methods that make the codes in EcoFormer's comparison.
enum class CodeKind {
  kernel,  ///< kernelised hashing, learned or random (Eq. 10, 11)
  lsh,     ///< random hyperplanes over `features` Performer features (Table 5)
  binary   ///< the sign of `features` Performer features, scaled (Bi-EcoFormer, Table 4)
};

struct HashOptions {
  CodeKind codes = CodeKind::kernel;
  std::int64_t bits = 16;      ///< b
  std::int64_t supports = 25;  ///< m, kernel only
  /// F for `lsh` and `binary`; 0: codes of the tokens themselves, without Performer features.
  std::int64_t features = 256;
};

/// EcoFormer, Eq. 7 to 11; queries and keys share their codes, which requires M = N.
OperationCounts hash(const AttentionShape& shape, CostConvention convention,
                     const HashOptions& options);

/// FAVOR+ with `features` positive random features (Choromanski et al. 2020). `as_released` follows
/// EcoFormer's released hook, which counts the product with 1/D over features and width. `relu`
/// uses the features max(ω·x, 0) + ε instead.
OperationCounts performer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t features, bool as_released = false, bool relu = false);

/// Linear Transformer with features 1 + elu (Katharopoulos et al. 2020).
OperationCounts linear(const AttentionShape& shape, CostConvention convention);

/// Keys and values projected to `landmarks` rows (Wang et al. 2020); `mask` counts masking both.
OperationCounts linformer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t landmarks, bool mask = false);

struct ReformerOptions {
  std::int64_t hashes = 2;
  std::int64_t chunk = 64;   ///< tokens per chunk; each attends to its own and the previous one
  std::int64_t buckets = 0;  ///< 0: one per chunk
  bool rotations = true;     ///< count the random rotations that make the buckets
  bool scaled = false;       ///< scale the scores, rather than normalise the keys
};

/// LSH attention with shared queries and keys (Kitaev et al. 2020).
OperationCounts reformer(const AttentionShape& shape, CostConvention convention,
                         const ReformerOptions& options);

enum class ScoreSource { random, dense, factorised };

/// Learned or predicted scores (Tay et al. 2020); `factors` is the inner width of `factorised`.
OperationCounts synthesizer(const AttentionShape& shape, CostConvention convention,
                            ScoreSource source, std::int64_t factors = 8);

/// DAFT-full (Eq. 5, 6): w = pe0·pe1ᵀ with `factors` columns; 0: w is stored and costs nothing to
/// form.
OperationCounts daft_full(const AttentionShape& shape, CostConvention convention,
                          std::int64_t factors = 128);

struct DaftConvOptions {
  std::int64_t kernel = 11;     ///< side of the window in tokens
  std::int64_t heads = 16;      ///< h, the number of position bias heads and channels of K
  std::int64_t dimensions = 2;  ///< window dimensions, 1 or 2
};

/// DAFT-conv (Eq. 7 to 9, Algorithm 2), depth-wise convolutions with "same" padding.
OperationCounts daft_conv(const AttentionShape& shape, CostConvention convention,
                          const DaftConvOptions& options);

/// MLP-Mixer's token mixing: per channel an MLP tokens → expansion·tokens → tokens (Tolstikhin et
/// al. 2021).
OperationCounts mixer(const AttentionShape& shape, CostConvention convention,
                      std::int64_t expansion = 4);

enum class AdditiveKind {
  bidirectional,  ///< Wu et al. 2021: two global vectors
  causal          ///< Fastformer-LM, Eq. 4 to 8, and Eq. 9 to 15 with a window
};

/// Additive attention. `window` (causal only): number of tokens that each token attends to; 0 for
/// all tokens so far.
OperationCounts additive(const AttentionShape& shape, CostConvention convention, AdditiveKind kind,
                         std::int64_t window = 0);

/// Softmax over `columns` scores in each of `rows` rows, for mechanisms built on one.
OperationCount softmax_rows(std::int64_t rows, std::int64_t columns, CostConvention convention);

}  // namespace attnscope::costs
