"""ESM-2, a model of proteins, in Hugging Face's names: rotary positions, norms before the parts, and embeddings that
are scaled by the share of masked tokens, which are 0.

From huggingface/transformers, models/esm/modeling_esm.py. The head of contacts reads maps, and is not run.
"""

import torch

from make_families import ACTIVATIONS, IDS, attend, heads_of
from references.parts import angles_of, rotary, turn_halves

MASK = 4
MASKED = IDS.clone()
MASKED[[3, 7, 8]] = MASK


def esm(w, ids, maps, *, root="esm.", width=24, heads=3, hidden=40, layers=2, vocabulary=29, eps=1e-5, drops=True,
        head="tokens"):
    table = w(root + "embeddings.word_embeddings.weight", vocabulary, width)
    w(root + "embeddings.position_embeddings.weight", 66, width)  # saved and not used
    x = table[ids]
    if drops:
        masked = ids == MASK
        x = x.masked_fill(masked[:, None], 0.0) * (1 - 0.15 * 0.8) / (1 - masked.double().mean())
    angles = angles_of(len(ids), rotary(width // heads, 10000.0))
    for i in range(layers):
        l = f"{root}encoder.layer.{i}."
        h = w.norm(x, l + "attention.LayerNorm", eps)
        q, k, v = (heads_of(w.linear(h, l + "attention.self." + name, width), heads) for name in ("query", "key", "value"))
        h = attend(turn_halves(q, angles), turn_halves(k, angles), v, maps)
        x = x + w.linear(h, l + "attention.output.dense", width)
        h = ACTIVATIONS["gelu"](w.linear(w.norm(x, l + "LayerNorm", eps), l + "intermediate.dense", hidden))
        x = x + w.linear(h, l + "output.dense", width)
    last, x = x, w.norm(x, root + "encoder.emb_layer_norm_after", eps)
    w(root + "contact_head.regression.weight", 1, layers * heads)
    w(root + "contact_head.regression.bias", 1)
    if head == "classifier":
        return w.linear(torch.tanh(w.linear(x[0], "classifier.dense", width)), "classifier.out_proj", 5)
    if head is None:
        return last
    h = w.norm(ACTIVATIONS["gelu"](w.linear(x, "lm_head.dense", width)), "lm_head.layer_norm", eps)
    return h @ table.T + w("lm_head.bias", vocabulary)


# facebook/esm2_t6_8M_UR50D writes these keys.
ESM = {
    "architectures": ["EsmForMaskedLM"],
    "attention_probs_dropout_prob": 0.0,
    "classifier_dropout": None,
    "emb_layer_norm_before": False,
    "esmfold_config": None,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 24,
    "initializer_range": 0.02,
    "intermediate_size": 40,
    "is_folding_model": False,
    "layer_norm_eps": 1e-05,
    "mask_token_id": MASK,
    "max_position_embeddings": 66,
    "model_type": "esm",
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "position_embedding_type": "rotary",
    "token_dropout": True,
    "torch_dtype": "float32",
    "transformers_version": "4.25.0.dev0",
    "use_cache": True,
    "vocab_list": None,
    "vocab_size": 29,
}

CASES = {
    "hugging_face_esm2": (
        "Hugging Face ESM-2", esm, {}, MASKED, ESM, {}, {"position_embedding_type": "absolute"},
        "esm.encoder.emb_layer_norm_after.bias", "esm.embeddings.layer_norm.weight",
    ),
    "hugging_face_esm2_classifier": (
        "Hugging Face ESM-2", esm, dict(drops=False, head="classifier", layers=1, eps=1e-3), MASKED,
        {**ESM, "architectures": ["EsmForSequenceClassification"], "layer_norm_eps": 1e-3, "num_hidden_layers": 1,
         "token_dropout": False},
        {}, {"emb_layer_norm_before": True}, "esm.encoder.layer.0.LayerNorm.weight",
        "esm.encoder.layer.0.attention.self.distance_embedding.weight",
    ),
    "hugging_face_esm2_bare": (
        "Hugging Face ESM-2", esm, dict(root="", head=None), MASKED, {**ESM, "architectures": ["EsmModel"]}, {},
        {"is_folding_model": True}, "encoder.layer.1.attention.LayerNorm.weight", "encoder.layer.0.crossattention.self.query.weight",
    ),
}
