"""The Coq development: which files there are, which rows of `proofs_check` they prove, how they are compiled, on which axioms they rest.

    python -m proofs_check coq                       compile everything, and write coq/assumptions.txt
    python -m proofs_check coq CERTIFICATE           prove the figures of a certificate from its facts

Coq 8.16 with Coquelicot and Interval is needed; on Debian the packages of `PACKAGES`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).with_name("coq")
ASSUMPTIONS = FOLDER / "assumptions.txt"
PACKAGES = ("coq", "libcoq-coquelicot", "libcoq-interval")

# in the order of their imports
FILES = (
    "Space",
    "Normal",
    "Laws",
    "Model",
    "Shift",
    "ClosedForms",
    "NoisyGD",
    "Theorem51",
    "Sums",
    "Staged",
    "Rounding",
    "Tilt",
    "CounterExamples",
    "Formulas",
    "Values",
)

# row of the table -> what of it is proven in Coq, and what of it is not
PROVEN: dict[str, tuple[tuple[str, ...], str]] = {
    "S.gdp-bound": (
        ("Shift.shifted_interpolation", "Shift.no_shifts_cost_less", "NoisyGD.noisy_descent", "NoisyGD.noisy_descent_gdp", "Formulas.shifted_gdp_is_proven"),
        "the bound, from the interface's axioms, and that no feasible shifts cost less; equality on the linear loss numerically",
    ),
    "S.gdp-limit": (
        ("ClosedForms.gdp_below_limit", "ClosedForms.gdp_tends_to_limit", "ClosedForms.noise_variance_calibrates"),
        "all of it over the real numbers; the float functions by values",
    ),
    "S.deletion-steps": (
        ("ClosedForms.deletion_steps_enough", "ClosedForms.deletion_steps_least"),
        "enough and least over the real numbers; rounding to a whole number numerically",
    ),
    "S.weakly-convex": (
        ("NoisyGD.step_contracts", "NoisyGD.noisy_descent"),
        "from cocoercivity of the gradient; that a Hessian between two numbers gives it (Baillon and Haddad) is cited",
    ),
    "S.diffuse": (
        ("NoisyGD.solved_then_diffused", "Formulas.minimiser_gdp_is_proven"),
        "the bound from starts z apart; that answers of two solvers are so near is by hand",
    ),
    "G.12": (("NoisyGD.step_contracts",), "the contraction; bijectivity by hand"),
    "5.1(1)": (
        ("Theorem51.theorem_5_1_privacy",),
        "by the tight bound, which is never above the printed one; the printed proof numerically",
    ),
    "5.1(2)": (("Theorem51.theorem_5_1_deletion",), "by the tight bound; rounding K to a whole number numerically"),
    "5.1-slack": (("Theorem51.tight_below_printed",), "that the tight bound is never above the printed one; by how much numerically"),
    "5.1-batch": (("Theorem51.batch_sentence_fails", "Theorem51.batch_sentence_repaired"), "all of it"),
    "S.gdp": (
        ("Laws.gdp_epsilon_delta", "Normal.delta_monotone", "Normal.delta_antitone", "Laws.gdp_symmetric"),
        "the conversion, from the definition by tests, and its monotonicity; the floats numerically",
    ),
    "M.account": (
        ("Sums.account_of_draws", "Sums.joint_law_is_a_shift", "Sums.noise_can_be_read_off", "Sums.later_draws_owe_nothing"),
        "the account with a cap for each draw, trees and adaptive requests included, and the exact joint law of chains under fixed requests; a cap on whole paths (martingale) by hand",
    ),
    "M.equaliser": (
        ("Sums.leaving_costs_the_same", "Sums.staying_costs_the_same", "Sums.schedule_cost"),
        "over the real numbers; rounding c to 20 bits numerically",
    ),
    "T5.ancestors": (("Staged.staged_training",), "all of it, for schedules fixed beforehand"),
    "S.exact-steps": (
        ("Rounding.exact_steps_cost", "Rounding.machine_step", "Rounding.discrete_step", "Formulas.exact_sum_is_proven"),
        "the rounding lemma and the closed form; in Gaussian DP the discrete Gaussian's τ² − 144h² is a hypothesis, in Rényi divergence τ² an axiom with its citation",
    ),
    "S.taut-string": (
        ("Rounding.split_on_grid", "Shift.best_shifts", "Shift.no_shifts_cost_less"),
        "one segment, where gaps never rise; several segments numerically",
    ),
    "OP.tilt": (("Tilt.tilt_identity", "Tilt.tilt_bound"), "in one dimension, Jacobian and mass included; in several the identity of squares alone"),
    "OP.one-direction": (
        ("Tilt.replace_hessian", "Tilt.replace_cost_closed", "Tilt.zero_out_cost_without_dominates"),
        "the Hessian cost of one record in one dimension; determinants of rank one by hand",
    ),
    "F.3": (("CounterExamples.lemma_F_3_fails",), "the counter-example"),
    "4.3": (
        ("CounterExamples.theorem_4_3_fails", "CounterExamples.fixed_requests_reveal_nothing", "CounterExamples.randomised_response_privacy"),
        "the counter-example, with nine records, over every reference law",
    ),
}  # fmt: skip

# theorems that no row states by itself
FURTHER = (
    "Laws.gdp_group",
    "Laws.gdp_process",
    "ClosedForms.noisy_steps_cost",
    "ClosedForms.minimiser_parameters",
    "Sums.later_draws_one_law",
    "Sums.charge_of_person",
    "Sums.joiner_cost",
    "Tilt.tilt_of_squares",
    "Formulas.shifted_gdp_forever_is_proven",
    "Formulas.printed_rate_is_proven",
    "Values.evaluates_rightly",
)


def theorems() -> list[str]:
    """All theorems that are listed, each once, by file and name."""
    named = {name for names, _ in PROVEN.values() for name in names} | set(FURTHER)
    return sorted(named, key=lambda name: (FILES.index(name.partition(".")[0]), name))


def why_not() -> str | None:
    """Why nothing can be compiled here, or None."""
    if shutil.which("coqc") is None:
        return f"coqc is not installed: apt-get install {' '.join(PACKAGES)}"
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    for library in ("Coquelicot", "Interval"):
        if not (Path(where) / "user-contrib" / library).is_dir():
            return f"Coq's library {library} is not installed: apt-get install {' '.join(PACKAGES)}"
    return None


def compile_file(path: Path, folder: Path, seconds: float = 600) -> subprocess.CompletedProcess[str]:
    """Run coqc on one file, beside the compiled development in `folder`."""
    silent = "-ambiguous-paths,-notation-overridden,-deprecated"
    return subprocess.run(
        ["coqc", "-q", "-w", silent, "-Q", str(folder), "NoisyGD", str(path)],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


class Refused(RuntimeError):
    """Coq does not accept a file."""


def compile_all(folder: Path, names: Sequence[str] = FILES) -> None:
    """Compile files of the development into a folder.

    Raises:
        Refused: If Coq refuses one.
    """
    for name in names:
        copied = folder / f"{name}.v"
        shutil.copyfile(FOLDER / f"{name}.v", copied)
        outcome = compile_file(copied, folder)
        if outcome.returncode:
            raise Refused(f"{name}.v: {outcome.stderr.strip()}")


@contextmanager
def temporary_build(names: Sequence[str] = FILES) -> Iterator[Path]:
    """A folder that holds the compiled development."""
    with tempfile.TemporaryDirectory() as folder:
        compile_all(Path(folder), names)
        yield Path(folder)


def assumptions(folder: Path) -> str:
    """What `Print Assumptions` says of every listed theorem: the names of axioms, by theorem."""
    lines = [f"From NoisyGD Require {name}." for name in FILES]
    lines += [f'Goal True. idtac "@ {name}". Abort.\nPrint Assumptions {name}.' for name in theorems()]
    source = folder / "Assumptions.v"
    source.write_text("\n".join(lines) + "\n")
    outcome = compile_file(source, folder)
    if outcome.returncode:
        raise Refused(outcome.stderr.strip())
    parts = re.split(r"^@ ", outcome.stdout, flags=re.M)[1:]
    found = []
    for part in parts:
        name, _, printed = part.partition("\n")
        axioms = sorted(re.findall(r"^([\w.']+)(?= :|$)", printed.replace("Axioms:", ""), flags=re.M))
        found.append("\n".join([f"{name}:", *(f"  {axiom}" for axiom in axioms or ["none"])]))
    return "\n".join(found) + "\n"


def section() -> list[str]:
    """Lines of the table of results: what is proven in Coq, and what of the same row is not."""
    lines = [
        "## What is proven in Coq",
        "",
        "Compiled by `make coq`; `proofs_check/coq/assumptions.txt` lists the axioms under each theorem. Rows that are not here rest on their evidence above",
        "and on proofs by hand.",
        "",
    ]
    for key, (names, extent) in PROVEN.items():
        lines.append(f"- **{key}**: {extent} ({', '.join(f'`{name}`' for name in names)})")
    return lines
