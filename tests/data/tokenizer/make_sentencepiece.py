#!/usr/bin/python3
"""Small SentencePiece models, and what SentencePiece makes of awkward texts with them.

    python3 make_sentencepiece.py     writes sentencepiece/NAME.model and NAME.json beside this file

Needs Debian's python3-sentencepiece (0.1.97 was used). The JSON has the pieces too, for GGUF's lists.
"""

import json
import pathlib
import re
import string

import sentencepiece
from make_tokenizers import TEXTS

HERE = pathlib.Path(__file__).parent / "sentencepiece"
# Texts without "<s>", which is a token and not a piece of text.
LINES = [text for text in TEXTS if "<s>" not in text]
MORE = ["the<sep>theme <sep> of", "  <sep>x", "a\tb  c", "ﬁne ﬁ", "Ａ Ｂ", "unseen: ☃ and ☃☃ 𝄞", "▁x ▁▁ y", "the  "]


# Texts that SigLIP changes before it splits them into pieces.
SIGLIP = ["A photo of a CAT.", "  two  spaces ", "a_b, c-d; (e)!", "", "   ", "...", "What's this?", "THE ▁FOX ▁",
          "İstanbul ΣΑΣ", "the\n quick\t\x1cbrown", "the</s> fox", "</s>the", "the <unk>fox", "a<s>b", "ﬁne ﬁ Ａ"]


def siglip_ids(path, text):
    """transformers' SiglipTokenizer, models/siglip/tokenization_siglip.py, with SentencePiece itself."""
    # The bytes append a second normalizer_spec, in which add_dummy_prefix is false.
    processor = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes() + b"\x1a\x02\x18\x00")
    text = "▁" + text.replace("▁", " ")
    ids = []
    for part in re.split("(</s>|<unk>)", text):
        if part in ("</s>", "<unk>"):
            ids = [] if ids == [processor.piece_to_id("▁")] else ids
            ids.append(processor.piece_to_id(part))
            continue
        part = "".join(c.lower() for c in part)
        part = part.translate(str.maketrans("", "", string.punctuation))
        part = re.sub(r"\s+", " ", part).strip()
        ids += processor.encode("<unk>" + part)[len(processor.encode("<unk>")):]
    end = processor.piece_to_id("</s>")
    return ids if ids and ids[-1] == end else ids + [end]


def train(name, **settings):
    HERE.mkdir(exist_ok=True)
    corpus = HERE / "corpus.txt"
    corpus.write_text("\n".join(line.replace("\n", " ") for line in 4 * LINES if line.strip()))
    rules = HERE / "rules.tsv"
    # The rules map ﬁ → fi, ideographic and no-break space → space, full-width A and B → a, b; ""
    # removes a character.
    rules.write_text("FB01\t66 69\n3000\t20\nA0\t20\nFF21\t61\nFF22\t62\n200B\t\n9\t20\nA\t20\nD\t20\n"
                     + ("2581\t20\n" if name == "siglip" else ""))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(HERE / name), hard_vocab_limit=False, num_threads=1,
        minloglevel=2, user_defined_symbols=["<sep>"], character_coverage=0.98,
        **(dict(normalization_rule_tsv=str(rules)) if settings.pop("rules", False) else
           dict(normalization_rule_name="identity")),
        **settings,
    )
    corpus.unlink()
    rules.unlink()
    (HERE / f"{name}.vocab").unlink()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(HERE / f"{name}.model"))
    kinds = [("is_unknown", 2), ("is_control", 3), ("is_unused", 5), ("is_byte", 6)]
    pieces = []
    for i in range(processor.get_piece_size()):
        kind = next((number for asks, number in kinds if getattr(processor, asks)(i)), 1)
        if processor.id_to_piece(i) == "<sep>":
            kind = 4
        pieces.append([processor.id_to_piece(i), processor.get_score(i), kind])
    inputs = [{"text": text, "ids": processor.encode(text)} for text in LINES + MORE]
    if name == "siglip":
        texts = [text for text in LINES if text not in SIGLIP] + SIGLIP
        given = [{"text": text, "ids": siglip_ids(HERE / f"{name}.model", text)} for text in texts]
        (HERE / f"{name}_cleaned.json").write_text("[\n" + ",\n".join(json.dumps(item) for item in given) + "\n]\n")
    lines = ",\n".join(json.dumps(item) for item in inputs)
    (HERE / f"{name}.json").write_text(
        '{"pieces": %s,\n"inputs": [\n%s\n]}\n' % (json.dumps(pieces), lines))
    print(name, len(pieces), (HERE / f"{name}.model").stat().st_size)


if __name__ == "__main__":
    # Settings like Llama's: no normalisation, and bytes for characters without a piece.
    train("bpe_bytes", model_type="bpe", vocab_size=600, byte_fallback=True, remove_extra_whitespaces=False)
    train("bpe_rules", model_type="bpe", vocab_size=300, rules=True, add_dummy_prefix=False)
    train("unigram", model_type="unigram", vocab_size=300, rules=True)
    train("siglip", model_type="unigram", vocab_size=300, rules=True)
    train("unigram_bytes", model_type="unigram", vocab_size=600, byte_fallback=True, remove_extra_whitespaces=False)
