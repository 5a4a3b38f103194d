"""The engine without any package: certificates in JSON and as a plain page; what a package adds is named with its `pip install`."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.evidence import verify_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.extensions import PACKAGES, load_extension
from noisygd_delete.reports.texts import language_codes, load_language
from noisygd_delete.store import Store, verify
from noisygd_delete.store.artifact import current_artifact
from tests.cli.planned import main


@pytest.fixture(autouse=True)
def no_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the entry points of every installed package, and forget what was read of them before and meanwhile."""
    nothing = importlib.metadata.EntryPoints(())
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: nothing)
    load_language.cache_clear()
    assert load_extension("hooks", "certificate-page") is None
    yield
    load_language.cache_clear()


def test_quickstart_ends_in_a_verified_certificate_and_a_page_without_a_script(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"p{k},{20 + k % 50},{'yes' if k % 3 else 'no'}\n" for k in range(200))
    Path("people.csv").write_text(f"id,age,answer\n{rows}")
    asked = ["quickstart", "people.csv", "--label", "answer", "--id", "id", "--delete", "p3", "--yes"]
    assert main(asked) == 0
    [certificate] = tmp_path.rglob("certificate.json")
    paper = json.loads(certificate.read_text())
    assert verify_certificate(paper, public_key=certificate.with_name("key.pem.pub")).passed
    page = certificate.with_name("certificate.html").read_text()
    assert "<script" not in page
    assert paper["identity"]["certificate_id"] in page


@pytest.mark.parametrize("command", sorted({name for names in PACKAGES.values() for name in names}))
def test_a_command_of_a_package_names_what_to_install(command: str, complaint) -> None:
    [package] = [package for package, names in PACKAGES.items() if command in names]
    assert f"noisygd-delete-{package}" in complaint(command, "store")


@pytest.mark.parametrize(
    "command",
    [
        ("delete", "store", "identifier-003", "--channel", "e-mail"),
        ("delete", "store", "identifier-003", "--received", "2026-05-04T09:30+02:00"),
        ("certificate", "store", "--request-id", "first", "--out", "c.json", "--language", "de"),
        ("certificate", "store", "--request-id", "first", "--out", "c.json", "--log", "all.log"),
        ("report", "store", "--out", "report.html", "--language", "de"),
    ],
)
def test_an_option_of_a_package_names_what_to_install_and_changes_nothing(
    folder: Path, capsys, command: tuple[str, ...]
) -> None:
    before = ledger_of("store").length
    try:
        status = main(command)
    except SystemExit as stopped:
        status = stopped.code
    assert status == 2
    assert "pip install 'noisygd-delete[compliance]'" in capsys.readouterr().err
    assert ledger_of("store").length == before
    assert {path.name for path in folder.iterdir()} == {"people.csv", "schema.toml", "store"}


def test_a_graph_names_what_writes_it(folder: Path, complaint) -> None:
    assert "noisygd-delete[onnx]" in complaint("export", "store", "--onnx", "model.onnx")
    assert "noisygd-delete[onnx]" in json.loads(current_artifact("store").files["facts.json"])["missing"]["model.onnx"]
    assert main(["export", "store", "--plain", "model.json"]) == 0


@pytest.mark.parametrize("option", ["--timestamp", "--log-proof"])
def test_a_certificate_is_verified_but_for_the_stamp_and_the_log(folder: Path, capsys, option: str) -> None:
    for words in (
        ["keygen", "c.pem"],
        ["certificate", "store", "--request-id", "first", "--key", "c.pem", "--out", "c.json"],
    ):
        assert main(words) == 0
    capsys.readouterr()
    assert main(["verify-certificate", "c.json", option, "beside.json", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["not_checked"]) == (False, [option])
    assert main(["verify-certificate", "c.json", option, "beside.json"]) == 2
    said = capsys.readouterr()
    assert said.out.endswith("the certificate holds\n")
    assert f"{option} was not checked" in said.err
    assert "pip install 'noisygd-delete[stamp]'" in said.err
    paper = Path("c.json").read_text()
    Path("c.json").write_text(paper.replace('"rows": 1', '"rows": 2'))
    assert main(["verify-certificate", "c.json", option, "beside.json"]) == 5


def test_english_is_the_only_language() -> None:
    assert language_codes() == ("en",)


def test_a_report_is_written_without_a_register(folder: Path) -> None:
    assert main(["report", "store", "--out", "report.html"]) == 0
    assert 'class="stack requests"' not in Path("report.html").read_text()


def test_rows_that_were_only_set_aside_are_not_certified_as_erased(folder: Path) -> None:
    """A register, installed elsewhere, noted a restriction: the engine reads it."""
    with Store.open("store") as store:
        request = EditRequest.delete(["identifier-004"], request_id="aside")
        store.serve(request, note=lambda held: {**held, "restricted": "2026-05-04", "own": ["anything"]})
        assert store.request_log.kept_aside() == ["aside"]
    erasure, _, _ = erasure_in(ledger_of("store"), request_id="aside")
    assert erasure.notices.restricted is not None
    assert verify("store").passed
