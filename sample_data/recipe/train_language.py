#!/usr/bin/python3
"""Trains one sample language model on the characters of a text, on one CPU thread.

    python3 train_language.py --model shakespeare-softmax --text tinyshakespeare.txt \
        --out ../models/shakespeare-softmax.h5

Both models see the same characters in the same order; the last tenth of the text is kept for
validation. An interrupted run continues from its checkpoint.
"""

import argparse
import math
import os
import pathlib
import platform
import time

from training import descend, learning_rate, optimiser_for
import torch
import torch.nn.functional as F

import language

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--model", required=True, choices=language.ARCHITECTURES)
parser.add_argument("--text", required=True)
parser.add_argument("--out", required=True, help="model file to write (.h5)")
parser.add_argument(
    "--checkpoint", help="where to keep the state of an unfinished run (default: OUT.checkpoint)"
)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--highest-learning-rate", type=float, default=2e-3)
arguments = parser.parse_args()
checkpoint_path = arguments.checkpoint or arguments.out + ".checkpoint"

WARM_UP_STEPS, WEIGHT_DECAY = 100, 0.01


def batch(step):
    """Random stretches of the training text: a function of the seed and the step alone, so that a
    run can continue.
    """
    random = torch.Generator().manual_seed(1_000_000 * arguments.seed + step)
    starts = torch.randint(
        len(training_text) - language.POSITIONS - 1, (arguments.batch,), generator=random
    )
    stretches = torch.stack([training_text[s : s + language.POSITIONS + 1] for s in starts])
    return stretches[:, :-1], stretches[:, 1:]


def validation_loss(model):
    """Mean over the validation text in stretches of the full length, each character predicted
    once.
    """
    count = (len(validation_text) - 1) // language.POSITIONS * language.POSITIONS
    inputs, targets = (
        validation_text[s : s + count].reshape(-1, language.POSITIONS) for s in (0, 1)
    )
    with torch.no_grad():
        losses = [
            F.cross_entropy(model(i).flatten(0, 1), t.flatten(), reduction="sum")
            for i, t in zip(inputs.split(16), targets.split(16))
        ]
    return sum(losses).item() / count


text = pathlib.Path(arguments.text).read_text()
characters = sorted(set(text))
number = {character: i for i, character in enumerate(characters)}
text = torch.tensor([number[character] for character in text])
training_text, validation_text = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]

torch.manual_seed(arguments.seed)
model = language.build(arguments.model, len(characters))
optimiser = optimiser_for(model, lambda name, parameter: parameter.dim() > 1, WEIGHT_DECAY)
first_step, seconds = 0, 0.0
if os.path.exists(checkpoint_path):
    state = torch.load(checkpoint_path)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    first_step, seconds = state["step"], state["seconds"]

began, saved = time.time() - seconds, time.time()
for step in range(first_step, arguments.steps):
    inputs, targets = batch(step)
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    rate = learning_rate(step, arguments.steps, arguments.highest_learning_rate, WARM_UP_STEPS)
    descend(model, optimiser, loss, rate)
    if (step + 1) % 50 == 0:
        seconds = time.time() - began
        print(f"step {step + 1}/{arguments.steps}  loss {loss.item():.4f}  {seconds:.0f} s")
    if time.time() - saved > 60:
        torch.save(
            {
                "model": model.state_dict(),
                "optimiser": optimiser.state_dict(),
                "step": step + 1,
                "seconds": time.time() - began,
            },
            checkpoint_path,
        )
        saved = time.time()

seconds, reached = time.time() - began, validation_loss(model)
print(f"validation loss {reached:.4f} nats, {reached / math.log(2):.4f} bits a character")
language.write(
    model,
    arguments.out,
    arguments.model,
    characters,
    {
        "dataset": "Tiny Shakespeare",
        "recipe": "sample_data/recipe/train_language.py",
        "seed": arguments.seed,
        "batch": arguments.batch,
        "steps": arguments.steps,
        "characters_seen": arguments.steps * arguments.batch * language.POSITIONS,
        "optimiser": "AdamW",
        "highest_learning_rate": arguments.highest_learning_rate,
        "weight_decay": WEIGHT_DECAY,
        "dropout": 0,
        "validation_nats_per_character": reached,
        "validation_bits_per_character": reached / math.log(2),
        "seconds": round(seconds),
        "threads": 1,
        "machine": platform.machine(),
        "torch": torch.__version__,
    },
)
if os.path.exists(checkpoint_path):
    os.remove(checkpoint_path)
