"""`python -m benchmarks NAME [options]`: one measurement per module, each with `main(arguments)`."""

from __future__ import annotations

import sys
from importlib import import_module

MEASUREMENTS = {
    "quickstart": "one command from a file to a certificate, on tables that ship with a package: score beside scikit-learn",
    "two_years": "200 single deletions over two years on the default budget: accuracy at the start, at the end and at the worst",
    "least_epsilon": "the least ε for an accuracy by forecast, beside the accuracy at that ε, on 20 tables",
    "kernel": "time of a step over the time of reading the matrix once",
    "ranges": "what ranges cost that are known in order of magnitude alone: a hundred times too wide, as they are and by signed-log",
    "first_hour": "three tables from CSV to certificate: score beside scikit-learn, commands, passes, time",
    "tables": "a table from CSV to rows over pandas, peak memory, bytes per id",
    "processes": "quickstart, delete, predict and verify beside refits with scikit-learn, as whole processes: processor time, peak memory, disk",
    "many_rows_a_person": "persons with several rows: weighted by person, beside noise for every row and one row a person",
    "many_rows": "the command `delete` in 5,000,000 rows, the whole process over its computing",
    "stream_rate": "requests in batches of 10 on Adult, over another checkout: rate, share of computing, syncs",
    "growth": "what time and memory grow with, as fitted exponents; `--check` compares with the committed ones",
    "speed": "other engines, deletion against learning, the lower bound, growth, memory, two processes",
    "start_up": "whole commands over `import numpy`: time, and the own modules that each loads",
    "ledger": "commands on a store of thousands of releases over the same on one of ten",
    "page": "`certificate --html` over `certificate` alone, and the size of the page that checks itself",
    "demonstration": "the page on which a reader erases a person and watches an attacker, by models released in the run",
    "dp_ebm": "an attack on the models of DP-EBM, retrained, on the persons of the demonstration",
    "capacity": "how many rows may leave before quality goes: the forecast by public numbers, and ten models of wages",
    "cost": "the first page: a deletion by each method beside refits with scikit-learn on Adult, every chain whole",
    "paper": "the figures of docs/note/, drawn from committed results",
    "board": "one page of certified deletion by every method: accuracy, cost, both figures, attacks, state, from committed results",
    "judge_dp_auditorium": "Google's DP-Auditorium on learn and delete as black boxes, with planted faults that it must find",
    "judge_sacroml": "SACRO-ML's attacks on the estimator before and after deletions, beside its bound and a planted fault",
    "rivals": "DP-EBM, diffprivlib, jax_privacy and others beside ours at equal (ε, δ), and streams with and without secret state",
    "regression": "numbers by defaults beside scikit-learn, DP-EBM and diffprivlib at equal (ε, δ), on 12 tables",
    "compare": "all deletion methods on Adult, MNIST 3-vs-8 and digits",
    "compare_networks": "deletion from networks: ladder, noisy fine-tuning and its control, Rewind-to-Delete, DP2Unlearning",
    "networks": "a torch network on digits and MNIST: accuracy, cost of a deletion, ε, beside Opacus trained again and noisy fine-tuning",
    "refit": "the command `delete` on Adult over a process that refits with scikit-learn, 1 and 10 records",
    "certified_removal": "Figures 1 to 3 of Guo et al. (2020), 3 against 8: on digits that ship with scikit-learn, or on MNIST",
    "wide": "softmax on wide tables and many classes: a pass over its two matrix products",
    "sparse": "sparse rows over the same rows with their zeros: a pass; peak memory and passes of a deletion at 100,000 columns",
    "threads": "products at default threads over one thread, by size of the table",
    "savings": "Table 1 of the paper, evaluated and measured: on digits that ship with scikit-learn, or on Adult",
    "audits": "every method, mapped tables and ladders under one-run, three-sample and shadow-model audits, with planted faults",
    "adaptive": "adaptive streams: advantage over releases, claimed against measured, 1,000 requests on Adult",
    "maps": "public maps under a convex head: images, digits, Adult, texts at one (ε_dp, ε_dd); cost of a deletion",
    "additive": "additive maps and columns beside DP-EBM at equal (ε, δ), five splits of Adult; boosting and logistic",
    "additive_stream": "additive models under one total while rows leave, at random or all of one group; DP-EBM retrained, and never updated",
    "sums": "101 and 1,001 releases of Adult on one budget: Markov sums, fresh sums, perturbed",
    "sums_stream": "a chain of sums while rows leave, at random or all of one group, beside a model that is never updated",
    "few_rows": "400 to 1,600 rows: the default calendar beside fewer releases and sums under the same total",
    "private_choice": "method, bins and ridge by public numbers, by a private vote, and by the noisy sums themselves",
    "shrink": "models read off the same noisy sums with each part of their denoising left out, at three ridges",
    "additive_default": "when an additive map pays over the columns: forecasts of advise beside scores, on 13 tables",
    "linear": "columns, 16 bins, 128 bins, the default, and 16 bins with the number itself beside them, on 43 tables",
    "levels": "16 bins and 128 of an additive map beside the columns, on the tables of additive_default and additive_others",
    "ridge": "λ from public numbers, beside the best λ and what a private choice leaves, on 20 tables",
    "additive_others": "the same for numbers and several classes as labels, on 17 tables",
    "adult_map": "Adult by a public map that leaves out what most people answer, chosen on rows that are tested nowhere",
    "mnist_extractor": "DP-trained extractor and certified head on MNIST: accuracy, ε of both parts, time of a deletion",
    "nonconvex_accuracy": "sigmoid loss and tanh network beside logistic regression at one (ε, δ)",
    "nonconvex_steps": "steps for non-convex losses over n, d, λ, ω, ε_dd under every certificate",
    "exact_steps": "noisy steps down to the last bit beside the same over the reals: steps, noise, time of a step and of a deletion",
    "exact_variants": "every step exact beside the last one alone: what either adds to μ, and the time of its draws",
    "solver": "one solve beside scikit-learn: passes and time, warm and cold, at the same tolerance",
    "objective_perturbation": "objective perturbation against every other method, all with the same options, and its noise",
    "ladder": "the ladder on Adult at two ε_dd beside a cold start of the same passes and one whole run, three fresh splits",
    "engines": "a gradient pass by memory, map, Ray and Spark over rows from 10^4 on; passes, bytes, ratios",
    "solve_then_diffuse": "solve, then diffuse against every other way: passes, time, accuracy, excess risk",
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in MEASUREMENTS:
        width = max(map(len, MEASUREMENTS))
        print("python -m benchmarks NAME, with NAME one of")
        print("\n".join(f"  {name:{width}}  {what}" for name, what in sorted(MEASUREMENTS.items())))
        return 2
    import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
