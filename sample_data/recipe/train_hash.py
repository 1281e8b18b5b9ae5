#!/usr/bin/python3
"""Turns the trained softmax model into one with hashed attention, as EcoFormer does.

Queries and keys become one, each head's hash function is learned from the similarities of its own
tokens, and the network is trained on with it (paper mode: EcoFormer, Eq. 9).

    python3 train_hash.py --from ../models/fashion-softmax.h5 --out ../models/fashion-hash.h5
"""

import argparse
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
parser.add_argument("--from", dest="source", required=True, help="the softmax model (.h5)")
parser.add_argument("--out", required=True, help="model file to write (.h5)")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--images", type=int, default=60_000)
arguments = parser.parse_args()
HIGHEST_RATE, WARM_UP_STEPS, WEIGHT_DECAY = 1e-3, 100, 0.05
# Images that the hash functions are learned from, and how often in the whole run.
LEARNING_IMAGES, UPDATES = 8, 2


def hashed(softmax_model):
    """The same weights, with the mean of the query and the key projection for both."""
    model = vit.VisionTransformer(vit.MECHANISMS["fashion-hash"], softmax_model.patch)
    state = softmax_model.state_dict()
    for name in [name for name in state if ".attn.qkv." in name]:
        q, k, v = state.pop(name).chunk(3)
        state[name.replace("qkv", "to_qk")], state[name.replace("qkv", "to_v")] = (q + k) / 2, v
    model.load_state_dict(state, strict=False)
    return model


def learn_hashes(model, images, first):
    """Layer by layer, each on the tokens that the layers below it, hashed already, hand up."""
    with torch.no_grad():
        x = model.embed(images)
    for layer, block in enumerate(model.blocks):
        with torch.no_grad():
            tokens = block.attn.tokens_to_hash(block.norm1(x))
        if first:
            block.attn.fast_attention.ksh.choose_anchors(tokens)
        before, after = block.attn.fast_attention.ksh.learn(tokens)
        print(f"  layer {layer}: reconstruction error {before:.3f} -> {after:.3f}", flush=True)
        with torch.no_grad():
            x = block(x)


torch.manual_seed(arguments.seed)
images, labels = fashion_mnist.labelled("train")
test_images, test_labels = fashion_mnist.labelled("t10k")
model = hashed(vit.read(arguments.source))
began, processor_began = time.time(), time.process_time()
steps = arguments.images // arguments.batch
order = torch.randperm(len(images))
optimiser = optimiser_for(model, vit.decays, WEIGHT_DECAY)
updates = {steps * update // UPDATES for update in range(UPDATES)}
for step in range(steps):
    if step in updates:
        learn_hashes(model, images[torch.randperm(len(images))[:LEARNING_IMAGES]], step == 0)
    chosen = order[torch.arange(step * arguments.batch, (step + 1) * arguments.batch) % len(order)]
    loss = F.cross_entropy(model(images[chosen]), labels[chosen])
    descend(model, optimiser, loss, learning_rate(step, steps, HIGHEST_RATE, WARM_UP_STEPS))
    if (step + 1) % 25 == 0:
        seconds = time.process_time() - processor_began
        print(f"step {step + 1}/{steps}  loss {loss.item():.4f}  {seconds:.0f} s", flush=True)
seconds, processor_seconds = time.time() - began, time.process_time() - processor_began
# In double precision: a code's bit does not forgive a rounded zero.
reached = vit.accuracy(model.double(), test_images.double(), test_labels)
print(f"test accuracy {reached:.4f}")
vit.write(
    model,
    arguments.out,
    "fashion-hash",
    {
        "dataset": "Fashion-MNIST",
        "recipe": "sample_data/recipe/train_hash.py",
        "from": "fashion-softmax",
        "seed": arguments.seed,
        "batch": arguments.batch,
        "steps": steps,
        "images_seen": steps * arguments.batch,
        "optimiser": "AdamW",
        "highest_learning_rate": HIGHEST_RATE,
        "weight_decay": WEIGHT_DECAY,
        "augmentation": "none",
        "hash_updates": UPDATES,
        "test_accuracy": reached,
        "test_images": len(test_labels),
        "seconds": round(seconds),
        "processor_seconds": round(processor_seconds),
        "threads": 1,
        "machine": platform.machine(),
        "torch": torch.__version__,
    },
)
