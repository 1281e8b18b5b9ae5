"""Llama in Meta's own names, neighbours turned together.

From meta-llama/llama-models, models/llama3/model.py.
"""

from make_families import ACTIVATIONS, IDS, heads_of
from references.eleuther import turn_pairs
from references.parts import angles_of, attend_terms, causal_mask, rms, rotary


def llama(w, ids, maps, *, width=32, heads=4, key_heads=2, hidden=48, layers=2, vocabulary=29, theta=10000.0, eps=1e-5):
    x = w("tok_embeddings.weight", vocabulary, width)[ids]
    each = width // heads
    angles = angles_of(len(ids), rotary(each, theta))
    for i in range(layers):
        l = f"layers.{i}."
        h = rms(w, x, l + "attention_norm", eps)
        q = heads_of(w.linear(h, l + "attention.wq", width, bias=False), heads)
        k = heads_of(w.linear(h, l + "attention.wk", key_heads * each, bias=False), key_heads)
        v = heads_of(w.linear(h, l + "attention.wv", key_heads * each, bias=False), key_heads)
        h = attend_terms(turn_pairs(q, angles), turn_pairs(k, angles), v, maps, each**-0.5, causal_mask(len(ids)))
        x = x + w.linear(h, l + "attention.wo", width, bias=False)
        h = rms(w, x, l + "ffn_norm", eps)
        gate = ACTIVATIONS["silu"](w.linear(h, l + "feed_forward.w1", hidden, bias=False))
        h = gate * w.linear(h, l + "feed_forward.w3", hidden, bias=False)
        x = x + w.linear(h, l + "feed_forward.w2", width, bias=False)
    return w.linear(rms(w, x, "norm", eps), "output", vocabulary, bias=False)


CASES = {
    "meta_llama": (
        "Meta Llama", llama, {}, IDS, None, {"heads": "4"}, None, "layers.1.ffn_norm.weight",
        "layers.0.attention.q_norm.weight",
    ),
}
