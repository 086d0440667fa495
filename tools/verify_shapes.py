"""Every answer of a shape rule in C beside FakeTensorMode, over small models as transformers has them, forward and train.

Run by hand (some minutes): `python tools/verify_shapes.py [name …]`. Prints how many answers were compared; exits with 1 if any differs.
"""
import sys
import warnings

import torch
import torch.nn.functional as F

import jedlik
from jedlik import _fakes

TINY = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=99)


def tokens(*shape):
    return torch.randint(0, 99, shape)


def language(head, config, **more):
    import transformers
    c = getattr(transformers, config)(**{**TINY, **more})
    return getattr(transformers, head)(c), {"input_ids": tokens(2, 12), "labels": tokens(2, 12)}


def t5():
    import transformers
    c = transformers.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0)
    return transformers.T5ForConditionalGeneration(c), {"input_ids": tokens(2, 12), "labels": tokens(2, 7)}


def pixels(head, config, **more):
    import transformers
    c = getattr(transformers, config)(**more)
    return getattr(transformers, head)(c), {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.tensor([0, 1])}


def classifier():
    from torch import nn
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(5))
    net(torch.zeros(1, 3, 16, 16))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x, labels):
            y = self.net(x)
            return F.cross_entropy(y, labels), y
    return Net(), {"x": torch.randn(2, 3, 16, 16), "labels": torch.tensor([0, 1])}


MODELS = {
    "llama": lambda: language("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2),
    "bert": lambda: language("BertForMaskedLM", "BertConfig"),
    "gpt2": lambda: language("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4),
    "t5": t5,
    "vit": lambda: pixels("ViTForImageClassification", "ViTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                          intermediate_size=48, image_size=32, patch_size=8),
    "resnet": lambda: pixels("ResNetForImageClassification", "ResNetConfig", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1],
                             layer_type="basic"),
    "classifier": classifier,
}


def run(name, train):
    torch.manual_seed(0)
    jedlik.reset()
    model, inputs = MODELS[name]()
    model.train(train)
    compiled = jedlik.compile(model, backend="eager")
    if train:
        opt = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            out = compiled(**inputs)
            (out[0] if isinstance(out, tuple) else out.loss).backward()
            jedlik.compile(opt.step, backend="eager")()
            opt.zero_grad()
    else:
        with torch.no_grad():
            compiled(**inputs)


def main(only):
    warnings.simplefilter("ignore")
    jedlik.config.verify_shapes = True
    for name in only or MODELS:
        for train in (False, True):
            before, found = _fakes.checked, len(_fakes.differences)
            run(name, train)
            print(f"{name:12}{'train' if train else 'forward':8} {_fakes.checked - before:5} answers compared, "
                  f"{len(_fakes.differences) - found} differ", flush=True)
    for name, given, expected in _fakes.differences:
        print("  ", name, given, expected)
    return 1 if _fakes.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
