"""make demo: real models through jedlik, beside plain PyTorch and stock torch.compile.

Small GPT-2, Llama, BERT, ViT and ResNet with random weights, built from transformers' configurations; nothing is
downloaded. Each is run plainly and compiled, in inference and for one training step; outputs, gradients and updated
weights have to be equal, bit for bit with the eager backend. Every model and side is a process of its own, so that a first call
is what a user's first call is.

    --compile both | jedlik | stock    which sides to show
    --only REGEX                       some models
    --no-inductor                      without the Inductor row
"""
import argparse
import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import time

SIDES = {"jedlik": "jedlik:compile", "stock": "torch:compile"}
INDUCTOR = "bert"     # the model that is also run with Inductor
CHILD_SECONDS = 280


# -- The models ------------------------------------------------------------------------
# Each gives (model, inputs): a few layers, big enough to be real, small enough for a laptop.

def tokens(vocabulary):
    import torch
    return torch.randint(0, vocabulary, (2, 24))


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    ids = tokens(400)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=400, n_positions=64, n_embd=96, n_layer=4, n_head=4, bos_token_id=0,
                                       eos_token_id=0))
    return model, {"input_ids": ids, "labels": ids}


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    ids = tokens(400)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=400, hidden_size=96, intermediate_size=192, num_hidden_layers=4,
                                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64))
    return model, {"input_ids": ids, "labels": ids}


def bert():
    import torch
    from transformers import BertConfig, BertForSequenceClassification
    model = BertForSequenceClassification(BertConfig(vocab_size=400, hidden_size=96, intermediate_size=192,
                                                     num_hidden_layers=4, num_attention_heads=4, num_labels=3))
    return model, {"input_ids": tokens(400), "attention_mask": torch.ones(2, 24, dtype=torch.long),
                   "labels": torch.tensor([0, 2])}


def vit():
    import torch
    from transformers import ViTConfig, ViTForImageClassification
    model = ViTForImageClassification(ViTConfig(hidden_size=96, intermediate_size=192, num_hidden_layers=4,
                                                num_attention_heads=4, image_size=32, patch_size=8, num_labels=3))
    return model, {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.tensor([0, 2])}


def resnet():
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification
    model = ResNetForImageClassification(ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64, 64],
                                                      depths=[1, 1, 1, 1], layer_type="basic", num_labels=3))
    return model, {"pixel_values": torch.randn(2, 3, 48, 48), "labels": torch.tensor([0, 2])}


MODELS = {"gpt2": ("GPT-2", gpt2), "llama": ("Llama", llama), "bert": ("BERT", bert), "vit": ("ViT", vit),
          "resnet": ("ResNet", resnet)}


# -- One model on one side, in a process of its own ---------------------------------------

class Counting:
    """A backend that counts graphs and operations and hands them on."""

    def __init__(self, inner=None):
        self.inner, self.graphs, self.ops = inner, 0, 0

    def __call__(self, gm, example_inputs):
        self.graphs += 1
        self.ops += sum(n.op in ("call_function", "call_method", "call_module") for n in gm.graph.nodes)
        return self.inner(gm, example_inputs) if self.inner else gm.forward


def fixed(gm, example_inputs):
    """Runs the graph once and repeats its first result: what is left of a call is the front-end's part."""
    kept = []

    def run(*args):
        if not kept:
            kept.append(gm.forward(*args))
        return kept[0]
    return run


def tensors(value):
    """Every tensor in an output, in order."""
    import torch
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif dataclasses.is_dataclass(value):
        yield from tensors(vars(value))


def equal(expected, actual, exact):
    """The largest difference, or None where there is none that counts."""
    import torch
    expected, actual = list(tensors(expected)), list(tensors(actual))
    if len(expected) != len(actual):
        return f"{len(actual)} tensors instead of {len(expected)}"
    for number, (a, b) in enumerate(zip(expected, actual)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"tensor {number}: {b.dtype} {tuple(b.shape)} instead of {a.dtype} {tuple(a.shape)}"
        if not (torch.equal(a, b) if exact else torch.allclose(a, b, rtol=1e-3, atol=1e-4)):
            return f"tensor {number} differs by {(a - b).abs().max():.3g}"
    return None


def built(name, train):
    import torch
    torch.manual_seed(0)
    model, inputs = MODELS[name][1]()
    return model.train(train), inputs


def step(call, model, inputs, train):
    """Inference, or one training step: everything that can be compared afterwards."""
    import torch
    torch.manual_seed(1)
    with torch.set_grad_enabled(train):
        output = call(**inputs)
    if not train:
        return {"output": output}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    output.loss.backward()
    grads = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    optimizer.step()
    return {"output": output, "grads": grads, "weights": list(model.parameters()), "buffers": list(model.buffers())}


def micros(call, inputs, rounds=3, seconds=0.1):
    """The best of a few rounds, microseconds a call."""
    import torch
    with torch.no_grad():
        call(**inputs)
        start = time.perf_counter()
        call(**inputs)
        once = time.perf_counter() - start
        count = max(3, min(2000, int(seconds / max(once, 1e-6))))
        best = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(count):
                call(**inputs)
            best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6


def break_count(side):
    if side == "jedlik":
        import jedlik
        return sum(jedlik.stats().get("breaks", {}).values())
    from torch._dynamo.utils import counters
    return sum(counters["graph_break"].values())


def warm_up():
    """One plain operation of each kind, so that no side's first call pays for torch's own start."""
    import torch
    x = torch.randn(2, 4, requires_grad=True)
    torch.nn.functional.linear(x, torch.randn(3, 4)).sum().backward()


def run_child(name, side, train, backend):
    import torch
    torch.set_num_threads(1)
    compile = getattr(importlib.import_module(SIDES[side].split(":")[0]), "compile")
    plain, inputs = built(name, train)
    warm_up()
    expected = step(plain, plain, inputs, train)
    model, _ = built(name, train)
    count = None if backend == "inductor" else Counting()
    if backend == "inductor":
        import torch._inductor.config
        torch._inductor.config.fallback_random = True  # the same random numbers as plain PyTorch
    start = time.perf_counter()
    compiled = compile(model, backend=count or backend)
    actual = step(compiled, model, inputs, train)
    result = {"seconds": time.perf_counter() - start, "problem": equal(expected, actual, backend == "eager")}
    if count:
        result.update(graphs=count.graphs, ops=count.ops, breaks=break_count(side))
    if not train:
        result["plain_us"], result["call_us"] = micros(plain, inputs), micros(compiled, inputs)
        if backend == "eager":
            result["overhead_us"] = micros(compile(model, backend=fixed), inputs)
    return result


# -- The parent: children, progress, table -----------------------------------------------

@dataclasses.dataclass
class Job:
    name: str
    side: str
    train: bool
    backend: str
    prime: bool = False    # fills the on-disk cache, is not shown

    @property
    def title(self):
        what = "training" if self.train else "inference"
        return f"{MODELS[self.name][0]} {what}, {self.side}, {self.backend}" + (" (filling its cache)" * self.prime)


def jobs(sides, only, inductor):
    for name in MODELS:
        if re.search(only, name):
            for train in (False, True):
                for side in sides:
                    yield Job(name, side, train, "eager")
    if inductor and re.search(only, INDUCTOR):
        for side in sides:
            yield Job(INDUCTOR, side, False, "inductor", prime=True)
            yield Job(INDUCTOR, side, False, "inductor")


def run_job(job):
    """A job in a process of its own: its result, or {"problem": what went wrong}."""
    command = [sys.executable, "-m", "jedlik._demo", "--child", json.dumps(dataclasses.asdict(job))]
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=CHILD_SECONDS,
                               env={**os.environ, "PYTHONWARNINGS": "ignore"})
    except subprocess.TimeoutExpired:
        return {"problem": f"no result within {CHILD_SECONDS} s"}
    for line in reversed(child.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    last = (child.stderr.strip().splitlines() or [f"exit {child.returncode}"])[-1]
    return {"problem": last[:120] if child.returncode >= 0 else f"died of signal {-child.returncode}"}


COLUMNS = [("graphs", "graphs", "{}"), ("breaks", "breaks", "{}"), ("ops", "ops", "{}"),
           ("first call, s", "seconds", "{:.2f}"), ("overhead, µs", "overhead_us", "{:.0f}"),
           ("call, µs", "call_us", "{:.0f}")]


def cell(results, key, form):
    """The sides' figures beside each other: 'jedlik / stock'."""
    figures = [form.format(r[key]) if key in r else "–" for r in results]
    return " / ".join(figures) if set(figures) != {"–"} else ""


def row_of(key, by_side):
    name, train, backend = key
    results = list(by_side.values())
    problems = [f"[red]{side}: {r['problem']}[/]" for side, r in by_side.items() if r["problem"]]
    title = MODELS[name][0] + (", Inductor" if backend == "inductor" else "")
    cells = [cell(results, field, form) for _, field, form in COLUMNS]
    plain = [f"{min(r['plain_us'] for r in results if 'plain_us' in r):.0f}" for r in results if "plain_us" in r]
    return [title, "training" if train else "inference", "\n".join(problems) or "[green]equal[/]", *cells,
            plain[0] if plain else ""]


def show(console, sides, results):
    from rich.table import Table
    table = Table(title=f"figures: {' / '.join(sides)}", title_justify="left")
    for number, title in enumerate(["model", "", "against plain", *(c[0] for c in COLUMNS), "plain, µs"]):
        table.add_column(title, justify="left" if number < 3 else "right")
    for key, by_side in results.items():
        table.add_row(*row_of(key, by_side))
    console.print(table)
    console.print(LEGEND)


LEGEND = """against plain  outputs, and after a training step gradients and weights too; bit for bit, with Inductor within 1e-3
first call     from compile() to the first result in a fresh process, imports included; with Inductor its cache is warm
overhead       what the front-end adds to a call: guards, loading of inputs, dispatch, the graph itself left out
call, plain    a whole call, compiled and plain"""


def run_all(console, sides, todo):
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    results = {}
    columns = [TextColumn("{task.description:<46}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=len(todo))
        for job in todo:
            progress.update(task, description=job.title)
            result = run_job(job)
            if not job.prime:
                results.setdefault((job.name, job.train, job.backend), {})[job.side] = result
            progress.advance(task)
        progress.update(task, description="done")
    return results


def main():
    parser = argparse.ArgumentParser(prog="python -m jedlik._demo", description=__doc__.split("\n")[0])
    parser.add_argument("--compile", choices=["both", *SIDES], default="both")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        job = Job(**json.loads(options.child))
        print(json.dumps(run_child(job.name, job.side, job.train, job.backend)))
        return 0
    from rich.console import Console
    console = Console(width=None if sys.stdout.isatty() else 140)
    sides = list(SIDES) if options.compile == "both" else [options.compile]
    results = run_all(console, sides, list(jobs(sides, options.only, not options.no_inductor)))
    show(console, sides, results)
    ours = [r for by_side in results.values() for side, r in by_side.items() if side == sides[0]]
    return int(any(r["problem"] for r in ours))


if __name__ == "__main__":
    sys.exit(main())
