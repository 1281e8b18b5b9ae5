#!/usr/bin/python3
"""Trains one sample model on Fashion-MNIST, on one CPU thread.

    python3 train.py --model fashion-adder --out ../models/fashion-adder.h5

Attention over 197 tokens is slow to train from nothing, so the network first learns on patches of
4x4 pixels (50 tokens) and is then refined to patches of 2x2 (197 tokens) and trained on. All
models see the same images in the same order and start from the same weights; only the attention
differs. An interrupted run continues from its checkpoint.
"""

import argparse
import os
import platform
import time

from training import descend, learning_rate, optimiser_for
import torch
import torch.nn.functional as F

import fashion_mnist
import vit

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
)
parser.add_argument("--model", required=True, choices=vit.TRAINED_FROM_NOTHING)
parser.add_argument("--out", required=True, help="model file to write (.h5)")
parser.add_argument(
    "--checkpoint", help="where to keep the state of an unfinished run (default: OUT.checkpoint)"
)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--coarse-images", type=int, default=300_000, help="images seen at patch 4")
parser.add_argument("--fine-images", type=int, default=60_000, help="images seen at patch 2")
arguments = parser.parse_args()
checkpoint_path = arguments.checkpoint or arguments.out + ".checkpoint"

# patch side, steps, highest learning rate
STAGES = [
    (4, arguments.coarse_images // arguments.batch, 2e-3),
    (2, arguments.fine_images // arguments.batch, 1e-3),
]
WARM_UP_STEPS = 200
WEIGHT_DECAY = 0.05


class BatchOrder:
    """Batch number -> image indices: a fresh shuffle every epoch, a function of the seed alone so
    that a run can continue.
    """

    def __init__(self, images, batch, seed):
        self.images, self.batch, self.seed = images, batch, seed
        self.epoch = None

    def __getitem__(self, number):
        per_epoch = self.images // self.batch
        epoch, place = divmod(number, per_epoch)
        if epoch != self.epoch:
            self.epoch = epoch
            random = torch.Generator().manual_seed(1000 * self.seed + epoch)
            self.order = torch.randperm(self.images, generator=random)
        return self.order[place * self.batch : (place + 1) * self.batch]


torch.manual_seed(arguments.seed)
images, labels = fashion_mnist.labelled("train")
test_images, test_labels = fashion_mnist.labelled("t10k")
order = BatchOrder(len(images), arguments.batch, arguments.seed)

state = {"stage": 0, "step": 0, "model": None, "optimiser": None, "seconds": 0, "accuracies": []}
if os.path.exists(checkpoint_path):
    state = torch.load(checkpoint_path)
model = vit.VisionTransformer(vit.MECHANISMS[arguments.model], STAGES[state["stage"]][0])
if state["model"]:
    model.load_state_dict(state["model"])

for stage in range(state["stage"], len(STAGES)):
    patch, steps, highest = STAGES[stage]
    if model.patch != patch:
        model = vit.refine(model)
    optimiser = optimiser_for(model, vit.decays, WEIGHT_DECAY)
    if state["optimiser"]:
        optimiser.load_state_dict(state["optimiser"])
    first_batch = sum(s for _, s, _ in STAGES[:stage])
    began, saved, mean_loss = time.time() - state["seconds"], time.time(), None
    for step in range(state["step"], steps):
        chosen = order[first_batch + step]
        loss = F.cross_entropy(model(images[chosen]), labels[chosen])
        descend(model, optimiser, loss, learning_rate(step, steps, highest, WARM_UP_STEPS))
        mean_loss = loss.item() if mean_loss is None else 0.99 * mean_loss + 0.01 * loss.item()
        if (step + 1) % 100 == 0:
            seconds = time.time() - began
            print(f"patch {patch}  step {step + 1}/{steps}  loss {mean_loss:.4f}  {seconds:.0f} s")
        if time.time() - saved > 60:
            state.update(stage=stage, step=step + 1, seconds=time.time() - began)
            state.update(model=model.state_dict(), optimiser=optimiser.state_dict())
            torch.save(state, checkpoint_path)
            saved = time.time()

    state.update(stage=stage + 1, step=0, optimiser=None, seconds=time.time() - began)
    state["accuracies"].append(vit.accuracy(model, test_images, test_labels))
    print(f"patch {patch}  test accuracy {state['accuracies'][-1]:.4f}")

vit.write(
    model,
    arguments.out,
    arguments.model,
    {
        "dataset": "Fashion-MNIST",
        "recipe": "sample_data/recipe/train.py",
        "seed": arguments.seed,
        "batch": arguments.batch,
        "stages": [
            {
                "patch": patch,
                "images_seen": steps * arguments.batch,
                "steps": steps,
                "highest_learning_rate": rate,
                "test_accuracy": reached,
            }
            for (patch, steps, rate), reached in zip(STAGES, state["accuracies"])
        ],
        "images_seen": sum(steps for _, steps, _ in STAGES) * arguments.batch,
        "optimiser": "AdamW",
        "weight_decay": WEIGHT_DECAY,
        "augmentation": "none",
        "test_accuracy": state["accuracies"][-1],
        "test_images": len(test_labels),
        "seconds": round(state["seconds"]),
        "threads": 1,
        "machine": platform.machine(),
        "torch": torch.__version__,
    },
)
if os.path.exists(checkpoint_path):
    os.remove(checkpoint_path)
