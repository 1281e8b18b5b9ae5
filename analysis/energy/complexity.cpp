#include "analysis/energy/complexity.h"

namespace attnscope {

namespace {

// Printed in DAFT's Table 1 with T and d for N and D; it takes F = D log D features for Performer.
constexpr std::string_view kTable = "DAFT, Table 1";

constexpr Complexity list[] = {
    {"softmax", "N²D + ND²", "N² + ND", kTable},
    {"adder", "N²D + ND²", "N² + ND", "Shu et al. 2021, Eq. 7"},
    {"additive", "ND²", "ND", "Wu et al. 2021"},
    {"hash", "NbD + ND²", "ND + bD", "EcoFormer, Eq. 7 to 9"},
    {"linear", "ND²", "ND + D²", kTable},
    {"performer", "ND² log D", "ND log D + D² log D", kTable},
    {"linformer", "NkD + ND²", "Nk + ND", "Wang et al. 2020"},
    {"reformer", "NhcD + ND²", "Nhc + ND", "Kitaev et al. 2020"},
    {"synthesizer", "N²D + ND²", "N² + ND", "Tay et al. 2020"},
    {"daft-full", "N²D + ND²", "ND", kTable},
    {"daft-local", "NsD + ND²", "ND", "DAFT, 5.1"},
    {"daft-one-hot", "NsD + ND²", "ND", "DAFT, appendix C"},
    {"daft-conv", "NsD + ND²", "ND", "DAFT, Eq. 7 to 9"},
    {"mixer", "N²D", "ND + N²", "Tolstikhin et al. 2021"},
};

}  // namespace

const Complexity* find_complexity(std::string_view mechanism) {
  for (const Complexity& complexity : list) {
    if (complexity.mechanism == mechanism) return &complexity;
  }
  return nullptr;
}

}  // namespace attnscope
