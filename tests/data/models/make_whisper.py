#!/usr/bin/python3
"""whisper.pt: random weights of the smallest Whisper, saved as OpenAI does: `dims` beside the state dict, with a decoder.

    python3 make_whisper.py
"""

import pathlib

import torch

BANDS, CONTEXT, WIDTH, HEADS, HIDDEN = 4, 5, 8, 2, 8


def shapes():
    e, b = "encoder.", "encoder.blocks.0."
    yield e + "positional_embedding", (CONTEXT, WIDTH)
    for name, shape in (
        (e + "conv1", (WIDTH, BANDS, 3)), (e + "conv2", (WIDTH, WIDTH, 3)), (b + "attn_ln", (WIDTH,)),
        (b + "attn.query", (WIDTH, WIDTH)), (b + "attn.value", (WIDTH, WIDTH)), (b + "attn.out", (WIDTH, WIDTH)),
        (b + "mlp_ln", (WIDTH,)), (b + "mlp.0", (HIDDEN, WIDTH)), (b + "mlp.2", (WIDTH, HIDDEN)), (e + "ln_post", (WIDTH,)),
    ):
        yield name + ".weight", shape
        yield name + ".bias", shape[:1]
    yield b + "attn.key.weight", (WIDTH, WIDTH)
    yield "decoder.token_embedding.weight", (3, WIDTH)
    yield "decoder.blocks.0.cross_attn.key.weight", (WIDTH, WIDTH)


def main():
    torch.manual_seed(0)
    dims = dict(n_mels=BANDS, n_audio_ctx=CONTEXT, n_audio_state=WIDTH, n_audio_head=HEADS, n_audio_layer=1, n_vocab=3,
                n_text_ctx=4, n_text_state=WIDTH, n_text_head=HEADS, n_text_layer=1)
    state = {name: torch.randn(shape).half() for name, shape in shapes()}
    torch.save({"dims": dims, "model_state_dict": state}, pathlib.Path(__file__).parent / "whisper.pt")


if __name__ == "__main__":
    main()
