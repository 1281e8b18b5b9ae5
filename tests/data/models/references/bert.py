"""BERT in Hugging Face's names: a classifier on the pooler, early files with gamma and beta, masked tokens.

From huggingface/transformers, models/bert/modeling_bert.py.
"""

import torch

from make_families import ACTIVATIONS, IDS, attend, heads_of


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "is", "there", "?", "nay", ",", "answer", "me", "un",
         "##fold", "##ed", "stand", "and", "your", "##self", ".", "long", "live", "the", "king", "!", "ber", "##nar",
         "##do"]
# A pair of texts and its tokens, written by hand.
PAIR = {
    "texts": ["Who is there?", "Nay, answer me: stand and unfold yourself."],
    "vocabulary": WORDS,
    "ids": [2, 5, 6, 7, 8, 3, 9, 10, 11, 12, 1, 16, 17, 13, 14, 18, 19, 20, 3],
    "types": 6 * [0] + 13 * [1],
}


def bert(w, inputs, maps, *, root="bert.", width=24, heads=3, hidden=40, layers=2, vocabulary=29, context=24, eps=1e-12,
         act="gelu", head="classifier", early=False):
    is_pair = isinstance(inputs, dict)
    ids = torch.tensor(inputs["ids"]) if is_pair else inputs
    of_type = torch.tensor(inputs["types"]) if is_pair else torch.zeros_like(ids)

    def norm(x, name):
        if not early:
            return w.norm(x, name, eps)
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
        return scaled * w(name + ".gamma", x.shape[-1]) + w(name + ".beta", x.shape[-1])

    e = root + "embeddings."
    table = w(e + "word_embeddings.weight", vocabulary, width)
    positions = w(e + "position_embeddings.weight", context, width)
    types = w(e + "token_type_embeddings.weight", 2, width)
    x = norm(table[ids] + positions[: len(ids)] + types[of_type], e + "LayerNorm")
    for i in range(layers):
        l = f"{root}encoder.layer.{i}."
        parts = (w.linear(x, l + "attention.self." + name, width) for name in ("query", "key", "value"))
        h = attend(*(heads_of(part, heads) for part in parts), maps)
        x = norm(x + w.linear(h, l + "attention.output.dense", width), l + "attention.output.LayerNorm")
        h = ACTIVATIONS[act](w.linear(x, l + "intermediate.dense", hidden))
        x = norm(x + w.linear(h, l + "output.dense", width), l + "output.LayerNorm")
    if head == "classifier":
        return w.linear(torch.tanh(w.linear(x[0], root + "pooler.dense", width)), "classifier", 5)
    h = ACTIVATIONS[act](w.linear(x, "cls.predictions.transform.dense", width))
    h = norm(h, "cls.predictions.transform.LayerNorm")
    return h @ table.T + w("cls.predictions.bias", vocabulary)


CONFIG = {
    "architectures": ["BertForSequenceClassification"],
    "attention_probs_dropout_prob": 0.1,
    "classifier_dropout": None,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 24,
    "initializer_range": 0.02,
    "intermediate_size": 40,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 24,
    "model_type": "bert",
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "torch_dtype": "float32",
    "transformers_version": "4.40.0",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 29,
}

CASES = {
    "hugging_face_bert": (
        "Hugging Face BERT", bert, {}, IDS, CONFIG, {}, {"position_embedding_type": "relative_key_query"},
        "bert.encoder.layer.1.output.LayerNorm.bias", "bert.encoder.layer.0.attention.self.distance_embedding.weight",
    ),
    "hugging_face_bert_pair": (
        "Hugging Face BERT", bert, {}, PAIR, CONFIG, {}, {"hidden_act": "mish"},
        "bert.embeddings.token_type_embeddings.weight", "bert.encoder.layer.1.attention.self.sinks",
    ),
    "hugging_face_bert_masked": (
        "Hugging Face BERT", bert, dict(head="masked", early=True, act="relu"), IDS, None,
        {"heads": "3", "activation": "relu"}, None, "bert.embeddings.LayerNorm.gamma",
        "bert.encoder.layer.1.attention.gate.weight",
    ),
}
