"""Changes of what a world holds: modules with their parameters, buffers, hooks and attributes, functions, classes, objects, optimizers, globals.

Takes: a World. Gives: pairs of a label and a function that makes the change and gives one that takes it back.
"""
import collections
import copy
import functools
import itertools
import pickle
import types

import torch
from change_kit import ABSENT, OTHER_TENSORS, Loud, Param, cleared, containers, filled, other_numbers, put, put_item, reordered
from torch import nn

import jedlik

# Modules.

def removed(handle):
    return handle.remove


def module_hooks(m):
    def twice(mod, args, out):
        return out * 2 if isinstance(out, torch.Tensor) else None
    yield "hook", lambda: removed(m.register_forward_hook(twice))
    yield "hook none", lambda: removed(m.register_forward_hook(lambda *a: None))
    yield "hook first", lambda: removed(m.register_forward_hook(twice, prepend=True))
    yield "hook kwargs", lambda: removed(m.register_forward_hook(lambda mod, a, kw, out: twice(mod, a, out), with_kwargs=True))
    yield "hook always", lambda: removed(m.register_forward_hook(twice, always_call=True))
    yield "pre", lambda: removed(m.register_forward_pre_hook(lambda mod,
                                                             a: tuple(x * 2 if isinstance(x,
                                                                                          torch.Tensor) and x.is_floating_point() else x for x in a)))
    yield "pre none", lambda: removed(m.register_forward_pre_hook(lambda mod, a: None))
    yield "pre kwargs", lambda: removed(m.register_forward_pre_hook(lambda mod, a, kw: (a, kw), with_kwargs=True))
    yield "backward", lambda: removed(m.register_full_backward_hook(lambda mod, gi, go: tuple(None if g is None else g * 2 for g in gi)))
    yield "backward pre", lambda: removed(m.register_full_backward_pre_hook(lambda mod, go: tuple(None if g is None else g * 2 for g in go)))
    yield "state hook", lambda: removed(m.register_state_dict_post_hook(lambda *a: None))
    for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
        kept = getattr(m, name)
        if kept:
            yield f"without {name}", lambda name=name: put(m, name, collections.OrderedDict())
            yield f"cleared {name}", lambda kept=kept: cleared(kept)
            if len(kept) > 1:
                yield f"order {name}", lambda kept=kept: reordered(kept)


def parameter_changes(m, name, p):
    def data(make):
        def do():
            old = p.data
            p.data = make(old)
            return lambda: setattr(p, "data", old)
        return do

    def under(f):
        def do():
            with torch.no_grad():
                old = p.detach().clone()
                f()
            return lambda: p.data.copy_(old)
        return do

    def flag():
        p.requires_grad_(not p.requires_grad)
        return lambda: p.requires_grad_(not p.requires_grad)

    def as_plain():
        del m._parameters[name]
        setattr(m, name, p.detach().clone())

        def back():
            delattr(m, name)
            m.register_parameter(name, p)
        return back

    def gone():
        order = list(m._parameters.items())
        del m._parameters[name]
        return lambda: (m._parameters.clear(), m._parameters.update(order))

    def class_of():
        old = p.__class__
        p.__class__ = Param
        return lambda: setattr(p, "__class__", old)
    other = torch.full_like(p, 0.5)
    yield "new", lambda: put_item(m._parameters, name, nn.Parameter(other.clone()))
    yield "set", lambda: put(m, name, nn.Parameter(other.clone()))
    yield "frozen", lambda: put(m, name, nn.Parameter(p.detach().clone(), requires_grad=False))
    yield "subclass", lambda: put(m, name, Param(p.detach().clone()))
    yield "loud", lambda: put_item(m._parameters, name, p.detach().clone().as_subclass(Loud))
    yield "tensor in _parameters", lambda: put_item(m._parameters, name, other.clone())
    yield "None", lambda: put(m, name, None)
    yield "gone", gone
    yield "plain", as_plain
    yield "shadowed", lambda: put_item(m.__dict__, name, other.clone())
    yield "shadowed None", lambda: put_item(m.__dict__, name, None)
    yield "data", data(lambda t: t * 2)
    yield "data strides", data(lambda t: t.t().contiguous().t() if t.dim() == 2 else t.repeat_interleave(2)[::2] if t.dim() == 1 else t.clone())
    yield "data double", data(lambda t: t.double())
    yield "data shape", data(lambda t: torch.cat([t, t]))
    yield "data offset", data(lambda t: torch.cat([t, t])[len(t):] if t.dim() else t)
    yield "filled", under(lambda: p.fill_(0.25))
    yield "set_", under(lambda: p.set_(other.clone()))
    yield "resized", under(lambda: p.data.resize_(p.shape))
    yield "requires_grad", flag
    yield "class", class_of
    yield "tag", lambda: put(p, "tag", 7)
    if p.requires_grad:
        yield "grad", lambda: put(p, "grad", torch.ones_like(p))
        yield "grad hook", lambda: removed(p.register_hook(lambda g: g * 2))
        yield "post hook", lambda: removed(p.register_post_accumulate_grad_hook(lambda q: q.grad.mul_(2)))


def buffer_changes(m, name, b):
    if b is None:
        yield "tensor", lambda: put(m, name, torch.ones(1, 3))
        return
    yield "new", lambda: put(m, name, b.clone() if b.dtype == torch.bool else b + 1)
    yield "None", lambda: put(m, name, None)
    yield "double", lambda: put(m, name, b.double())
    yield "grad", lambda: put(m, name, b.detach().double().requires_grad_().float() if b.is_floating_point() else b.clone())
    yield "view", lambda: put(m, name, torch.stack([b, b])[1])
    yield "longer", lambda: put(m, name, torch.stack([b, b]))
    yield "requires_grad", lambda: b.is_floating_point() and put_grad(b)
    yield "parameter", lambda: put_item(m._buffers, name, nn.Parameter(b.clone(), requires_grad=False))
    yield "gone", lambda: put_item(m._buffers, name, ABSENT)
    yield "filled", lambda: filled(b)
    yield "number", lambda: put_item(m._buffers, name, 2)


def put_grad(b):
    b.requires_grad_()
    return lambda: b.requires_grad_(False)


def child_changes(m, name, child):
    if child is not None:
        yield "copy", lambda: put_item(m._modules, name, copy.deepcopy(child))
        yield "changed copy", lambda: put_item(m._modules, name, changed_copy(child))
        yield "identity", lambda: put_item(m._modules, name, nn.Identity())
        yield "wrapped", lambda: put_item(m._modules, name, nn.Sequential(child))
        yield "gone", lambda: put_item(m._modules, name, ABSENT)
        yield "shadowed", lambda: put_item(m.__dict__, name, nn.Identity())
        yield "function", lambda: put_item(m.__dict__, name, lambda x, *a, **k: x)
    yield "None", lambda: put_item(m._modules, name, None)


def changed_copy(child):
    made = copy.deepcopy(child)
    for p in made.parameters():
        p.data.add_(1)
    return made


def module_changes(path, m):
    def mode():
        old = [(s, s.training) for s in m.modules()]
        m.train(not m.training)
        return lambda: [setattr(s, "training", t) for s, t in old]

    def to(dtype):
        def do():
            m.to(dtype)
            return lambda: m.float()
        return do

    def frozen():
        old = [(p, p.requires_grad) for p in m.parameters()]
        m.requires_grad_(False)
        return lambda: [p.requires_grad_(g) for p, g in old]

    def cls(**own):
        def do():
            old = type(m)
            m.__class__ = type(old.__name__, (old,), own)
            return lambda: setattr(m, "__class__", old)
        return do

    def loaded():
        old = {k: v.clone() for k, v in m.state_dict().items()}
        m.load_state_dict({k: v + 1 if v.is_floating_point() else v for k, v in old.items()})
        return lambda: m.load_state_dict(old)

    def assigned():
        old = dict(m.state_dict(keep_vars=True))
        m.load_state_dict({k: v.detach() * 2 if v.is_floating_point() else v.clone() for k, v in old.items()}, assign=True)
        return lambda: m.load_state_dict(old, assign=True)
    forward = m.forward
    tables = {"mode": mode, "double": to(torch.float64), "bfloat16": to(torch.bfloat16), "frozen": frozen, "subclass": cls(),
              "subclass forward": cls(forward=lambda self, *a, **k: a[0]),
              "subclass __call__": cls(__call__=lambda self, *a, **k: a[0]), "subclass training": cls(training=property(lambda self: False)),
              "subclass __getattr__": cls(__getattr__=lambda self, n: nn.Module.__getattr__(self, n)),
              "subclass __getattribute__": cls(__getattribute__=lambda self, n: 3 if n == "in_features" else nn.Module.__getattribute__(self, n)),
              "subclass __setattr__": cls(__setattr__=lambda self, n, v: nn.Module.__setattr__(self, n, v)),
              "own forward": lambda: put_item(m.__dict__, "forward", lambda *a, **k: a[0]),
              "wrapped forward": lambda: put_item(m.__dict__, "forward", lambda *a, **k: forward(*a, **k)),
              "attribute": lambda: put(m, "extra_attribute", 4), "loaded": loaded, "assigned": assigned, "zero_grad": lambda: m.zero_grad(),
              "compiled impl": lambda: put(m, "_compiled_call_impl", lambda *a, **k: a[0]), "new buffer": lambda: put_new_buffer(m),
              "new child": lambda: put_new_child(m), "order of children": lambda: reordered(m._modules) if len(m._modules) > 1 else None,
              "order of parameters": lambda: reordered(m._parameters), "own __call__": lambda: put_item(m.__dict__, "__call__", lambda *a: 1),
              "call_impl": lambda: put_item(m.__dict__, "_call_impl", lambda *a, **k: a[0]),
              "requires_grad_": lambda: put(m, "requires_grad", False), "modules dict": lambda: put_item(m.__dict__, "_modules", dict(m._modules)),
              "parameters dict": lambda: put_item(m.__dict__, "_parameters", {n: p * 1 if p is not None else None for n, p in m._parameters.items()})}
    for name, do in tables.items():
        yield f"{path} {name}", do
    for name, do in module_hooks(m):
        yield f"{path} {name}", do
    for n, p in m._parameters.items():
        if p is not None:
            for name, do in parameter_changes(m, n, p):
                yield f"{path}.{n} {name}", do
        else:
            yield f"{path}.{n} parameter", lambda n=n: put(m, n, nn.Parameter(torch.ones(3)))
    for n, b in m._buffers.items():
        for name, do in buffer_changes(m, n, b):
            yield f"{path}.{n} {name}", do
    for n, child in m._modules.items():
        for name, do in child_changes(m, n, child):
            yield f"{path}.{n} {name}", do
    for (a, x), (b, y) in itertools.combinations(m._modules.items(), 2):
        yield f"{path} swap {a} {b}", lambda a=a, b=b: swapped(m._modules, a, b)
        for n, p in (x or m)._parameters.items():
            q = y and y._parameters.get(n)
            if p is not None and q is not None and p.shape == q.shape and p is not q:
                yield f"{path} tie {a} {b} {n}", lambda y=y, n=n, p=p: put(y, n, p)
    for n, v in m.__dict__.items():
        if not n.startswith("_"):
            yield from value_changes(f"{path}.{n}", m.__dict__, n, v)


def put_new_buffer(m):
    m.register_buffer("new_buffer", torch.ones(1))
    return lambda: m._buffers.pop("new_buffer")


def put_new_child(m):
    m.add_module("new_child", nn.Identity())
    return lambda: m._modules.pop("new_child")


def swapped(d, a, b):
    d[a], d[b] = d[b], d[a]
    return lambda: swapped(d, a, b)


# Values, functions, classes.

def value_changes(path, holder, key, v):
    """Another value in a dictionary: globals, attributes, items."""
    for name, other in other_numbers(v).items():
        yield f"{path} {name}", lambda other=other: put_item(holder, key, other)
    if isinstance(v, torch.Tensor):
        for name in ("values", "float64", "requires_grad", "transposed", "longer", "zero-dim", "parameter", "subclass", "loud subclass", "view",
                     "none", "number", "inference", "nonleaf"):
            yield f"{path} {name}", lambda name=name: put_item(holder, key, OTHER_TENSORS[name](v.detach()))
        yield f"{path} in place", lambda: filled(v.detach())
        yield f"{path} unsqueezed", lambda: reshaped(v)
        if v.is_leaf:
            yield f"{path} flag", lambda: (v.requires_grad_(not v.requires_grad), lambda: v.requires_grad_(not v.requires_grad))[1]
    for name, make in containers(v).items():
        yield f"{path} {name}", lambda make=make: put_item(holder, key, make(v))
    if isinstance(v, list):
        yield f"{path} append", lambda: (v.append(v[-1] if v else 1), v.pop)[1]
        yield f"{path} cleared", lambda: (lambda old: (v.clear(), lambda: v.extend(old))[1])(list(v))
        for i, x in enumerate(v[:2]):
            for name, other in other_numbers(x).items():
                yield f"{path}[{i}] {name}", lambda i=i, other=other: put_index(v, i, other)
    elif isinstance(v, dict):
        yield f"{path} reordered", lambda: reordered(v)
        yield f"{path} new key", lambda: put_item(v, "c", 3.0)
        for k, x in v.items():
            yield f"{path}[{k!r}] gone", lambda k=k: put_item(v, k, ABSENT)
            yield from value_changes(f"{path}[{k!r}]", v, k, x)
    elif isinstance(v, set):
        yield f"{path} added", lambda: (v.add("zz"), lambda: v.discard("zz"))[1]
    elif isinstance(v, collections.deque):
        yield f"{path} cleared", lambda: (v.clear(), lambda: None)[1]
        yield f"{path} endless", lambda: put_item(holder, key, collections.deque(v))
    yield f"{path} gone", lambda: put_item(holder, key, ABSENT)


def reshaped(t):
    with torch.no_grad():
        t.unsqueeze_(0)

    def back():
        with torch.no_grad():
            t.squeeze_(0)
    return back


def put_index(v, i, other):
    old = v[i]
    v[i] = other
    return lambda: v.__setitem__(i, old)


def function_changes(path, f):
    def attribute(name, value):
        def do():
            old = getattr(f, name)
            setattr(f, name, value)
            return lambda: setattr(f, name, old)
        return do
    code = f.__code__
    if code.co_consts and any(isinstance(c, (int, float)) and not isinstance(c, bool) for c in code.co_consts):
        consts = tuple(c + 1 if type(c) in (int, float) else c for c in code.co_consts)
        yield f"{path} __code__", attribute("__code__", code.replace(co_consts=consts))
    yield f"{path} same __code__", attribute("__code__", code.replace())
    if f.__defaults__:
        for i, d in enumerate(f.__defaults__):
            for name, other in other_numbers(d).items():
                yield f"{path} default {i} {name}", attribute("__defaults__", (*f.__defaults__[:i], other, *f.__defaults__[i + 1:]))
        yield f"{path} defaults None", attribute("__defaults__", None)
        yield f"{path} same defaults", attribute("__defaults__", tuple(list(f.__defaults__)))
    if f.__kwdefaults__:
        for k, d in f.__kwdefaults__.items():
            for name, other in other_numbers(d).items():
                yield f"{path} kwdefault {k} {name}", lambda k=k, other=other: put_item(f.__kwdefaults__, k, other)
        yield f"{path} kwdefaults None", attribute("__kwdefaults__", None)
    for name, cell in zip(code.co_freevars, f.__closure__ or ()):
        v = cell.cell_contents
        for n, other in other_numbers(v).items():
            yield f"{path}^{name} {n}", lambda cell=cell, other=other: put_cell(cell, other)
        if isinstance(v, torch.Tensor):
            for n in ("values", "float64", "requires_grad", "transposed", "longer", "subclass"):
                yield f"{path}^{name} {n}", lambda cell=cell, v=v, n=n: put_cell(cell, OTHER_TENSORS[n](v.detach()))
        yield f"{path}^{name} empty", lambda cell=cell: empty_cell(cell)
    yield f"{path} attribute", lambda: put(f, "note", 1)
    yield f"{path} __name__", attribute("__name__", "renamed")


def put_cell(cell, value):
    old = cell.cell_contents
    cell.cell_contents = value
    return lambda: setattr(cell, "cell_contents", old)


def empty_cell(cell):
    old = cell.cell_contents
    del cell.cell_contents
    return lambda: setattr(cell, "cell_contents", old)


def class_changes(path, c):
    for n, v in list(vars(c).items()):
        if n.startswith("__") or n in ("_abc_impl",) or isinstance(v, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            continue
        for name, other in other_numbers(v).items():
            yield f"{path}.{n} {name}", lambda n=n, other=other: put(c, n, other)
        if isinstance(v, types.FunctionType):
            yield f"{path}.{n} wrapped", lambda n=n, v=v: put(c, n, functools.wraps(v)(lambda *a, **k: v(*a, **k)))
            yield f"{path}.{n} static", lambda n=n, v=v: put(c, n, staticmethod(v))
            yield from function_changes(f"{path}.{n}()", v)
        elif isinstance(v, property):
            yield f"{path}.{n} property", lambda n=n: put(c, n, property(lambda self: 3))
            yield f"{path}.{n} value", lambda n=n: put(c, n, 5)
        elif isinstance(v, (staticmethod, classmethod)):
            yield f"{path}.{n} other", lambda n=n, v=v: put(c, n, type(v)(lambda *a, **k: a[-1] * 2 if isinstance(a[-1], torch.Tensor) else a[1] * 2))
            if isinstance(v.__func__, types.FunctionType):
                yield from function_changes(f"{path}.{n}()", v.__func__)
        yield f"{path}.{n} gone", lambda n=n: put(c, n, ABSENT)
    yield f"{path} attribute", lambda: put(c, "note", 1)
    yield f"{path} missing", lambda: put(c, "missing", 4)
    yield f"{path} __getattribute__", lambda: put(c, "__getattribute__", lambda self, n: object.__getattribute__(self, n))
    yield f"{path} __bool__", lambda: put(c, "__bool__", lambda self: False)
    yield f"{path} __len__", lambda: put(c, "__len__", lambda self: 0)
    yield f"{path} __eq__", lambda: put(c, "__eq__", lambda self, o: True)
    yield f"{path} __setattr__", lambda: put(c, "__setattr__", lambda self, n, v, old=c.__setattr__: old(self, n, v))
    yield f"{path} __dict__ shadow", lambda: put(c, "n", 3)


def object_changes(path, o):
    for n, v in list(vars(o).items()):
        yield from value_changes(f"{path}.{n}", o.__dict__, n, v)
    yield f"{path} attribute", lambda: put(o, "note", 1)
    yield f"{path} shift", lambda: put(o, "shift", 2.0)
    yield f"{path} missing", lambda: put(o, "missing", 2.0)

    def cls():
        old = type(o)
        o.__class__ = type(old.__name__, (old,), {})
        return lambda: setattr(o, "__class__", old)
    yield f"{path} class", cls
    for n in dir(type(o)):
        if not n.startswith("__") and n not in vars(o) and not isinstance(getattr(type(o), n), property):
            yield f"{path} own {n}", lambda n=n: put_item(o.__dict__, n, lambda *a, **k: a[0] if a else None)


def slot_changes(path, o):
    for n in type(o).__slots__:
        v = getattr(o, n)
        for name, other in other_numbers(v).items():
            yield f"{path}.{n} {name}", lambda n=n, other=other: put(o, n, other)
        if isinstance(v, torch.Tensor):
            for name in ("values", "float64", "transposed", "longer", "none"):
                yield f"{path}.{n} {name}", lambda n=n, v=v, name=name: put(o, n, OTHER_TENSORS[name](v))
        yield f"{path}.{n} gone", lambda n=n: put(o, n, ABSENT)


def optimizer_changes(path, opt):
    group = opt.param_groups[0]
    for k, v in group.items():
        if k != "params":
            for name, other in other_numbers(v).items():
                yield f"{path}[{k}] {name}", lambda k=k, other=other: put_item(group, k, other)

    def second():
        p = group["params"].pop()
        opt.add_param_group({"params": [p], "lr": 0.5})

        def back():
            del opt.param_groups[1]
            group["params"].append(p)
        return back

    def fewer():
        p = group["params"].pop()
        return lambda: group["params"].append(p)
    def doubled(o, args, kwargs):
        for g in o.param_groups:
            for p in g["params"]:
                p.data.mul_(2)
    yield f"{path} second group", second
    yield f"{path} fewer", fewer
    yield f"{path} state cleared", lambda: (opt.state.clear(), lambda: None)[1]
    yield f"{path} loaded", lambda: opt.load_state_dict(copy.deepcopy(opt.state_dict()))
    yield f"{path} pre hook", lambda: removed(opt.register_step_pre_hook(lambda o, a, k: None))
    yield f"{path} post hook", lambda: removed(opt.register_step_post_hook(doubled))
    yield f"{path} all hook", lambda: removed(torch.optim.optimizer.register_optimizer_step_post_hook(doubled))
    for s in opt.state.values():
        for k, v in s.items():
            yield f"{path} state {k}", lambda k=k: put_item(next(iter(opt.state.values())), k, torch.zeros(()))
    for i, p in enumerate(group["params"]):
        yield f"{path} grad None {i}", lambda p=p: put(p, "grad", None)
        yield f"{path} frozen {i}", lambda p=p: (p.requires_grad_(False), lambda: p.requires_grad_(True))[1]


def world_changes(w):
    """Of what the section's globals hold."""
    for path, v in list(w.values()):
        if isinstance(v, nn.Module):
            yield from module_changes(path, v)
        elif isinstance(v, types.FunctionType):
            yield from function_changes(path, v)
        elif isinstance(v, type):
            yield from class_changes(path, v)
        elif isinstance(v, torch.optim.Optimizer):
            yield from optimizer_changes(path, v)
        elif hasattr(type(v), "__slots__") and not hasattr(v, "__dict__") and type(v).__module__ == "world":
            yield from slot_changes(path, v)
        elif hasattr(v, "__dict__") and type(v).__module__ == "world" and not isinstance(v, torch.Tensor):
            yield from object_changes(path, v)
    for k in w.own:
        if k not in ("fn", "args") and not isinstance(w.g[k], nn.Module):
            yield from value_changes(k, w.g, k, w.g[k])
        if isinstance(w.g[k], types.FunctionType) and k not in ("fn", "args"):
            yield f"{k} other function", lambda k=k: put_item(w.g, k, lambda *a, **kw: a[0])
            yield f"{k} wrapped", lambda k=k, f=w.g[k]: put_item(w.g, k, functools.wraps(f)(lambda *a, **kw: f(*a, **kw)))
    yield from use_changes(w)


def use_changes(w):
    """Other ways to the same code: copies, second compilations."""
    def call(other):
        old, w.call = w.call, other
        return lambda: setattr(w, "call", old)

    def copied(f):
        made = copy.deepcopy(f)
        if isinstance(f, nn.Module):
            for p in made.parameters():
                p.data.add_(1)
        return made
    if isinstance(w.fn, nn.Module):
        yield "use a deepcopy of the compiled", lambda: call(copied(w.call))
        yield "use a compiled deepcopy", lambda: call(w.compile(copied(w.fn)))
        yield "use a pickled copy", lambda: call(w.compile(pickled(w.fn)))
        yield "use the module in a function", lambda: call(w.compile(lambda *a, **k: w.fn(*a, **k)))
    yield "use a second compilation", lambda: call(w.compile(w.fn))
    if isinstance(w.fn, types.FunctionType):
        f = w.fn
        g = dict(w.g)
        twin = types.FunctionType(f.__code__, g, f.__name__, f.__defaults__, f.__closure__)
        twin.__kwdefaults__ = f.__kwdefaults__
        for k in w.own:
            if isinstance(g[k], (int, float)) and not isinstance(g[k], bool):
                g[k] += 1
        yield "use a twin of the function", lambda: call(w.compile(twin))
    yield "use nothing: reset", lambda: jedlik.reset()
    yield "use nothing: grads", lambda: [setattr(v, "grad", torch.ones_like(v)) for _,
                                         v in w.values() if isinstance(v, torch.Tensor) and v.is_leaf and v.requires_grad] and None


def pickled(m):
    return pickle.loads(pickle.dumps(m, 5))
