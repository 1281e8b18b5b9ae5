"""What both training scripts share. Import it before torch."""

import ctypes
import math
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when torch loads
import torch

torch.set_num_threads(1)
# Keep freed activations in the process: giving them back to the kernel at every step costs a
# third of the time in page faults.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
ctypes.CDLL(None).mallopt(M_TRIM_THRESHOLD, 2**25)
ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 2**25)


def learning_rate(step, steps, highest, warm_up_steps):
    """Linear warm-up, then a cosine down to nothing."""
    if step < warm_up_steps:
        return highest * (step + 1) / warm_up_steps
    progress = (step - warm_up_steps) / (steps - warm_up_steps)
    return highest * 0.5 * (1 + math.cos(math.pi * progress))


def optimiser_for(model, decays, weight_decay):
    """AdamW; weight decay only on the parameters that decays(name, parameter) names."""
    groups = {True: [], False: []}
    for name, parameter in model.named_parameters():
        groups[decays(name, parameter)].append(parameter)
    return torch.optim.AdamW(
        [
            {"params": groups[True], "weight_decay": weight_decay},
            {"params": groups[False], "weight_decay": 0},
        ],
        foreach=True,
    )


def descend(model, optimiser, loss, rate):
    """One step; gradients longer than 1 are shortened to 1."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
