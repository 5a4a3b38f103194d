"""Arguments in any order, of any size, and what is said of those that mean nothing."""

from __future__ import annotations

import gzip
import json
import pickle
import stat
from pathlib import Path

import pytest

from noisygd_delete import losses
from noisygd_delete.cli import parser
from noisygd_delete.cli.arguments import format_error
from noisygd_delete.errors import InvalidParameter, InvalidRecords, UnknownName
from noisygd_delete.records import EditRequest, Records, check_size
from noisygd_delete.store import Store, status
from tests.cli.planned import main

from .conftest import one_paragraph, rows


@pytest.mark.parametrize(
    "typed",
    [
        "store --request-id T a b",
        "store a --request-id T b",
        "--request-id T store a b",
        "--request-id T -- store a b",
        "store a b --request-id=T",
    ],
)
def test_names_and_options_mix(typed: str) -> None:
    parsed = parser().parse_args(["delete", *typed.split()])
    assert (parsed.store, parsed.ids, parsed.request_id) == ("store", ["a", "b"], "T")


def test_optional_names_and_options_mix() -> None:
    parsed = parser().parse_args(["init", "--data", "f", "store", "--schema", "s"])
    assert (parsed.store, parsed.data, parsed.schema) == ("store", "f", "s")
    assert parser().parse_args(["delete", "store", "--", "-5"]).ids == ["-5"]


def test_a_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["frobnicate"],
        ["plan", "--records", "x", "--features", "3"],
        ["status"],
        ["init", "--data", "f"],
        ["delete", "store", "--request-id"],
        ["plan", "--records", "9" * 5000, "--features", "3"],
        ["plan", "--records", "9" * 30, "--features", "3"],
        ["init", "s", "--data", "people.csv", "--schema", "s", "--slots", "1e12"],
        ["audit", "store", "--seed", "-1"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert "--help" in one_paragraph(capsys.readouterr().err)


def test_sizes_that_no_machine_has_are_refused(folder: Path, complaint) -> None:
    init = ["init", "new", "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd"]
    for more in ([], ["--dry-run"]):  # the rows lie on the disk, so that is what has no room
        assert "the disk of" in complaint(*init, "--slots", str(10**12), *more)
    assert "GiB of memory" in complaint("relearn", "store", "--slots", str(10**12))
    for name in ("softmax", "one-vs-rest"):
        plan = ["plan", "--records", "100", "--features", "3", "--loss", f"{name}:classes={10**12}"]
        assert "at most 1000000" in complaint(*plan)
    for sizes in (["--chains", str(10**9)], ["--later-releases", str(10**9)]):
        assert "must be at most" in complaint("audit", "store", *sizes)
    assert not (folder / "new").exists()
    with pytest.raises(InvalidParameter, match="at most"):
        losses.Softmax(1.0, classes=10**9)
    with pytest.raises(InvalidRecords, match="GiB of memory"):
        Records([[1.0]], [1.0], slots=10**13)
    check_size(10**6, 100)


@pytest.mark.parametrize("value", ["1e300", "1e-300", "1e-15", "-1e300", "inf", "nan", "0"])
@pytest.mark.parametrize("option", ["--dp", "--deletion", "--order", "--delta", "--regularization", "--radius"])
def test_extreme_numbers_are_planned_or_refused(option: str, value: str, capsys) -> None:
    for more in ([], ["--method", "output-perturbation"]):
        assert main(["plan", "--records", "100", "--features", "3", f"{option}={value}", *more]) in (0, 2)
        said = capsys.readouterr()
        assert bool(said.out) != bool(said.err)
        if said.err:
            one_paragraph(said.err)


def test_four_hundred_thousand_categories_are_refused(folder: Path, complaint) -> None:
    categories = json.dumps([f"c{k}" for k in range(200_000)])
    schema = f'id = "id"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\ncategories = {categories}\n'
    (folder / "wide.toml").write_text(schema)
    assert "at most 100000" in complaint("init", "new", "--data", "people.csv", "--schema", "wide.toml")


@pytest.mark.parametrize(
    ("line", "repeats", "said"),
    [("\n", 10, "blank lines"), ("\n", 60, "times its size"), ("1,2,no\n", 60, "times its size")],
)
def test_a_small_file_that_unpacks_to_gigabytes_is_refused(
    folder: Path, complaint, line: str, repeats: int, said: str
) -> None:
    with gzip.open("bomb.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"id,a,y\n")
        for _ in range(repeats):
            file.write(line.encode() * (1_000_000 // len(line)))
    assert said in complaint("predict", "store", "--data", "bomb.csv.gz")


def test_a_header_of_very_many_columns_is_refused(folder: Path, complaint) -> None:
    (folder / "wide.csv").write_text(",".join(f"c{k}" for k in range(200_000)) + "\n1\n")
    assert "columns" in complaint("predict", "store", "--data", "wide.csv")


ODD = "identifier-002\u2028identifier-003"


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
def test_one_named_id_erases_nobody_else(folder: Path, complaint, mark: str) -> None:
    (folder / "ids.txt").write_bytes(f"identifier-002{mark}identifier-003\n".encode())
    assert "not in the table" in complaint("delete", "store", "--file", "ids.txt")
    assert status("store")["records"] == 19


def test_a_store_is_erased_by_the_line_it_names(folder: Path, as_json) -> None:
    (folder / "odd.csv").write_text(rows([]) + f"{ODD},1,no\n")
    assert main(["insert", "store", "--data", "odd.csv"]) == 0
    (folder / "ids.txt").write_bytes(b"\xef\xbb\xbf" + f"{ODD}\r\n\r\nidentifier-004".encode())
    (folder / "gone.txt").write_text(f"{ODD}\nidentifier-004\n")
    assert main(["verify", "store", "--absent", "gone.txt"]) == 5
    assert main(["delete", "store", "--file", "ids.txt"]) == 0
    assert status("store")["records"] == 18
    assert as_json("verify", "store", "--absent", "gone.txt")["tokens"] == 2


def test_a_missing_id_in_another_normal_form_is_said_so(folder: Path) -> None:
    composed, decomposed = "Zo\u00eb-\ufb01", "Zoe\u0308-\ufb01"
    (folder / "new.csv").write_text(rows([]) + f"{composed},1,no\n")
    assert main(["insert", "store", "--data", "new.csv"]) == 0
    for name, similar in ((decomposed, True), ("nobody", False)):
        with Store.open("store") as store, pytest.raises(UnknownName) as raised:
            store.serve(EditRequest.delete([name]))
        assert raised.value.similar is similar
        assert main(["delete", "store", name]) == 2
    assert main(["delete", "store", composed]) == 0


def test_errors_name_options_as_they_are_typed(complaint) -> None:
    options = parser().parse_args(["plan", "--records", "1", "--features", "1"]).options
    error = InvalidParameter("order=3 is nobody's option here", regularization=0.5, method="noisy-gd", else_where="x")
    assert (
        format_error(error, options)
        == "--regularization 0.5 and --method noisy-gd and else_where='x' order=3 is nobody's option here"
    )
    assert str(error) == "regularization=0.5 and method='noisy-gd' and else_where='x' order=3 is nobody's option here"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "--order 0.5 must be > 1" in complaint("plan", "--records", "100", "--features", "2", "--order", "0.5")


def test_a_store_behind_a_link_is_a_store(folder: Path, capsys, printed) -> None:
    (folder / "way").symlink_to("store")
    assert "NOT" not in printed("verify", "way")
    assert main(["delete", "way", "identifier-002"]) == main(["status", "way/"]) == main(["budget", "way"]) == 0
    (folder / "circle").symlink_to("circle")
    assert main(["verify", "circle"]) == 2
    one_paragraph(capsys.readouterr().err)


def test_a_key_under_a_passphrase(folder: Path, complaint, as_json, printed, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret").write_text("correct horse\nmore\n")
    assert "not encrypted" in printed("keygen", "plain.pem")
    assert as_json("keygen", "key.pem", "--passphrase-file", "secret")["encrypted"] is True
    assert b"ENCRYPTED" in (folder / "key.pem").read_bytes()
    certificate = ["certificate", "store", "--request-id", "first", "--key", "key.pem"]
    assert "passphrase" in complaint(*certificate)
    (folder / "wrong").write_text("incorrect horse\n")
    assert "passphrase" in complaint(*certificate, "--passphrase-file", "wrong")
    assert main([*certificate, "--passphrase-file", "secret", "--out", "paper.json"]) == 0
    monkeypatch.setenv("NOISYGD_DELETE_PASSPHRASE", "correct horse")
    assert main([*certificate, "--out", "paper.json"]) == 0
    assert main(["verify-certificate", "paper.json", "--public-key", "key.pem.pub"]) == 0
    assert main([*certificate[:-1], "plain.pem"]) == 0  # needs none, whatever the environment says
    monkeypatch.setenv("NOISYGD_DELETE_PASSPHRASE", "")
    complaint("keygen", "other.pem")
    monkeypatch.delenv("NOISYGD_DELETE_PASSPHRASE")
    assert "passphrase" in complaint("keygen", "other.pem", "--passphrase")  # nobody to ask
    assert not (folder / "other.pem").exists()
    answers = iter(["one", "another", "twice", "twice", "twice"])
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(answers))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert "differ" in complaint("keygen", "other.pem", "--passphrase")
    assert main(["keygen", "other.pem", "--passphrase"]) == 0
    assert main([*certificate[:-1], "other.pem"]) == 0


def test_a_key_that_others_may_read_is_said_so(folder: Path, capsys) -> None:
    assert main(["keygen", "key.pem"]) == 0
    certificate = ["certificate", "store", "--request-id", "first", "--key", "key.pem"]
    capsys.readouterr()
    assert main(certificate) == 0
    assert capsys.readouterr().err == ""
    (folder / "key.pem").chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    assert main(certificate) == 0
    assert "may be read by others" in capsys.readouterr().err


def test_dates_at_the_ends_of_the_calendar_are_one_paragraph(folder: Path, complaint) -> None:
    certificate = ["certificate", "store", "--request-id", "first", "--received"]
    for when in (
        "0001-01-01T00:00:00+02:00",
        "9999-12-31T23:59:59-02:00",
        "9999-12-01T00:00:00Z",
        "0000-01-01",
        "x" * 400,
    ):
        complaint(*certificate, when)


@pytest.mark.parametrize("action", [[1], "x", None, 5, {"status": {}}])
def test_a_certificate_that_is_none_fails_beside_any_model(folder: Path, capsys, action: object) -> None:
    assert main(["certificate", "store", "--request-id", "first", "--out", "paper.json"]) == 0
    paper = json.loads((folder / "paper.json").read_text())
    (folder / "other.json").write_text(json.dumps({**paper, "action": action}))
    for model in ("store/model-2.safetensors", "/dev/zero", "none"):
        capsys.readouterr()
        assert main(["verify-certificate", "other.json", "--model", model]) == 5
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("value", ["1e-300", "1e-15"])
@pytest.mark.parametrize(
    "start", [[], ["--method", "output-perturbation"], ["--method", "output-perturbation:solver=cold"]]
)
def test_a_tiny_regularisation_is_answered_at_once(folder: Path, value: str, start: list[str]) -> None:
    init = ["init", "new", "--data", "people.csv", "--schema", "schema.toml", "--dry-run"]
    assert main([*init, "--regularization", value, *start]) in (0, 2)


@pytest.mark.parametrize("command", [["audit"], ["relearn", "store"]])
def test_an_option_of_a_plan_file_that_a_command_has_no_use_for_is_named(
    folder: Path, complaint, command: list[str]
) -> None:
    Path("plan.toml").write_text('proof = "by-hand"\n')
    assert f"proof: {command[0]} has no use for it" in complaint(*command, "--plan", "plan.toml")
