"""The service as one object: inbox, writer, messages, and the operations of the HTTP handlers."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisygd_delete_compliance import RegisterRow
from noisygd_delete_compliance.register_page import PAGE_LINES, register_page
from noisygd_delete_compliance.request_rows import line_of, notices_of, policy_of, received_of, register_lines
from noisygd_delete_compliance.row import urgency_key

from noisygd_delete.engine import Execution
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError, StoreCorrupt, StoreLocked
from noisygd_delete.evidence import erasure_certificate, sign_document
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.store import Soundness, Store, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.release_schedule import default_schedule
from noisygd_delete.store.rollback_guard import is_register_restored
from noisygd_delete.store.tombstones import Tombstones

from . import tracing
from .access import TokenFile
from .dispatcher import Pace
from .inbox import Inbox, Stages, Waiting, pending_requests
from .messages import Hooks, Messenger, Post
from .request_body import RequestBody, case_of, check_contents, contents, local_now
from .request_status import Course, Known, schema_of
from .writer import Writer

if TYPE_CHECKING:
    from .folder import Watching

HERE = "/register"  # path of the register's page
_PATIENCE = 30.0  # seconds that a certificate may wait for the writer
ENDS = 6.0  # seconds for steps in progress on shutdown; a container allows ten
_MOST_STORES = 100
_MOST_LISTED = 1000


class Conflict(NoisyGDDeleteError):
    """The id of a request was used before for another request."""


class Service:
    """The service of these stores.

    Args:
        stores: Folders of the stores; the first one holds the inbox.
        tokens: The accepted tokens.
        pace: Release schedule of a store; by default a calendar if its budget is for all releases together, else at
            once.
        hooks: Receivers of messages.
        key: Key that signs certificates, for callers with the role.
        password: Passphrase of `key`.
        published: Called with the name of a store and the store after each of its releases.
        post: Sends a message (`Messenger`); None means HTTP.
        tombstones: List of erased ids that no later release may read.
        disk: File operations; None means the default.
        lasts: Duration of a release by a solver in seconds, so that its time reveals nothing; None: on calendar dates
            the duration given by public numbers, five minutes at most, otherwise as long as it takes.

    Raises:
        InvalidParameter: If two stores have one name, a store has not learned, or another store than the first holds an
            inbox.
        StoreLocked: If another service is running with the first store.
    """

    def __init__(
        self,
        stores: Sequence[str | Path],
        tokens: TokenFile,
        *,
        pace: Callable[[Ledger], Pace] = default_schedule,
        hooks: Hooks | None = None,
        key: str | Path | None = None,
        password: bytes | None = None,
        published: Callable[[str, Store], None] = lambda *_: None,
        post: Post | None = None,
        tombstones: Tombstones | None = None,
        disk: Disk | None = None,
        lasts: float | None = None,
    ) -> None:
        Execution(lasts=lasts or 0.0)  # raises now rather than on the first date
        self.paths = _name_stores(stores)
        self.tokens, self.hooks = tokens, hooks or Hooks({})
        self._key, self._password = key, password
        ledgers = {name: ledger_of(path) for name, path in self.paths.items()}
        for name, ledger in ledgers.items():
            if not ledger.releases:
                raise InvalidParameter(f"{self.paths[name]}: no model was learned; run learn first")
        layouts = {name: Layout.at(path) for name, path in self.paths.items()}
        first, *others = layouts.values()
        for layout in others:
            if Inbox.holds_any(layout):
                raise InvalidParameter(
                    f"{layout.root}: holds requests of a service that was begun with this store; name it first"
                )
        paces = {name: pace(ledger) for name, ledger in ledgers.items()}
        self.schemas = {name: schema_of(layout) for name, layout in layouts.items()}
        self.inbox = Inbox(first, disk)
        self.known = Known(self.paths, self.inbox)
        self.messenger = Messenger(self.inbox, self.hooks, post=post)
        self.writer = Writer(
            self.paths,
            self.inbox,
            paces,
            notify=self.messenger.tell,
            published=published,
            tombstones=tombstones,
            disk=disk,
            lasts=lasts,
        )
        self.answers: Counter[str] = Counter()  # HTTP status -> number of answers
        self.accepted = self.repeated = 0
        self.intakes: list[Watching] = []  # threads that read requests from folders, started with the others
        self._until: float | None = None  # time limit of `stop`; None while the service runs
        self._stopped = False

    def start(self) -> None:
        """Start the threads."""
        for one in self._threads:
            one.start()

    @property
    def _threads(self) -> list[Writer | Messenger | Watching]:
        return [self.writer, self.messenger, *self.intakes]

    def end(self) -> None:
        """Ask every thread to end after its current step; `stop` then waits some seconds for all of them together."""
        if self._until is None:
            self._until = time.monotonic() + ENDS
            for one in self._threads:
                one.end()

    def stop(self) -> None:
        """Finish the steps in progress within the time limit; accepted requests are kept."""
        self.end()
        if not self._stopped and self._until is not None:
            self._stopped = True
            for one in self._threads:
                one.join(self._until)
            self.inbox.close()

    def take(
        self,
        token: str,
        body: RequestBody,
        reply: Mapping[str, str] | None = None,
        *,
        publish_by: str | None = None,
        by: str | None = None,
    ) -> Course:
        """Accept a request durably, or return the status of a known one.

        Args:
            token: The request id.
            body: The body of the request.
            reply: Callback of a privacy desk.
            publish_by: Day until which a release is promised, for the register.
            by: Name of the caller's token, if there is one.

        Raises:
            Unfit: If no store can execute it.
            Conflict: If its id was used for another request.
            Full: If the inbox is full.
            TooMany: If this caller has too many pending requests.
            StoreError: If a store does not answer.
        """
        found = check_contents(body, self.schemas)
        fields: dict[str, Any] = {"request_id": token, "contents": found, "received": body.received or local_now()}
        fields |= {"channel": body.channel and str(body.channel), "identity_checked": body.identity_checked}
        fields |= {} if reply is None else {"reply": dict(reply)}
        fields |= {} if publish_by is None else {"publish_by": publish_by}
        fields |= {} if by is None else {"by": by}
        fields |= {} if (trace := tracing.current()) is None else {"trace": trace}
        case_of(fields)  # raises if the register would reject it
        with self.inbox.guard:
            repeated = self.inbox.find(token) is not None or self.known.is_known(token)
            if not repeated:
                self.inbox.accept(fields)
                self.accepted += 1
                self.writer.notice()
        if repeated:  # outside the lock, because a source may have to be read
            if self.known.conflicts(token, found):
                raise Conflict(
                    "this request id was used before for something else; give every request a random id of its own"
                )
            self.repeated += 1
        answer = self.known.answer(token)
        assert answer is not None
        return answer

    def leave(self, token: str, reason: str, **stated: str) -> None:
        """Record a request about which a person has to decide: nothing is erased, and the register shows it as open.

        Args:
            token: The request id.
            reason: Why a person has to decide.
            **stated: `received`, and further facts for the register.
        """
        fields = {"request_id": token, "contents": contents(RequestBody()), "open": reason, **stated}
        case_of(fields)
        with self.inbox.guard:
            if self.known.answer(token) is None:
                self.inbox.accept(fields)
                self.accepted += 1
                self.writer.notice()

    def answer(self, token: str, by: str | None = None) -> Course | None:
        """Return the status of a request; None if it is unknown, or was not sent by the caller `by`."""
        if by is not None and self.known.requested_by(token) != by:
            return None
        return self.known.answer(token)

    def waiting(self) -> list[Waiting]:
        """Return quarantined, refused, accepted and edited requests, in this order and each in order of arrival."""
        stages = (Stages.QUARANTINED, Stages.REFUSED, Stages.ACCEPTED, Stages.EDITED)
        found = [pending_requests(kept) for stage in stages for kept in self.inbox.at(stage) if kept.token is not None]
        return found[:_MOST_LISTED]

    def decide(self, token: str, what: str) -> None:
        """Ask the writer to "retry" or "drop" a quarantined request.

        Raises:
            Conflict: If it is not quarantined, or is to be dropped and a store has executed its part.
        """
        kept = self.inbox.find(token)
        if kept is None or kept.stage is not Stages.QUARANTINED:
            raise Conflict("this request is not quarantined; only quarantined requests are retried or dropped")
        if what == "drop" and self.known.is_known(token):
            raise Conflict(
                "a store has erased its rows for this request already; only the others are left, so retry it"
            )
        self.inbox.accept({what: token})
        self.writer.notice()

    def publish(self, store: str | None) -> dict[str, int]:
        """Ask the writer to publish pending edits, in one store or in all; return the pending edits of each.

        Raises:
            Conflict: If there is no store of this name.
        """
        if store is not None and store not in self.paths:
            raise Conflict("there is no store of this name here")
        names = list(self.paths) if store is None else [store]
        pending = {name: ledger_of(self.paths[name]).head.pending for name in names}
        self.inbox.accept({"publish": names})
        self.writer.notice()
        return pending

    def register(self, page: int | None = None) -> list[dict[str, Any]]:
        """Return the requests of persons in every store, overdue and next due first; or one page of them."""
        rows = self._lines()
        shown = rows if page is None else rows[(page - 1) * PAGE_LINES : page * PAGE_LINES]
        return [{"store": name, **line.to_dict()} for name, line in shown]

    def register_page(self, page: int, language: str) -> str:
        """Return a page of the register as HTML; stores are named if there are several."""
        several = len(self.paths) > 1
        return register_page(
            [(name if several else None, line) for name, line in self._lines()],
            code=language,
            page=page,
            here=HERE,
            controller=policy_of(next(iter(self.paths.values()))).controller,
            restored=any(is_register_restored(Layout(path)) for path in self.paths.values()),
            waiting=sum(kept.token is not None for kept in self.inbox.at(Stages.ACCEPTED)),
        )

    def _lines(self) -> list[tuple[str, RegisterRow]]:
        found = [(name, line) for name, path in self.paths.items() for line in register_lines(path) if line.of_a_person]
        return sorted(found, key=lambda placed: urgency_key(placed[1]))

    def certificates(self, token: str, signs: bool) -> dict[str, Any] | None:
        """Return the certificate of a request in every store that erased rows for it; None if it is unknown.

        Args:
            token: The request id.
            signs: Whether to sign them.

        Raises:
            InvalidParameter: If nothing was erased yet, or there is no key to sign with.
        """
        answer = self.known.answer(token)
        if answer is None:
            return None
        if signs and self._key is None:
            raise InvalidParameter(
                "this service has no key to sign with: start it with --key, or ask with a token that only reads"
            )
        if not answer.stores:
            raise InvalidParameter(f"no rows were erased for this request so far: it is {answer.state}")
        papers = [self._certificate(self.paths[one.store], token, signs) for one in answer.stores]
        return {
            "request_id": token,
            "certificates": [
                {"store": one.store, "certificate": paper} for one, paper in zip(answer.stores, papers, strict=True)
            ],
        }

    def _certificate(self, path: Path, token: str, signs: bool) -> dict[str, Any]:
        line, policy = line_of(path, token), policy_of(path)
        soundness = self._verified(path)
        if not soundness.passed:
            raise StoreCorrupt(f"{path} does not verify, so nothing is certified: {'; '.join(soundness.faults)}")
        received = received_of(line, None)
        erasure, plan, events = erasure_in(
            ledger_of(path),
            request_id=token,
            received=received,
            controller=policy.controller,
            notices=notices_of(line, policy, received),
            checked=f"the store was verified when this was issued ({len(soundness.checked)} checks passed)",
        )
        paper = erasure_certificate(erasure, plan=plan, events=events)
        return sign_document(paper, self._key, password=self._password) if signs and self._key is not None else paper

    def _verified(self, path: Path) -> Soundness:
        """Verify a store once its writer releases the lock; do not wait if the service is stopping."""
        last = time.monotonic() + _PATIENCE
        while True:
            try:
                return verify(path, wait=0.5)
            except StoreLocked:
                if self._until is not None or time.monotonic() > last:
                    raise

    @property
    def health(self) -> str:
        """State of the writer: "ok", or "trouble" while it cannot proceed."""
        return "ok" if self.writer.trouble is None else "trouble"

    @property
    def oldest(self) -> float:
        """Age in seconds of the oldest request whose rows are not edited yet; 0 if there is none."""
        since = [
            kept.fields.get("since") for stage in (Stages.ACCEPTED, Stages.QUARANTINED) for kept in self.inbox.at(stage)
        ]
        return max(0.0, time.time() - min((at for at in since if at is not None), default=math.inf))

    def metrics(self) -> str:
        """Return counts in the text format of Prometheus."""
        ledgers = {f'store="{_quote_label(name)}"': ledger_of(path) for name, path in self.paths.items()}
        totals = {
            "requests_accepted": self.accepted,
            "requests_repeated": self.repeated,
            "requests_refused": self.writer.refusals,
            "releases": self.writer.releases,
            "messages_delivered": self.messenger.delivered,
            "messages_failed": self.messenger.failed,
            "messages_given_up": self.messenger.given_up,
        }
        lines = [
            *_format_metric("inbox", {f'stage="{stage}"': number for stage, number in self.inbox.counts().items()}),
            *_format_metric("oldest_waiting_seconds", {"": f"{self.oldest:.0f}"}),
            *_format_metric("trouble", {"": int(self.writer.trouble is not None)}),
            *_format_metric("pending_edits", {name: ledger.head.pending for name, ledger in ledgers.items()}),
            *_format_metric("model_in_force", {name: int(ledger.head.in_force) for name, ledger in ledgers.items()}),
            *(
                line
                for name, total in totals.items()
                for line in _format_metric(f"{name}_total", {"": total}, "counter")
            ),
            *_format_metric(
                "answers_total", {f'status="{code}"': n for code, n in sorted(self.answers.items())}, "counter"
            ),
        ]
        return "\n".join(lines) + "\n"


def _format_metric(name: str, values: Mapping[str, object], kind: str = "gauge") -> Iterator[str]:
    """Yield the lines of a metric in the text format of Prometheus, by labels."""
    yield f"# TYPE noisygd_delete_{name} {kind}"
    yield from (f"noisygd_delete_{name}{f'{{{labels}}}' if labels else ''} {value}" for labels, value in values.items())


def _name_stores(stores: Sequence[str | Path]) -> dict[str, Path]:
    if not 0 < len(stores) <= _MOST_STORES:
        raise InvalidParameter(f"give 1 to {_MOST_STORES} stores")
    found: dict[str, Path] = {}
    for store in stores:
        root = Layout.at(store).root
        if root.name in found:
            raise InvalidParameter(
                f"two stores have the name {root.name!r}, by which clients tell them apart; rename a folder"
            )
        found[root.name] = root
    return found


def _quote_label(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
