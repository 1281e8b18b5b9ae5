"""Text encoders in Hugging Face's names, BERT's layers with other beginnings and ends: RoBERTa (positions from the padding
token's on), DistilBERT, ELECTRA (narrower embeddings), MPNet (T5's buckets), ALBERT (one layer run several times).

From huggingface/transformers, models/roberta, distilbert, electra, mpnet and albert.
"""

import math

import torch

from make_families import ACTIVATIONS, IDS, heads_of
from references.bert import CONFIG as BERT

TANH = torch.tanh


class Encoder:
    """The parts that all of them compute alike; `names` of query, key, value, output, MLP and both norms in a layer."""

    def __init__(self, w, maps, heads, eps, act="gelu"):
        self.w, self.maps, self.heads, self.eps, self.act = w, maps, heads, eps, act

    def norm(self, x, name):
        return self.w.norm(x, name, self.eps)

    def layer(self, x, prefix, names, hidden, bias=None):
        w, width = self.w, x.shape[-1]
        q, k, v = (heads_of(w.linear(x, prefix + name, width), self.heads) for name in names[:3])
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        self.maps.append((scores if bias is None else scores + bias).softmax(-1))
        h = w.linear((self.maps[-1] @ v).transpose(0, 1).flatten(1), prefix + names[3], width)
        x = self.norm(x + h, prefix + names[4])
        h = w.linear(ACTIVATIONS[self.act](w.linear(x, prefix + names[5], hidden)), prefix + names[6], width)
        return self.norm(x + h, prefix + names[7])


BERT_LAYER = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
              "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"]


def embedded(w, e, ids, width, vocabulary, rows, first, types):
    """Embeddings before their norm; the first token has row `first` of the positions."""
    x = w(e + "word_embeddings.weight", vocabulary, width)[ids]
    x = x + w(e + "position_embeddings.weight", rows, width)[first : first + len(ids)]
    return x + w(e + "token_type_embeddings.weight", types, width)[0] if types else x


def masked(w, encoder, x, table, dense, norm, bias, act="gelu"):
    h = encoder.norm(ACTIVATIONS[act](w.linear(x, dense, table.shape[1])), norm)
    return h @ table.T + w(bias, len(table))


def roberta(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, rows=27, first=2, eps=1e-5,
            head="classifier"):
    encoder = Encoder(w, maps, heads, eps)
    x = encoder.norm(embedded(w, "roberta.embeddings.", ids, width, vocabulary, rows, first, 1),
                     "roberta.embeddings.LayerNorm")
    for i in range(layers):
        x = encoder.layer(x, f"roberta.encoder.layer.{i}.", BERT_LAYER, hidden)
    if head == "classifier":
        return w.linear(TANH(w.linear(x[0], "classifier.dense", width)), "classifier.out_proj", 5)
    table = w("roberta.embeddings.word_embeddings.weight", vocabulary, width)
    return masked(w, encoder, x, table, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias")


def electra(w, ids, maps, *, width=24, narrow=16, heads=3, hidden=40, layers=2, vocabulary=29, rows=24, eps=1e-3,
            head="classifier"):
    encoder = Encoder(w, maps, heads, eps)
    x = encoder.norm(embedded(w, "electra.embeddings.", ids, narrow, vocabulary, rows, 0, 2),
                     "electra.embeddings.LayerNorm")
    if narrow != width:
        x = w.linear(x, "electra.embeddings_project", width)
    for i in range(layers):
        x = encoder.layer(x, f"electra.encoder.layer.{i}.", BERT_LAYER, hidden)
    if head == "classifier":
        return w.linear(ACTIVATIONS["gelu"](w.linear(x[0], "classifier.dense", width)), "classifier.out_proj", 5)
    table = w("electra.embeddings.word_embeddings.weight", vocabulary, narrow)
    return masked(w, encoder, x, table, "generator_predictions.dense", "generator_predictions.LayerNorm",
                  "generator_lm_head.bias")


def distilbert(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, rows=24, act="gelu",
               head="classifier"):
    encoder = Encoder(w, maps, heads, 1e-12, act)
    x = encoder.norm(embedded(w, "distilbert.embeddings.", ids, width, vocabulary, rows, 0, 0),
                     "distilbert.embeddings.LayerNorm")
    names = ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1",
             "ffn.lin2", "output_layer_norm"]
    for i in range(layers):
        x = encoder.layer(x, f"distilbert.transformer.layer.{i}.", names, hidden)
    if head == "classifier":
        return w.linear(ACTIVATIONS["relu"](w.linear(x[0], "pre_classifier", width)), "classifier", 5)
    table = w("distilbert.embeddings.word_embeddings.weight", vocabulary, width)
    return masked(w, encoder, x, table, "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", act)


def bucket(distance, buckets=32, furthest=128):
    """Of a key `distance` behind the query."""
    half, exact = buckets // 2, buckets // 4
    away = distance.abs()
    beyond = exact + (torch.log(away.clamp(min=1) / exact) / math.log(furthest / exact) * (half - exact)).long()
    return (distance > 0) * half + torch.where(away < exact, away, beyond.clamp(max=half - 1))


def mpnet(w, ids, maps, *, width=24, heads=3, hidden=40, layers=2, vocabulary=29, rows=27, eps=1e-5, head="masked"):
    encoder = Encoder(w, maps, heads, eps)
    x = encoder.norm(embedded(w, "mpnet.embeddings.", ids, width, vocabulary, rows, 2, 0), "mpnet.embeddings.LayerNorm")
    places = torch.arange(len(ids))
    of_buckets = w("mpnet.encoder.relative_attention_bias.weight", 32, heads)
    bias = of_buckets[bucket(places[None] - places[:, None])].permute(2, 0, 1)
    names = ["attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm",
             "intermediate.dense", "output.dense", "output.LayerNorm"]
    for i in range(layers):
        x = encoder.layer(x, f"mpnet.encoder.layer.{i}.", names, hidden, bias)
    if head == "pooler":
        return TANH(w.linear(x[0], "mpnet.pooler.dense", width))
    if head == "classifier":
        return w.linear(TANH(w.linear(x[0], "classifier.dense", width)), "classifier.out_proj", 5)
    table = w("mpnet.embeddings.word_embeddings.weight", vocabulary, width)
    return masked(w, encoder, x, table, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias")


def albert(w, ids, maps, *, width=24, narrow=16, heads=3, hidden=40, layers=4, groups=1, vocabulary=29, rows=24,
           eps=1e-12, act="gelu_tanh", head="masked"):
    encoder = Encoder(w, maps, heads, eps, act)
    x = encoder.norm(embedded(w, "albert.embeddings.", ids, narrow, vocabulary, rows, 0, 2),
                     "albert.embeddings.LayerNorm")
    x = w.linear(x, "albert.encoder.embedding_hidden_mapping_in", width)
    names = ["attention.query", "attention.key", "attention.value", "attention.dense", "attention.LayerNorm", "ffn",
             "ffn_output", "full_layer_layer_norm"]
    for i in range(layers):
        group = i * groups // layers
        x = encoder.layer(x, f"albert.encoder.albert_layer_groups.{group}.albert_layers.0.", names, hidden)
    if head == "classifier":
        return w.linear(TANH(w.linear(x[0], "albert.pooler", width)), "classifier", 5)
    table = w("albert.embeddings.word_embeddings.weight", vocabulary, narrow)
    return masked(w, encoder, x, table, "predictions.dense", "predictions.LayerNorm", "predictions.bias", act)


ROBERTA = {**BERT, "architectures": ["RobertaForSequenceClassification"], "bos_token_id": 0, "eos_token_id": 2,
           "layer_norm_eps": 1e-05, "max_position_embeddings": 27, "model_type": "roberta", "pad_token_id": 1,
           "type_vocab_size": 1}
ELECTRA = {**BERT, "architectures": ["ElectraForSequenceClassification"], "embedding_size": 16, "layer_norm_eps": 1e-3,
           "model_type": "electra", "summary_activation": "gelu", "summary_last_dropout": 0.1,
           "summary_type": "first", "summary_use_proj": True}
DISTILBERT = {
    "activation": "gelu",
    "architectures": ["DistilBertForSequenceClassification"],
    "attention_dropout": 0.1,
    "dim": 24,
    "dropout": 0.1,
    "hidden_dim": 40,
    "initializer_range": 0.02,
    "max_position_embeddings": 24,
    "model_type": "distilbert",
    "n_heads": 3,
    "n_layers": 2,
    "pad_token_id": 0,
    "qa_dropout": 0.1,
    "seq_classif_dropout": 0.2,
    "sinusoidal_pos_embds": False,
    "tie_weights_": True,
    "transformers_version": "4.10.0",
    "vocab_size": 29,
}
MPNET = {
    **{key: value for key, value in BERT.items() if key not in ("type_vocab_size", "use_cache", "position_embedding_type")},
    "architectures": ["MPNetForMaskedLM"],
    "bos_token_id": 0,
    "eos_token_id": 2,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 27,
    "model_type": "mpnet",
    "pad_token_id": 1,
    "relative_attention_num_buckets": 32,
}
ALBERT = {
    **BERT,
    "architectures": ["AlbertForMaskedLM"],
    "classifier_dropout_prob": 0.1,
    "down_scale_factor": 1,
    "embedding_size": 16,
    "gap_size": 0,
    "hidden_act": "gelu_new",
    "inner_group_num": 1,
    "model_type": "albert",
    "net_structure_type": 0,
    "num_hidden_groups": 1,
    "num_hidden_layers": 4,
    "num_memory_blocks": 0,
}

CASES = {
    "hugging_face_roberta": (
        "Hugging Face RoBERTa", roberta, {}, IDS, ROBERTA, {}, {"position_embedding_type": "relative_key"},
        "classifier.out_proj.weight", "roberta.encoder.layer.0.attention.self.distance_embedding.weight",
    ),
    "hugging_face_roberta_masked": (
        "Hugging Face RoBERTa", roberta, dict(head="masked", first=4, rows=28), IDS,
        {**ROBERTA, "pad_token_id": 3, "max_position_embeddings": 28}, {}, {"hidden_act": "relu"},
        "lm_head.layer_norm.bias", "roberta.encoder.layer.1.attention.gate.weight",
    ),
    "hugging_face_roberta_without_config": (
        "Hugging Face RoBERTa", roberta, {}, IDS, None, {"heads": "3"}, None,
        "roberta.embeddings.token_type_embeddings.weight", "roberta.encoder.layer.1.adapter.weight",
    ),
    "hugging_face_electra": (
        "Hugging Face ELECTRA", electra, {}, IDS, ELECTRA, {}, {"hidden_act": "mish"},
        "electra.embeddings_project.weight", "electra.encoder.layer.0.attention.self.sinks",
    ),
    "hugging_face_electra_generator": (
        "Hugging Face ELECTRA", electra, dict(head="masked"), IDS, ELECTRA, {}, {"hidden_act": "relu"},
        "generator_predictions.LayerNorm.weight", "electra.encoder.layer.0.attention.gate.weight",
    ),
    "hugging_face_distilbert": (
        "Hugging Face DistilBERT", distilbert, dict(act="relu"), IDS, {**DISTILBERT, "activation": "relu"}, {},
        {"activation": "mish"}, "distilbert.transformer.layer.1.sa_layer_norm.weight",
        "distilbert.transformer.layer.0.attention.gate.weight",
    ),
    "hugging_face_distilbert_masked": (
        "Hugging Face DistilBERT", distilbert, dict(head="masked"), IDS, DISTILBERT, {}, {"n_heads": "three"},
        "vocab_layer_norm.weight", "distilbert.embeddings.token_type_embeddings.weight",
    ),
    "hugging_face_mpnet": (
        "Hugging Face MPNet", mpnet, {}, IDS, MPNET, {}, {"relative_attention_num_buckets": 64},
        "mpnet.encoder.relative_attention_bias.weight", "mpnet.encoder.layer.0.attention.gate.weight",
    ),
    "hugging_face_mpnet_pooler": (
        "Hugging Face MPNet", mpnet, dict(head="classifier"), IDS, MPNET, {}, {"hidden_act": "mish"},
        "mpnet.encoder.layer.1.attention.attn.o.bias", "mpnet.embeddings.token_type_embeddings.weight",
    ),
    "hugging_face_albert": (
        "Hugging Face ALBERT", albert, {}, IDS, ALBERT, {}, {"inner_group_num": 2},
        "predictions.LayerNorm.weight", "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.gate.weight",
    ),
    "hugging_face_albert_groups": (
        "Hugging Face ALBERT", albert, dict(groups=2, layers=5, head="classifier", act="relu"), IDS,
        {**ALBERT, "num_hidden_groups": 2, "num_hidden_layers": 5, "hidden_act": "relu"}, {}, {"gap_size": 1},
        "albert.encoder.albert_layer_groups.1.albert_layers.0.ffn.weight",
        "albert.encoder.albert_layer_groups.0.albert_layers.1.ffn.weight",
    ),
}
