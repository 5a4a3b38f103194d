"""Histories of a store drawn at random: batches, withheld and pending releases, places besides, and files put back from another moment.

Either the store refuses what it finds, or every paper that it issues says what is so, by an oracle of what was asked (`oracles.desk`).
"""

from __future__ import annotations

import copy
import hashlib
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from noisygd_delete_compliance.request_rows import line_of, notices_of, policy_of, register_lines
from noisygd_delete_compliance.restricted_records import read_key
from noisygd_delete_server.publishers import publish_to

from noisygd_delete import Budget, EditRequest
from noisygd_delete.accountant import Event
from noisygd_delete.cli import main
from noisygd_delete.errors import (
    BudgetExceeded,
    InvalidParameter,
    NoisyGDDeleteError,
    NotLearned,
    PlanInfeasible,
    StoreCorrupt,
)
from noisygd_delete.evidence import derivation, erasure, erasure_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.evidence.notices import NOTHING_STATED
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import Records
from noisygd_delete.store import Store, file_footer, verify
from noisygd_delete.store.batch import RequestBatch
from noisygd_delete.store.ledger import Ledger

from ..oracles import desk, owed
from ..store.conftest import SCHEMA, memory_folder, name, person, plan, records, row
from ..store.test_put_back import in_parts, put_back, same

ROWS, SLOTS = 9, 12
METHODS = ("noisy-gd", "noisy-gd", "noisy-gd:analysis=paper", "output-perturbation", "objective-perturbation")
CARRIED = (
    "sufficient-statistics",
    "sufficient-statistics",
    "objective-perturbation",
)  # releases drawn before the rows go, and others in the same ledger


class History:
    """A store, what is true of it, and copies of both from earlier moments."""

    def __init__(self, root: Path, seed: int, methods: tuple[str, ...]) -> None:
        self.root, self.chance, self.methods = root, random.Random(seed), methods
        self.path, self.number, self.refused = root / "store", 0, 0
        self.desk = desk.Desk({name(k): person(k) for k in range(ROWS)})
        self.owners: dict[str, dict[str, str]] = {}  # of what was set aside
        self.places: dict[str, bool] = {}  # by name: whether it answers
        self.copies: list[tuple[Path, desk.Desk]] = []
        with Store.create(self.path, records(), SCHEMA, self.plan(self.chance.choice((2, 4, 9)))) as store:
            store.learn()
        self.desk.release()

    def plan(self, releases: int, **changes: Budget) -> Plan:
        method = self.chance.choice(self.methods)
        return plan(releases=releases, method=method, **changes)

    # --- what is asked ---

    def request(self) -> tuple[str, EditRequest, Callable[[], None]]:
        """(token, a request that can be served, what it does to the truth)."""
        people, chance, token = self.desk.people, self.chance, f"r{self.number}"
        self.number += 1
        here, deleted, replaced = sorted(people), list[str](), list[str]()
        kind = chance.choice(("row", "person", "rows", "replace", "both", "delete and insert", "insert"))
        if kind in ("replace", "both") and "replaced" not in ledger_of(self.path).plan.promise.edits:
            kind = "rows"
        if len(here) < 4:
            kind = "insert"
        first = chance.choice(here)
        of_person = [who for who in here if people[who] == people[first]]
        if kind in ("row", "delete and insert"):
            deleted = [first]
        elif kind == "person":
            deleted = of_person
        elif kind == "rows":
            deleted = sorted({first, chance.choice(here)})
        elif kind in ("replace", "both"):
            replaced, deleted = [first], [who for who in of_person if who != first] if kind == "both" else []
        new = {}
        if kind in ("delete and insert", "insert") and len(here) - len(deleted) < SLOTS - 1:
            left = [people[who] for who in here if who not in deleted]
            owner = chance.choice((people[first], f"new-{token}"))
            owner = owner if left.count(owner) < 2 else f"new-{token}"
            new = {name(1000 + self.number): owner}
        if not (deleted or replaced or new):
            deleted = [first]
        k = 100 + self.number
        insertion = None
        if new:
            ((who, owner),) = new.items()
            insertion = EditRequest.insert([who], [row(k)], [1.0], subjects=[owner]).insertion
        asked = EditRequest(
            deletions=deleted,
            replacements={who: (row(k + 300), 1.0) for who in replaced},
            insertion=insertion,
            request_id=token,
        )
        return token, asked, lambda: self.desk.edit(token, deleted, replaced, new)

    def released(self, store: Store, before: int) -> None:
        if store.ledger.releases > before:
            self.desk.release()
        elif store.ledger.head.kind == "withheld":
            self.desk.withhold()

    def serve(self, store: Store) -> None:
        _, asked, done = self.request()
        before, publish = store.ledger.releases, self.chance.random() < 0.5
        store.serve(asked, publish=publish)
        done()
        self.released(store, before)

    def batch(self, store: Store) -> None:
        """Several requests in one call, each on what the one before it left; with their release, or without."""
        asked: list[EditRequest] = []
        for _ in range(self.chance.randrange(2, 5)):
            _, request, done = self.request()
            asked.append(request)
            done()
        before = store.ledger.releases
        edited = store.edit_all(asked, publish_from=self.chance.choice((None, 1, 3)))
        assert edited.outcomes == [None] * len(asked)
        self.released(store, before)

    def aside(self, token: str) -> list[str]:
        return [str(self.root / f"{token}.aside"), "--archive-key", str(self.root / f"{token}.key")]

    def restrict(self) -> None:
        """Rows set aside, in a file outside the store."""
        if not self.desk.people:
            return
        token, before = f"r{self.number}", ledger_of(self.path)
        self.number += 1
        who = self.chance.choice(sorted(self.desk.people))
        how = self.chance.choice(([], ["--no-publish"], ["--no-publish", "--withdraw"]))
        main(["restrict", str(self.path), who, "--to", *self.aside(token), "--request-id", token, *how])
        with Store.open(self.path) as store:
            if store.ledger.position(token) is None:  # refused
                return
            self.owners[token] = {who: self.desk.people[who]}
            self.desk.edit(token, [who], [], {})
            self.desk.requests[token].aside = True
            self.released(store, before.releases)
            self.desk.withdrawn |= "--withdraw" in how

    def lift(self) -> None:
        """Rows that were set aside come back."""
        set_aside = [token for token, asked in self.desk.requests.items() if asked.aside and not asked.back]
        if not set_aside:
            return
        token, before = self.chance.choice(set_aside), ledger_of(self.path)
        asked, how = self.desk.requests[token], self.chance.choice(([], ["--no-publish"]))
        done = main(["lift", str(self.path), token, "--from", *self.aside(token), "--informed", "2026-01-01", *how])
        if ledger_of(self.path).length == before.length:
            assert done
            return
        key = read_key(self.root / f"{token}.key")
        self.desk.edit(hashlib.sha256(key + token.encode()).hexdigest()[:32], [], [], dict(self.owners[token]))
        asked.back = True
        with Store.open(self.path) as store:
            self.released(store, before.releases)

    def publish(self, store: Store) -> None:
        before = store.ledger.releases
        with suppress(NoisyGDDeleteError):
            store.publish(force=self.chance.random() < 0.3)
        self.released(store, before)

    def relearn(self, store: Store) -> None:
        budget = Budget(order=4, dp=2.0 * len(self.desk.releases), deletion=0.5)
        before = store.ledger.releases
        with suppress(BudgetExceeded, InvalidParameter, PlanInfeasible):
            store.relearn(self.plan(9, budget=budget))
        self.released(store, before)

    def withdraw(self, store: Store) -> None:
        with suppress(NotLearned):
            store.withdraw()
            self.desk.withdrawn = True

    def place(self, store: Store) -> None:
        self.number += 1
        if len(self.places) < 3:
            publish_to(store, f"folder:{self.root / f'place-{self.number}'}")
            self.places[f"place-{self.number}"] = True

    def break_or_mend(self, store: Store) -> None:
        if not self.places:
            return
        where = self.chance.choice(sorted(self.places))
        folder, away = self.root / where, self.root / f"{where}-away"
        if self.places[where] and folder.exists():
            folder.rename(away)
            folder.write_text("a file")
            self.places[where] = False
        elif not self.places[where]:
            folder.unlink()
            away.rename(folder)
            self.places[where] = True

    def keep(self, store: Store) -> None:
        kept = self.root / f"copy-{len(self.copies)}"
        shutil.copytree(self.path, kept)
        self.copies.append((kept, copy.deepcopy(self.desk)))

    def lying(self) -> list[int | None]:
        """The earliest release in each place, by looking there."""
        found: list[int | None] = []
        for where, answers in self.places.items():
            folder = self.root / (where if answers else f"{where}-away")
            numbers = [re.fullmatch(r"release-(\d+)-[0-9a-f]+", each.name) for each in folder.glob("release-*")]
            found.append(min((int(one[1]) for one in numbers if one), default=None))
        return found

    # --- files put back ---

    def restore(self) -> None:
        """Some files, or all, as they were at an earlier moment. What the store refuses is put right again."""
        if not self.copies:
            return
        kept, then = self.chance.choice(self.copies)
        now, changed = self.root / "now", [f for f in self._files(kept) if not same(kept, self.path, f)]
        if not changed:
            return
        how = self.chance.choice(("one", "one", "two", "records", "list", "all"))
        mix = {
            "one": self.chance.sample(changed, 1),
            "two": self.chance.sample(changed, min(2, len(changed))),
            "records": [file for file in changed if file.startswith("records/")],
            "list": [file for file in changed if file == "publishers.json"],
            "all": changed,
        }[how]
        shutil.copytree(self.path, now)
        put_back(self.path, kept, tuple(mix))
        whole = set(mix) == set(changed)
        try:
            Store.open(self.path).close()
        except StoreCorrupt:
            assert not verify(self.path).passed
            assert not whole, "a whole copy is a store"
            self.refused += 1
            shutil.rmtree(self.path)
            now.rename(self.path)
            return
        shutil.rmtree(now)
        if whole:
            self.desk = copy.deepcopy(then)
            self._forget_places()

    def _forget_places(self) -> None:
        """A whole copy is a store: only what is kept outside tells what was done since. So its places are those that it knows to hold something."""
        with Store.open(self.path) as store:
            known = {Path(each.address).name for each in store.destinations if each.held or each.oldest}
        for where in set(self.places) - known:
            del self.places[where]

    def _files(self, kept: Path) -> list[str]:
        return sorted({*in_parts(kept), *in_parts(self.path)})

    # --- what is judged ---

    def judged(self) -> Iterator[str]:
        """Sentences that are not so, in any paper that the store issues as it stands."""
        if not verify(self.path).passed:
            return
        with Store.open(self.path) as store:
            table = store.records
            held = {who: owner for who, owner in zip(table.ids_by_slot, table.subjects_by_slot, strict=True) if who}
            if held != self.desk.people:
                yield f"trained on {sorted(set(held) ^ set(self.desk.people))}"
        ledger = ledger_of(self.path)
        for token, asked in self.desk.requests.items():
            if not (asked.deleted or asked.replaced):
                continue
            try:
                line = line_of(self.path, token)
                received = None
                notices = notices_of(line, policy_of(self.path), received)
                stated, held_plan, events = erasure_in(ledger, request_id=token, notices=notices)
            except InvalidParameter:  # the register does not know it: nothing is issued
                continue
            paper = erasure_certificate(stated, plan=held_plan, events=events)
            released = [_edits(event) for event in events]
            yield from (f"{token}: {fault}" for fault in desk.faults(paper, released, self.desk, token, self.lying()))
            yield from (
                f"{token}: {fault}" for fault in self._owed(paper, events, token, held_plan.problem.rows_per_subject)
            )
        lines = register_lines(self.path)
        if len(lines) != len(self.desk.requests):
            yield f"{len(lines)} requests stand in the register, and {len(self.desk.requests)} were made"
        for line in lines:
            known = self.desk.requests.get(line.token)
            if known is None or line.served is None:
                yield f"{line.token} stands in the register, and was not asked, or not served"
            elif line.served.release != known.release or line.served.rows != known.deleted + known.replaced:
                yield f"{line.token} stands in the register as {line.served}"

    def _owed(self, paper: dict, events: list[Event], token: str, rows: int) -> list[str]:
        asked = self.desk.requests[token]
        public = paper["public_facts"]
        facts = {
            "rows_per_person": rows,
            "remaining": asked.left,
            "from_data": (),
            "delta": public["delta"],
            "slots": public["plan"]["problem"]["records"],
            "status": self.desk.status(token),
            "release": asked.release,
            "publishers": [{"oldest": oldest} for oldest in self.lying()],
            "by_calendar": False,
            "places_unknown": any(claim["key"] == "elsewhere.unknown" for claim in paper["claims"]),
            "withdrawn": self.desk.withdrawn,
        }
        return owed.faults(paper, [event.to_dict() for event in events], facts)


def _edits(event: Event) -> dict[str, int]:
    return {kind: getattr(event.counts, kind) for kind in desk.NONE}


DONE = ("serve", "serve", "batch", "batch", "publish", "relearn", "withdraw", "place", "break_or_mend", "keep", "keep")


def judged(seed: int, steps: int = 14, methods: tuple[str, ...] = METHODS[:1]) -> tuple[list[str], int]:
    """(what a paper says that is not so, how often the store refused what was put back) in one history."""
    with memory_folder() as root:
        history = History(root, seed, methods)
        for _ in range(steps):
            draw = history.chance.random()
            if draw < 0.3:
                history.restore()
            elif draw < 0.42:
                history.chance.choice((history.restrict, history.lift, history.lift))()
            else:
                with Store.open(history.path) as store:
                    getattr(history, history.chance.choice(DONE))(store)
            if found := list(history.judged()):
                return found, history.refused
        return [], history.refused


def test_papers_of_random_stores_say_what_is_so() -> None:
    found = {seed: judged(seed) for seed in range(12)}
    assert {seed: faults for seed, (faults, _) in found.items() if faults} == {}
    assert sum(refused for _, refused in found.values()) >= 3
    assert {seed: faults for seed in range(4) if (faults := judged(seed, 8, METHODS)[0])} == {}
    assert {seed: faults for seed in range(4) if (faults := judged(seed, 10, CARRIED)[0])} == {}


@pytest.mark.long
def test_papers_of_many_random_stores_say_what_is_so(record_property: Callable[[str, str], None]) -> None:
    found = {seed: judged(seed, 20, (METHODS, CARRIED, METHODS[:1])[seed % 3]) for seed in range(1000, 1120)}
    wrong = {seed: faults for seed, (faults, _) in found.items() if faults}
    refused = sum(refused for _, refused in found.values())
    record_property(
        "evidence",
        f"120 random stores, {refused} times what was put back was refused: {len(wrong)} with a false sentence",
    )
    assert wrong == {}


def register_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisygd_delete.store.rollback_guard.is_register_restored", lambda layout: False)


def ties_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_footer, "check", lambda *given: None)


def seal_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "_check_seal", lambda *given: None)
    ties_unasked(monkeypatch)


def each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier request of a batch deleted counts as left by a later one."""
    right = RequestBatch.change

    def careless(self: RequestBatch, *given: object, **options: object) -> object:
        left = tuple(None if part.beside is None else len(part.beside) for part in self.edits)
        return replace(right(self, *given, **options), left=left)  # type: ignore[arg-type]

    monkeypatch.setattr(RequestBatch, "change", careless)


def new_row_uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new row of a person whose old one went in the same request."""
    right = Records._beside
    monkeypatch.setattr(
        Records, "_beside", lambda self, slots, owners, *n: right(self, slots, tuple(None for _ in owners), *n)
    )


def waiting_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        erasure,
        "_status",
        lambda ledger, published: erasure.Statuses.PENDING if published is None else erasure.Statuses.PUBLISHED,
    )


def places_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "_may_have_used", lambda oldest, release: False)


def lifts_unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that came back are taken for gone."""
    right = derivation.derive_guarantees
    monkeypatch.setattr(
        derivation,
        "derive_guarantees",
        lambda erasure, accountant: right(replace(erasure, notices=NOTHING_STATED), accountant),
    )


@pytest.mark.parametrize(
    "fault",
    [
        lifts_unsaid,
        register_unasked,
        ties_unasked,
        seal_unasked,
        each_alone,
        new_row_uncounted,
        waiting_is_withheld,
        places_unread,
    ],
)
def test_a_planted_fault_is_seen(fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    assert any(map(false_sentences, range(150)))


def false_sentences(seed: int) -> list[str]:
    """What is not so in one history; nothing where a file that was let in stops the store."""
    with suppress(StoreCorrupt):
        return judged(seed)[0]
    return []
