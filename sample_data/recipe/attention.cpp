// Attention (softmax and adder) for the training recipe, forward and backward, on one thread.
//
// Why it exists: torch.cdist(p=1) and its backward dominate the training time of adder attention by
// far. Here one head of one image is worked on at a time, so its N x N map never leaves the cache,
// and every inner loop runs over a vector of 16 keys. attention.py compiles this file and checks it
// against torch.cdist.
//
// Shapes (row-major): qkv [images, tokens, 3, heads, D] as timm's attn.qkv layer gives it; out
// [images, tokens, heads, D].
//   scores S_ij = q_i.k_j / sqrt(D)                               softmax, Adder Eq. 3
//          S_ij = -|q_i - k_j|_1 / sqrt(2 D (1 - 2/pi))            adder, Adder Eq. 7
//   map    A    = softmax_j(S), plus I with identity mapping (Eq. 20);   out = A V (Eq. 9)

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

// Head width: fixed, so that loops over it unroll and one token's head is one Lane.
constexpr int D = 16;
// Keys are padded to a multiple of this, so that no loop has a scalar tail.
constexpr int lanes = 16;
typedef float Lane __attribute__((vector_size(lanes * sizeof(float)), aligned(4)));

Lane& at(float* p) { return *reinterpret_cast<Lane*>(p); }
float sum(Lane x) {
  float s = 0;
  for (int l = 0; l < lanes; ++l) s += x[l];
  return s;
}

struct Head {
  int tokens, padded;
  bool adder;
  float scale;
  std::vector<float> q, k, v;  // [tokens, D]
  std::vector<float> kT, vT;   // [D, padded]: channel-major, so that loops over keys are contiguous
  std::vector<float> map;      // [tokens, padded], zero in the padding

  Head(int n, bool isAdder)
      : tokens(n),
        padded((n + lanes - 1) / lanes * lanes),
        adder(isAdder),
        scale(1 / std::sqrt(adder ? 2 * D * (1 - 2 / M_PI) : D)),
        q(n * D),
        k(n * D),
        v(n * D),
        kT(D * padded),
        vT(D * padded),
        map(n * padded) {}

  void load(const float* qkv, int heads) {
    for (int i = 0; i < tokens; ++i)
      for (int c = 0; c < D; ++c) {
        const float* token = qkv + i * 3 * heads * D + c;
        q[i * D + c] = token[0];
        k[i * D + c] = kT[c * padded + i] = token[heads * D];
        v[i * D + c] = vT[c * padded + i] = token[2 * heads * D];
      }
  }

  void computeMap() {
    for (int i = 0; i < tokens; ++i) {
      float *row = &map[i * padded], *query = &q[i * D];
      for (int j = 0; j < padded; j += lanes) {
        Lane s = {};
        for (int c = 0; c < D; ++c) {
          const Lane key = at(&kT[c * padded + j]);
          if (adder) {
            const Lane difference = query[c] - key;
            s -= difference > 0 ? difference : -difference;
          } else {
            s += query[c] * key;
          }
        }
        at(row + j) = s * scale;
      }
      float largest = row[0], total = 0;
      for (int j = 1; j < tokens; ++j) largest = std::max(largest, row[j]);
      for (int j = 0; j < padded; ++j) row[j] = std::exp(row[j] - largest);
      for (int j = tokens; j < padded; ++j) row[j] = 0;
      for (int j = 0; j < padded; ++j) total += row[j];
      for (int j = 0; j < padded; ++j) row[j] /= total;
    }
  }
};

}  // namespace

extern "C" void attention_forward(const float* qkv, float* out, int images, int tokens, int heads,
                                  int adder, int identity) {
  Head head(tokens, adder);
  for (int image = 0; image < images; ++image)
    for (int h = 0; h < heads; ++h) {
      head.load(qkv + long(image) * tokens * 3 * heads * D + h * D, heads);
      head.computeMap();
      for (int i = 0; i < tokens; ++i) {
        const float* row = &head.map[i * head.padded];
        Lane even = {}, odd = {};  // two sums, because one would wait for itself
        for (int j = 0; j + 1 < tokens; j += 2) {
          even += row[j] * at(&head.v[j * D]);
          odd += row[j + 1] * at(&head.v[(j + 1) * D]);
        }
        if (tokens % 2) even += row[tokens - 1] * at(&head.v[(tokens - 1) * D]);
        if (identity) odd += at(&head.v[i * D]);
        at(out + (long(image) * tokens + i) * heads * D + h * D) = even + odd;
      }
    }
}

extern "C" void attention_backward(const float* qkv, const float* dOut, float* dQkv, int images,
                                   int tokens, int heads, int adder, int identity) {
  Head head(tokens, adder);
  const int padded = head.padded;
  std::vector<float> dScore(padded), dKT(D * padded), dV(tokens * D);
  for (int image = 0; image < images; ++image)
    for (int h = 0; h < heads; ++h) {
      const long offset = long(image) * tokens * 3 * heads * D + h * D;
      head.load(qkv + offset, heads);
      head.computeMap();  // again: cheaper than reading it back from memory
      std::fill(dKT.begin(), dKT.end(), 0.f);
      std::fill(dV.begin(), dV.end(), 0.f);
      for (int i = 0; i < tokens; ++i) {
        float *row = &head.map[i * padded], *query = &head.q[i * D];
        float dO[D];
        std::copy_n(dOut + (long(image) * tokens + i) * heads * D + h * D, D, dO);

        for (int j = 0; j < tokens; ++j) at(&dV[j * D]) += row[j] * at(dO);
        if (identity) at(&dV[i * D]) += at(dO);

        // dS = A (dA - sum_j A dA) with dA_ij = dO_i . v_j; the identity adds nothing to dS.
        Lane mean = {};
        for (int j = 0; j < padded; j += lanes) {
          Lane dMap = {};
          for (int c = 0; c < D; ++c) dMap += dO[c] * at(&head.vT[c * padded + j]);
          at(&dScore[j]) = dMap;
          mean += dMap * at(row + j);
        }
        const float total = sum(mean);
        for (int j = 0; j < padded; j += lanes)
          at(&dScore[j]) = at(row + j) * (at(&dScore[j]) - total) * head.scale;

        float* dQ = dQkv + offset + long(i) * 3 * heads * D;
        for (int c = 0; c < D; ++c) {
          Lane dQuery = {};
          for (int j = 0; j < padded; j += lanes) {
            const Lane key = at(&head.kT[c * padded + j]), g = at(&dScore[j]);
            if (adder) {  // the exact derivative of -|q - k| is -sign(q - k), Adder Eq. 23
              const Lane difference = query[c] - key;
              const Lane signedG = difference > 0 ? g : difference < 0 ? -g : Lane{};
              dQuery -= signedG;
              at(&dKT[c * padded + j]) += signedG;
            } else {
              dQuery += g * key;
              at(&dKT[c * padded + j]) += g * query[c];
            }
          }
          dQ[c] = sum(dQuery);
        }
      }
      for (int i = 0; i < tokens; ++i)
        for (int c = 0; c < D; ++c) {
          float* token = dQkv + offset + long(i) * 3 * heads * D + c;
          token[heads * D] = dKT[c * padded + i];
          token[2 * heads * D] = dV[i * D + c];
        }
    }
}
