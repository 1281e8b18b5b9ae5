// Naive attention with counting numbers, straight from the equations: run one, then read the tally.
#pragma once

#include <vector>

#include "core/attention/costs/costs.h"
#include "tests/support/counted.h"

namespace attnscope::test {

using Row = std::vector<Counted>;
using Rows = std::vector<Row>;

/// Normally distributed numbers, the same in every run.
Rows random_rows(std::int64_t rows, std::int64_t columns);

/// A·Bᵀ.
Rows products(const Rows& a, const Rows& b);

/// Softmax of each row, in the component "softmax"; `scaled` multiplies the scores by a scale
/// first.
void softmax_in_place(Rows& scores, bool scaled = true);

/// (φ(Q)·Σ φ(k) vᵀ) / (φ(Q)·Σ φ(k)) of one head. The rows are already features.
void linear_attention(const Rows& queries, const Rows& keys, const Rows& values);

/// The same of every head, with random rows, and with a small number added to each denominator.
void guarded_linear_attention(const AttentionShape& s);

/// Adder, Eq. 3.
void count_softmax(const AttentionShape& s);

/// Adder, Eq. 7 and 20.
void count_adder(const AttentionShape& s, bool identity);

/// Choromanski et al. 2020, with positive features or ReLU features.
void count_performer(const AttentionShape& s, std::int64_t features, bool relu = false);

/// Katharopoulos et al. 2020.
void count_linear(const AttentionShape& s);

/// Wang et al. 2020.
void count_linformer(const AttentionShape& s, std::int64_t landmarks);

/// EcoFormer, Eq. 9 to 11.
void count_kernel_hash(const AttentionShape& s, std::int64_t supports, std::int64_t bits);

/// EcoFormer, Table 5.
void count_lsh(const AttentionShape& s, std::int64_t features, std::int64_t bits);

/// EcoFormer, Table 4.
void count_binary(const AttentionShape& s, std::int64_t features);

/// Tay et al. 2020.
void count_synthesizer(const AttentionShape& s, costs::ScoreSource source, std::int64_t factors);

/// DAFT, Eq. 5 and 6.
void count_daft_full(const AttentionShape& s, std::int64_t factors);

/// DAFT, Algorithm 2, over one dimension.
void count_daft_conv(const AttentionShape& s, std::int64_t kernel, std::int64_t heads);

/// Wu et al. 2021; Fastformer-LM, Eq. 4 to 15.
void count_additive(const AttentionShape& s, bool causal, std::int64_t window);

/// Tolstikhin et al. 2021.
void count_mixer(const AttentionShape& s, std::int64_t expansion);

/// Kitaev et al. 2020, without the sort by bucket.
void count_reformer(const AttentionShape& s, const costs::ReformerOptions& options);

}  // namespace attnscope::test
