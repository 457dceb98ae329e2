"""Shared by the scripts that write cases/: spec text, PyTorch's own errors, the summary line."""

import json

import torch

def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)


def spec_text(about, script, tables):
    lines = [f"# Oracle fixture: {about}.", f"# Written by {script}."]
    for table, keys in tables.items():
        lines += ["", f"[{table}]"] + [f"{key} = {toml_value(v)}" for key, v in keys.items()]
    return "\n".join(lines) + "\n"


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def relative_errors(result, reference):
    """||result - reference|| / ||reference|| of every tensor."""
    return {name: float((result[name] - value).norm() / value.norm())
            for name, value in sorted(reference.items())}


def nudged(model, member):
    """Member 0 is the model itself; the others have weights about 1 % away."""
    generator = torch.Generator().manual_seed(member)
    for p in model.parameters() if member else []:
        p.data *= 1 + 0.01 * torch.randn(p.shape, generator=generator)
    return model


def root_mean_square(errors):
    return (sum(e ** 2 for e in errors) / len(errors)) ** 0.5


def own_errors(run, references, typical):
    """PyTorch's error in run(member) at a type: that of the case itself, or the typical one if larger.

    One run's error in a single loss, or in the few weights whose gradient is near the optimizer's
    epsilon, is luck, and a bound must not depend on it. `typical` combines the errors at several
    starting points, each with its own reference.
    """
    errors = [relative_errors(run(m), reference) for m, reference in enumerate(references)]
    return {name: float(f"{max(own, typical([e[name] for e in errors])):.6g}")
            for name, own in errors[0].items()}


def report(name, folder, reference, errors):
    """Prints a summary line with losses and errors; checks that no gradient is all zero."""
    grads = [value for key, value in reference.items() if key.startswith("grad.")]
    assert all(g.any() for g in grads), f"{name}: a gradient is all zero"
    norm = sum(g.square().sum() for g in grads).sqrt()
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    print(f"{name:16} {size // 1024:5} KiB  loss {reference['losses'][0]:.4f} -> "
          f"{reference['losses'][-1]:.4f}  grad norm {norm:.3f}  worst error " +
          "  ".join(f"{dtype} {max(of.values()):.1e}" for dtype, of in errors.items()), flush=True)
