"""Attnscope: a microscope for transformer attention.

    import attnscope
    model = attnscope.open("deit.safetensors")
    trace = model.run("cat.png")
    trace.maps[3]                                    # NumPy [heads, N, N], without a copy
    attnscope.spectrum(trace)                        # singular values and ranks of every map
    attnscope.heads(trace).to_pandas()               # entropy, sinks, distances, ranks per head
    attnscope.show(trace)                            # in the window of the program
    attnscope.kernels.adder(q, k, v, identity=True)  # any mechanism on plain arrays

Long calls run without Python's lock, show a bar after one second, and end on Ctrl-C. `progress=`
takes False (no bar), True (one at once) or a function of a number from 0 to 1 and a text. Errors are attnscope.Error, with the
words of the command line.
"""

from . import kernels
from ._attnscope import Figure, Model, Report, Trace, __version__
from .analyses import (compare, components, energy, experts, frequencies, groups, heads, lens,
                       mixing, relevance, rollout, spectrum, weights)
from .errors import Error, FileError, InputOutputError, UsageError
from .figures import figure, figures
from .hook import hook
from .html import Page, html
from .models import open, open_trace
from .show import show
from .studies import ablate, recipe_settings, sweep, train, truncate
from .traces import maps

__all__ = [
    "Error", "Figure", "FileError", "InputOutputError", "Model", "Page", "Report", "Trace",
    "UsageError", "__version__", "ablate", "compare", "components", "energy", "experts", "figure",
    "figures", "frequencies", "groups", "heads", "hook", "html", "kernels", "lens", "maps", "mixing",
    "open", "open_trace", "recipe_settings", "relevance", "rollout", "show", "spectrum", "sweep",
    "train", "truncate", "weights",
]
