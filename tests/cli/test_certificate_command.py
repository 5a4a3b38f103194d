"""From a store on disk to signed papers, on the command line."""

from __future__ import annotations

import json
import sys
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from tqdm import tqdm

from noisygd_delete.evidence import verify_certificate
from noisygd_delete.privacy.sentences import success_per_hundred

from ..evidence.reading_papers import figure, keys, said
from .conftest import Terminal, run

SCHEMA = """
confirmed = true
rows = "unit"
intercept = true
id = "name"

[label]
column = "buys"
classes = ["no", "yes"]

[columns.age]
bounds = [0, 100]

[columns.income]
bounds = [0, 10]
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store that has learned from 400 people."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["name,age,income,buys"]
    for number in range(400):
        age, income = rng.uniform(0, 100), rng.uniform(0, 10)
        lines.append(f"customer-{number:04d},{age:.2f},{income:.2f},{'yes' if age > 10 * income else 'no'}")
    Path("people.csv").write_text("\n".join(lines))
    Path("schema.toml").write_text(SCHEMA)
    run("init", "store", "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd",
        "--regularization", "0.02", "--dp", "8", "--deletion", "0.5", "--releases", "3")  # fmt: skip
    run("learn", "store")
    run("keygen", "controller.pem")
    capsys.readouterr()
    return tmp_path / "store"


def test_from_a_request_to_a_signed_certificate(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("delete", "store", "customer-0007", "customer-0008", "--request-id", "9f2c")
    run(
        "certificate", "store", "--request-id", "9f2c", "--received", "2020-02-29T08:00:00+01:00", "--controller", "Example",
        "--key", "controller.pem", "--out", "paper.json", "--html", "paper.html",
    )  # fmt: skip
    out = capsys.readouterr().out
    assert "2 records were erased" in out
    paper = json.loads(Path("paper.json").read_text())
    assert paper["request"]["rows"] == 2
    assert paper["action"]["release"] == 2
    assert "6 checks passed" in paper["evidence"]["checked"]
    model = next(store.glob("model-*"))
    assert verify_certificate(paper, public_key="controller.pem.pub", model=model).passed
    run("verify-certificate", "paper.json", "--public-key", "controller.pem.pub", "--model", str(model))
    for file in ("paper.json", "paper.html"):
        assert "customer-" not in Path(file).read_text()


def test_an_erasure_left_for_later_is_pending_until_a_release_covers_it(store: Path, as_json, printed) -> None:
    run("delete", "store", "customer-0001", "--no-publish", "--request-id", "first")
    out = printed("certificate", "store", "--request-id", "first", "--json")
    pending = json.loads(out[out.index("{") :])
    assert pending["action"] == {
        "status": "pending", "release": None, "model_after_sha256": None,
        "model_before_sha256": pending["action"]["model_before_sha256"],
    }  # fmt: skip
    run("delete", "store", "customer-0002", "customer-0004", "--request-id", "second")
    for name, rows in (("first", 1), ("second", 2)):
        paper = as_json("certificate", "store", "--request-id", name)
        assert (paper["request"]["rows"], paper["action"]["release"]) == (rows, 2)
    paper = as_json("certificate", "store", "--release", "2")
    assert (paper["request"]["rows"], "signature" in paper) == (3, False)


def test_a_withheld_release_and_the_one_that_follows(store: Path, capsys: pytest.CaptureFixture[str], as_json) -> None:
    run("delete", "store", "customer-0001")
    run("delete", "store", "customer-0002")
    run("delete", "store", "customer-0003", "--request-id", "late", status=3)
    paper = as_json("certificate", "store", "--request-id", "late")
    assert paper["action"]["status"] == "withheld"
    assert "the old model is withdrawn" in said(paper)
    run("relearn", "store", "--dp", "30", "--deletion", "0.5", "--releases", "6")
    paper = as_json("certificate", "store", "--request-id", "late", "--key", "controller.pem")
    assert (paper["action"]["status"], paper["public_facts"]["ledger"][-1]["kind"]) == ("published", "relearn")
    assert verify_certificate(paper).passed
    run("certificate", "store", "--release", "2", "--key", "controller.pem", "--json")  # made under the earlier plan
    assert verify_certificate(json.loads(capsys.readouterr().out)).passed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--request-id", "nobody"], "not in the register"),
        (["--release", "1"], "edited no record"),
        (["--release", "7"], "not in the ledger"),
        (["--release", "1", "--key", "store/key.pem"], "inside the store"),
    ],
)
def test_refusals(store: Path, arguments, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("certificate", "store", *arguments, status=2)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_an_insertion_is_never_certified_as_an_erasure(store: Path, as_json, printed, complaint) -> None:
    run("delete", "store", "customer-0001", "customer-0002", "--request-id", "gone")
    Path("new.csv").write_text("name,age,income,buys\nnew-1,30,4,yes\nnew-2,60,2,no\n")
    inserted = as_json("insert", "store", "--data", "new.csv", "--request-id", "came")
    assert (inserted["counts"]["deleted"], inserted["counts"]["inserted"]) == (0, 2)
    for asked in (("--request-id", "came"), ("--release", "3")):
        assert "2 records inserted, and erased none; there is no erasure to certify" in complaint(
            "certificate", "store", *asked
        )
    paper = as_json("certificate", "store", "--request-id", "gone")
    assert [event["counts"]["inserted"] for event in paper["public_facts"]["ledger"]] == [0, 0, 2]
    run("report", "store", "--out", "report.html")
    page = Path("report.html").read_text()
    assert "2 records erased, 2 inserted" in page
    assert ">2 records inserted</td>" in page


def test_every_paper_says_what_was_done_and_not_what_was_asked(store: Path, as_json, printed) -> None:
    Path("right.csv").write_text("name,age,income,buys\ncustomer-0003,30,4,yes\n")
    run("replace", "store", "--data", "right.csv", "--request-id", "mended", "--no-publish")
    right = {"age": 30, "income": 4, "buys": "yes"}
    line = {"request_id": "both", "delete": ["customer-0001"], "replace": {"customer-0002": right}}
    Path("requests.jsonl").write_text(json.dumps(line) + "\n")
    run("stream", "store", "requests.jsonl")
    run("register", "receive", "store", "--request-id", "other", "--right", "rectification")
    run("delete", "store", "customer-0004", "--request-id", "other")
    shown = {one["request_id"]: one for one in as_json("register", "list", "store")["requests"]}
    table = printed("register", "list", "store")
    assert "both  (rectified: 1)" in table
    assert table.count("erased: 1)") == 1  # of who asked for a correction
    for token, right, rows, replaced in (
        ("mended", "rectification", 1, 1),
        ("both", "erasure", 2, 1),
        ("other", "rectification", 1, 0),
    ):
        assert (shown[token]["right"], shown[token]["rows"], shown[token]["replaced"]) == (right, rows, replaced)
        paper = as_json("certificate", "store", "--request-id", token, "--key", "controller.pem")
        assert verify_certificate(paper, public_key="controller.pem.pub").passed
        counts = [paper["request"][name] for name in ("rows", "replaced", "inserted")]
        assert counts == [rows, replaced, 0]
        done = (rows > replaced, replaced > 0)  # whether rows were erased, whether some were corrected
        assert ("One record was erased" in said(paper), "rectification" in said(paper)) == done
        assert ("erased.all" in keys(paper), "replaced.all" in keys(paper)) == done
        run("register", "letter", "store", token, "--out", "letter.html")
        letter = Path("letter.html").read_text()
        assert ("a record of yours was removed" in letter, "of a record of yours was corrected" in letter) == done


def test_times_have_one_meaning_each(store: Path, capsys: pytest.CaptureFixture[str], as_json) -> None:
    """`edited` is when the rows went; `served` when the model without them was published, and only then."""
    run("delete", "store", "customer-0001", "--no-publish", "--request-id", "first")
    waiting = as_json("certificate", "store", "--request-id", "first")["request"]
    assert waiting["edited"] is not None
    assert waiting["served"] is None
    run("publish", "store")
    paper = as_json("certificate", "store", "--request-id", "first", "--received", "2020-02-29T23:30:00-05:00")
    served = paper["request"]
    assert "T" not in served["edited"]  # a day: how long a run took may depend on the records
    assert served["edited"] <= served["served"]
    assert served["received"].endswith("-05:00")
    assert figure(paper, "deadline")["day"] == "2020-03-30"  # 29 March was a Sunday
    run("certificate", "store", "--request-id", "first", "--received", "2999-01-01T00:00:00Z", status=2)
    told = capsys.readouterr().err
    assert "--received 2999-01-01" in told
    assert "wrong order" in told


def test_the_report_shows_what_is_pending_withheld_and_withdrawn(store: Path) -> None:
    run("delete", "store", "customer-0001", "--no-publish")
    run("report", "store", "--out", "report.html")
    page = Path("report.html").read_text()
    assert "<strong>Pending:</strong> 1 record erased" in page
    assert "release left for later" in page
    assert "Withdrawn" not in page
    run("delete", "store", "customer-0002")
    run("delete", "store", "customer-0003")
    run("delete", "store", "customer-0004", status=3)
    run("report", "store", "--out", "report.html")
    page = Path("report.html").read_text()
    assert "<strong>Withdrawn:</strong> no model is in force since" in page
    assert "publication withheld by the budget, the model withdrawn" in page
    assert "no release yet" in page
    assert "covered by" in page
    assert "release 2" in page


def test_one_figure_has_one_form_in_every_paper(store: Path, printed) -> None:
    """The sum over all releases, as `budget`, the report and the certificate print it: the same digits."""
    run("delete", "store", "customer-0001", "--request-id", "one")
    budget = printed("budget", "store", "--explain")
    (epsilon,) = {line.split()[-1] for line in budget.splitlines() if line.split()[:1] == ["all"]}
    said = printed("certificate", "store", "--request-id", "one", "--html", "paper.html")
    run("report", "store", "--out", "report.html")
    report, paper = Path("report.html").read_text(), Path("paper.html").read_text()
    assert f"(ε={epsilon}, δ=1e-6)" in report
    assert f">{epsilon}</td>" in paper
    assert f"(ε={epsilon}, δ=1e-6)" in budget
    was_it_there = next(line for line in budget.splitlines() if "was it ever there?" in line)
    erased, advantage = was_it_there.split("(ε=")[1].split(",")[0], was_it_there.split("at most ")[1]
    assert f"(ε={erased}, δ=1e-6)" in said
    odds = (
        f"{success_per_hundred(float(advantage.removesuffix(' %')) / 100)}"  # a person reads odds, and one form of them
    )
    assert f"right at most {odds} times in 100" in said
    assert f"right at most {odds} times in 100" in report
    assert f">{odds}</td>" in paper
    assert "%" not in said


def test_where_it_was_looked_before_the_rows_were_gone_is_not_quoted(store: Path, as_json, complaint) -> None:
    Path("gone.txt").write_text("customer-0007\n")
    Path("backups").mkdir()

    def looked() -> dict:
        return as_json("residue", "--tokens", "gone.txt", "backups")

    before = looked() | {"looked_at": "2026-01-01T00:00:00Z"}  # an empty folder: a file is put into it later
    run("delete", "store", "customer-0007", "--request-id", "one")
    for number, report in enumerate((before, {**before, "looked_at": "then"}, {"places": before["places"]})):
        Path("residue.json").write_text(json.dumps(report))
        assert ("the rows were there until" if not number else "give the output of") in complaint(
            "certificate", "store", "--request-id", "one", "--residue", "residue.json"
        )
    Path("residue.json").write_text(json.dumps(looked()))
    assert (
        as_json("certificate", "store", "--request-id", "one", "--residue", "residue.json")["evidence"]["residue"]
        == before["places"]
    )


def test_no_certificate_for_a_store_that_does_not_verify(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("delete", "store", "customer-0001", "--request-id", "one")
    (store / "notes.txt").write_text("left by hand")
    run("certificate", "store", "--request-id", "one", status=5)
    assert "nothing is certified" in capsys.readouterr().err


def test_the_report_of_a_store(store: Path, printed, complaint) -> None:
    run("delete", "store", "customer-0001")
    other = ["--records", "100", "--features", "1", "--regularization", "0.25", "--method", "noisy-gd", "--gdp", "--dp", "3",
             "--deletion", "0.38", "--no-utility"]  # fmt: skip
    for plan in (other, ["store"]):
        Path("audit.json").write_text(printed("audit", *plan, "--chains", "4000", "--seed", "1", "--json"))
        if plan is other:
            for paper in (["report", "store"], ["certificate", "store", "--release", "2"]):
                assert "attacked another plan" in complaint(*paper, "--audit", "audit.json", "--out", "refused")
            assert not Path("refused").exists()
    run("certificate", "store", "--release", "2", "--audit", "audit.json")
    run("report", "store", "--out", "report.html", "--audit", "audit.json", "--title", "Customers")
    page = Path("report.html").read_text()
    assert page.count("<svg") == 1
    assert "Customers" in page
    assert "likelihood ratio" in page
    assert "customer-" not in page


def test_a_dry_run_tells_the_cost_and_changes_nothing(store: Path, as_json, printed) -> None:
    before = sorted((path.name, path.read_bytes()) for path in store.rglob("*") if path.is_file())
    told = as_json("delete", "store", "customer-0001", "--dry-run")
    assert "over all releases" in printed("delete", "store", "customer-0001", "--dry-run")
    assert sorted((path.name, path.read_bytes()) for path in store.rglob("*") if path.is_file()) == before
    done = as_json("delete", "store", "customer-0001")
    assert told["steps"] == done["steps"]
    budget = as_json("budget", "store", "--delta", "1e-6")
    assert told["epsilon_after"] == pytest.approx(budget["cumulative"]["epsilon"], rel=1e-12)
    assert told["epsilon_before"] == pytest.approx(budget["releases"][0]["dp"]["epsilon"], rel=1e-12)
    assert told["gradient_evaluations"] == 420 * told["steps"]  # slots


def test_the_bar_of_a_stream_counts_requests(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"request_id": f"r{k}", "delete": [f"customer-{k:04d}"]} for k in range(3)]
    Path("requests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setattr("noisygd_delete.cli.terminal._PATIENCE", 0.0)
    monkeypatch.setattr("tqdm.tqdm.__init__", partialmethod(tqdm.__init__, mininterval=0))
    run("stream", "store", "requests.jsonl", "--batch", "2")
    assert "2/3" in screen.getvalue()
    assert "request/s" in screen.getvalue()


def test_the_published_model_is_used_on_new_rows(store: Path, as_json, printed) -> None:
    """Without label and id: predictions by row number. With them: how often they are right, checked by hand."""
    lines = [f"new-{k},{10 * k},{(3 * k) % 10},{'yes' if k % 2 else 'no'}" for k in range(10)]
    Path("new.csv").write_text("\n".join(["name,age,income,buys", *lines]))
    Path("bare.csv").write_text("\n".join(["age,income", *(",".join(line.split(",")[1:3]) for line in lines)]))
    told = as_json("predict", "store", "--data", "new.csv", "--out", "said.csv")
    said = [line.split(",") for line in Path("said.csv").read_text().splitlines()]
    assert said[0] == ["record", "predicted buys"]
    assert [name for name, _ in said[1:]] == [f"new-{k}" for k in range(10)]
    right = sum(word == ("yes" if k % 2 else "no") for k, (_, word) in enumerate(said[1:]))
    assert told["accuracy"] == right / 10
    assert told["counts"] == {word: sum(w == word for _, w in said[1:]) for _, word in said[1:]}
    bare = as_json("predict", "store", "--data", "bare.csv")
    assert bare["accuracy"] is None
    assert list(bare["predictions"].items()) == [(str(k + 1), word) for k, (_, word) in enumerate(said[1:])]
    accuracy = as_json("predict", "store", "--data", "people.csv")["accuracy"]
    assert accuracy > 0.7  # who buys is a half-plane and the budget is wide; guessing gets half
    out = printed("predict", "store", "--data", "people.csv")
    assert f"right: {accuracy:.1%}" in out
    assert "do not publish" in out
    run("predict", "store", "--data", "nowhere.csv", status=2)


def test_a_dry_run_of_a_fresh_learn_says_whether_the_budget_is_enough(
    store: Path, capsys: pytest.CaptureFixture[str], as_json, printed, complaint
) -> None:
    """More releases in the same dp do not help once it is spent; a larger dp, in the plan's own measure, does."""
    for number in range(3):
        run("delete", "store", f"customer-{number:04d}", status=3 if number == 2 else 0)
    assert "larger --dp" in capsys.readouterr().out
    assert "no current model" in complaint("predict", "store", "--data", "people.csv")
    for options, publication in ((["--releases", "9"], "refused"), (["--dp", "30", "--deletion", "0.4"], "published")):
        told = as_json("relearn", "store", *options, "--dry-run")
        assert told["publication"] == publication
        assert (told["order"], told["method"]) == (10, "noisy-gd")
        assert ("do not help" in printed("relearn", "store", *options, "--dry-run")) == (publication == "refused")
        run("relearn", "store", *options, status=3 if publication == "refused" else 0)
    budget = as_json("budget", "store", "--delta", "1e-6")
    assert told["epsilon_after"] == pytest.approx(budget["cumulative"]["epsilon"], rel=1e-12)
    assert "ε_dp=30" in budget["budget"]
    assert "ε_dd=0.4" in budget["budget"]


def test_entered_into_a_log_and_found_there(
    store: Path, capsys: pytest.CaptureFixture[str], printed, complaint
) -> None:
    asked = ["certificate", "store", "--release", "2", "--key", "controller.pem", "--log", "all.log"]
    run("delete", "store", "customer-0007")
    unsigned = [
        "certificate",
        "store",
        "--release",
        "2",
        "--log",
        "all.log",
        "--out",
        "c.json",
        "--log-proof",
        "p.json",
    ]
    for incomplete in (asked, unsigned):
        assert "go together" in complaint(*incomplete)
    assert not Path("all.log").exists()
    Path("other.log").write_text("accounts")
    for log in ("other.log", "certificate.json"):  # not a log, and the place of the certificate itself
        run(*asked[:-1], log, "--out", "certificate.json", "--log-proof", "proof.json", status=2)
        assert not Path("certificate.json").exists()  # nothing is issued that is not entered
    assert Path("other.log").read_text() == "accounts"
    run(*asked, "--out", "certificate.json", "--log-proof", "proof.json")
    capsys.readouterr()
    judged = ["verify-certificate", "certificate.json", "--log-proof", "proof.json"]
    assert "ok   log: entry 1 of the 1" in printed(*judged, "--log", "all.log")
    run("verify-certificate", "certificate.json", "--log", "all.log", status=2)
    proof = Path("proof.json")
    proof.write_text(proof.read_text().replace('"index": 0', '"index": 1'))
    run(*judged, status=5)
    assert "FAIL log" in capsys.readouterr().out
