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
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
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
    "Conversion",
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


@dataclass(frozen=True)
class Extent:
    """How far Coq proves a row of the table.

    Attributes:
        theorems: Its theorems, by file and name.
        coq: What they prove.
        numeric: What of the row is checked numerically or symbolically instead.
        by_hand: What of the row is proven by hand.
    """

    theorems: tuple[str, ...]
    coq: str
    numeric: str = ""
    by_hand: str = ""


PROVEN: dict[str, Extent] = {
    "S.gdp-bound": Extent(
        ("Shift.shifted_interpolation", "Shift.no_shifts_cost_less", "NoisyGD.noisy_descent", "NoisyGD.noisy_descent_gdp", "Formulas.shifted_gdp_is_proven"),
        "the bound, and that no feasible shifts cost less",
        numeric="equality on the linear loss",
    ),
    "S.gdp-limit": Extent(
        ("ClosedForms.gdp_below_limit", "ClosedForms.gdp_tends_to_limit", "ClosedForms.noise_variance_calibrates"),
        "all of it over the real numbers",
        numeric="the functions on floats",
    ),
    "S.deletion-steps": Extent(
        ("ClosedForms.deletion_steps_enough", "ClosedForms.deletion_steps_least"),
        "enough and least over the real numbers",
        numeric="rounding to an integer",
    ),
    "S.weakly-convex": Extent(
        ("NoisyGD.step_contracts", "NoisyGD.noisy_descent"),
        "from cocoercivity of the gradient",
        by_hand="that a Hessian between two numbers implies it (Baillon and Haddad, cited)",
    ),
    "S.diffuse": Extent(
        ("NoisyGD.solved_then_diffused", "Formulas.minimiser_gdp_is_proven"),
        "the bound from starts at distance z",
        by_hand="that the answers of two solvers are that near",
    ),
    "G.12": Extent(("NoisyGD.step_contracts",), "the contraction", by_hand="bijectivity"),
    "5.1(1)": Extent(
        ("Theorem51.theorem_5_1_privacy",),
        "the bound, through the tight one, which never exceeds it",
        numeric="the printed proof",
    ),
    "5.1(2)": Extent(
        ("Theorem51.theorem_5_1_deletion",),
        "the bound, through the tight one",
        numeric="rounding K to an integer",
    ),
    "5.1-slack": Extent(
        ("Theorem51.tight_below_printed",), "that the tight bound never exceeds the printed one", numeric="by how much"
    ),
    "5.1-batch": Extent(("Theorem51.batch_sentence_fails", "Theorem51.batch_sentence_repaired"), "all of it"),
    "S.gdp": Extent(
        ("Laws.gdp_epsilon_delta", "Normal.delta_monotone", "Normal.delta_antitone", "Laws.gdp_symmetric", "Conversion.converted", "Conversion.epsilon_shown"),
        "the conversion, from the definition by tests, its monotonicity, and the integral that bounds it for a certificate",
        numeric="the functions on floats",
    ),
    "S.optimal": Extent(
        ("Conversion.renyi_epsilon_delta", "Conversion.curve_converted"),
        "that every pair of tangents proves its (ε, δ)",
        numeric="that the search finds the best pair",
    ),
    "S.advantage": Extent(
        ("Conversion.gdp_advantage", "Conversion.renyi_advantage_bounds", "Conversion.advantage_shown", "Conversion.curve_advantage_bounds"),
        "that no test has a larger advantage, under μ-GDP and under a Rényi bound in both directions",
        numeric="that the bounds are attained",
    ),
    "S.stopping": Extent(
        ("Conversion.gdp_stopping", "Conversion.total_stopping", "Conversion.odds_shown", "Conversion.renyi_stopping", "Conversion.renyi_total_stopping", "Conversion.renyi_odds_shown"),
        "the bound on the probability of an event whose likelihood ratio is at least e^ε, under a cap of μ and under a Rényi cap, and the odds for either dataset under a total (ε, δ)",
        by_hand="that the event splits by its first release, and that a privacy filter keeps to its cap (cited)",
    ),
    "M.account": Extent(
        ("Sums.account_of_draws", "Sums.account_of_paths", "Sums.joint_law_is_a_shift", "Sums.noise_can_be_read_off", "Sums.later_draws_owe_nothing"),
        "the account under adaptive requests, with a cap for each draw or on whole paths, trees included; the exact joint law of chains under fixed requests",
    ),
    "M.equaliser": Extent(
        ("Sums.leaving_costs_the_same", "Sums.staying_costs_the_same", "Sums.schedule_cost", "Sums.worst_covers"),
        "over the real numbers, and that the cap of a chain covers every time of joining and leaving",
        numeric="rounding c to 20 bits",
    ),
    "G.7": Extent(
        ("NoisyGD.composed_steps", "Formulas.composition_gdp_is_proven"),
        "composition of noisy steps that are all observed, for losses of any shape",
        numeric="that one step attains it",
    ),
    "T5.ancestors": Extent(("Staged.staged_training",), "all of it, for schedules fixed beforehand"),
    "S.exact-steps": Extent(
        ("Rounding.exact_steps_cost", "Rounding.machine_step", "Rounding.discrete_step", "Formulas.exact_sum_is_proven"),
        "the rounding lemma and the closed form; in Rényi divergence from a cited axiom on the discrete Gaussian",
        by_hand="in Gaussian DP, τ² − 144h² for the discrete Gaussian (a hypothesis of the theorem)",
    ),
    "S.taut-string": Extent(
        ("Rounding.split_on_grid", "Shift.best_shifts", "Shift.no_shifts_cost_less"),
        "one segment, where gaps never rise",
        numeric="several segments",
    ),
    "OP.tilt": Extent(
        ("Tilt.tilt_identity", "Tilt.tilt_bound", "Tilt.tilt_identity_in_dimensions", "Tilt.tilt_bound_in_dimensions"),
        "in one dimension, Jacobian and mass included; in several dimensions the identity of densities, and the bound from a mass of at most 1",
        by_hand="in several dimensions, that the tilted density has mass at most 1 (change of variables)",
    ),
    "OP.one-direction": Extent(
        ("Tilt.replace_hessian", "Tilt.replace_cost_closed", "Tilt.zero_out_cost_without_dominates", "Formulas.replace_one_hessian_is_proven"),
        "the Hessian cost of one record in one dimension",
        by_hand="determinants of rank one",
    ),
    "F.3": Extent(("CounterExamples.lemma_F_3_fails",), "the counter-example"),
    "4.3": Extent(
        ("CounterExamples.theorem_4_3_fails", "CounterExamples.fixed_requests_reveal_nothing", "CounterExamples.randomised_response_privacy"),
        "the counter-example, with nine records, over every reference law",
    ),
}  # fmt: skip

# theorems that no row states by itself; `half_at_least` and `half_at_most` are proven by Interval, so they rest on the axioms of Coq's
# primitive integers too, and some lemmas of certificates on those of its primitive floats
FURTHER = (
    "Laws.gdp_group",
    "Laws.gdp_process",
    "Conversion.half_at_least",
    "Conversion.half_at_most",
    "ClosedForms.noisy_steps_cost",
    "ClosedForms.minimiser_parameters",
    "Conversion.curve_advantage_shown",
    "Conversion.curve_shown",
    "Sums.chain_cap_covers",
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
    named = {name for extent in PROVEN.values() for name in extent.theorems} | set(FURTHER)
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


def compile_file(path: Path, folder: Path, seconds: float = 1800) -> subprocess.CompletedProcess[str]:
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


def imports(name: str) -> set[str]:
    """Return the files of the development that one file imports."""
    lines = re.findall(
        r"^From NoisyGD Require(?: Import| Export)? ([\w ]+)\.$", (FOLDER / f"{name}.v").read_text(), flags=re.M
    )
    return {word for line in lines for word in line.split()}


def with_imports(*names: str) -> list[str]:
    """Return files and all that they import, directly or not, in the order of their imports."""
    needed: set[str] = set()
    for name in reversed(FILES):
        if name in names or name in needed:
            needed |= {name, *imports(name)}
    return [name for name in FILES if name in needed]


def compile_all(folder: Path, names: Sequence[str] = FILES) -> None:
    """Compile files of the development into a folder, two at a time.

    Raises:
        Refused: If Coq refuses one.
    """
    started: dict[str, Future[None]] = {}

    def compile_one(name: str) -> None:
        for one in imports(name):
            started[one].result()
        copied = folder / f"{name}.v"
        shutil.copyfile(FOLDER / f"{name}.v", copied)
        outcome = compile_file(copied, folder)
        if outcome.returncode:
            raise Refused(f"{name}.v: {outcome.stderr.strip()}")

    with ThreadPoolExecutor(2) as pool:  # files start in the order of their imports, so none waits for one behind it
        for name in names:
            started[name] = pool.submit(compile_one, name)
        for future in started.values():
            future.result()


@contextmanager
def temporary_build(names: Sequence[str] = FILES) -> Iterator[Path]:
    """A folder that holds the compiled development."""
    with tempfile.TemporaryDirectory() as folder:
        compile_all(Path(folder), names)
        yield Path(folder)


def assumptions(folder: Path) -> str:
    """What `Print Assumptions` says of every listed theorem: the names of axioms, by theorem."""
    with ThreadPoolExecutor(2) as pool:
        return "".join(pool.map(lambda name: assumptions_of(name, folder), FILES))


def assumptions_of(name: str, folder: Path) -> str:
    """Return the part of `assumptions` on the theorems of one file.

    Raises:
        Refused: If Coq refuses to print it.
    """
    listed = [theorem for theorem in theorems() if theorem.startswith(f"{name}.")]
    lines = [f'Goal True. idtac "@ {theorem}". Abort.\nPrint Assumptions {theorem}.' for theorem in listed]
    source = folder / f"Assumptions{name}.v"
    source.write_text("\n".join([f"From NoisyGD Require {name}.", *lines]) + "\n")
    outcome = compile_file(source, folder, 1800)
    if outcome.returncode:
        raise Refused(outcome.stderr.strip())
    found = []
    for part in re.split(r"^@ ", outcome.stdout, flags=re.M)[1:]:
        theorem, _, printed = part.partition("\n")
        axioms = sorted(re.findall(r"^([\w.']+)(?= :|$)", printed.replace("Axioms:", ""), flags=re.M))
        found.append("\n".join([f"{theorem}:", *(f"  {axiom}" for axiom in axioms or ["none"])]) + "\n")
    return "".join(found)


def section() -> list[str]:
    """Return the lines of the table of results on how each row is proven: in Coq, numerically, by hand."""
    from .statements import REGISTRY  # all checks, which no other function here needs

    whole = sum(not extent.numeric and not extent.by_hand for extent in PROVEN.values())
    lines = [
        "## What is proven in Coq",
        "",
        f"Of {len(REGISTRY)} rows {len(PROVEN)} are proven in Coq in whole ({whole}) or in part, as listed below. The others are checked as their",
        f"evidence above says, and their proofs are by hand. `make coq` compiles the {len(theorems())} theorems; `proofs_check/coq/assumptions.txt`",
        "lists the axioms under each.",
        "",
        "`python -m proofs_check coq CERTIFICATE` proves a certificate's figures; not those of Theorem 5.2 and of steps on samples, which it names. Smaller",
        "by one unit in the last of ten digits no figure is proven, except two of `noisy-gd:analysis=paper` that the package rounds up by more: its",
        "advantage over all models, at an order q = 1 + 7 · 10⁻⁸, where an allowance of 4 · 2⁻⁵³ · q · s is 24 units of (q − 1) · ε_q; and a small ε of later",
        "models, where printing and the margin of 10⁻¹² add up to 1.05 units.",
        "",
        "| row | proven in Coq | checked numerically or symbolically | proven by hand | theorems |",
        "|---|---|---|---|---|",
    ]
    for key, extent in PROVEN.items():
        names = ", ".join(f"`{name}`" for name in extent.theorems)
        lines.append(f"| {key} | {extent.coq} | {extent.numeric or '–'} | {extent.by_hand or '–'} | {names} |")
    return lines
