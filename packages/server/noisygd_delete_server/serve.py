"""`noisygd-delete serve`: run the HTTP service."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from noisygd_delete.cli.arguments import add_command, parse_integer, parse_number
from noisygd_delete.cli.keygen import add_passphrase_file, passphrase_of
from noisygd_delete.cli.stream import add_batches, pace_from
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.atomic_write import check_outside_store
from noisygd_delete.records import limited_io

from .access import TokenFile

if TYPE_CHECKING:
    import asyncio


_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def register(commands: Any) -> None:
    """Add the `serve` command and its options to the parser."""
    serve = add_command(
        commands,
        "serve",
        description="One request reaches every STORE that is named. It is kept before it is answered, its rows go at once, and models are "
        "published in batches. Other commands may be used beside it. Stop it with SIGTERM or Ctrl-C: nothing is lost, however it ends.",
        epilog="example: noisygd-delete serve people --tokens tokens.toml --deadline 604800",
    )
    serve.add_argument("stores", nargs="+", metavar="STORE", help="the first one keeps the inbox")
    serve.add_argument(
        "--tokens", required=True, metavar="FILE", help="who may ask what; made by `noisygd-delete token`"
    )
    serve.add_argument(
        "--folder",
        metavar="FOLDER",
        help="also take requests from files put into this folder: NAME.jsonl, one a line, as POST /requests has them",
    )
    serve.add_argument(
        "--drop",
        metavar="FILE",
        help="also take California's deletion lists (DROP) from a folder and answer them there, as this file says (TOML, see docs/drop.md)",
    )
    serve.take("--tombstones", "--tombstone-key")
    serve.add_argument(
        "--log",
        choices=("text", "json"),
        default="text",
        help="lines of the log: text (default), or a JSON object each",
    )
    where = serve.add_argument_group("where it listens")
    where.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, this machine alone")
    where.add_argument(
        "--port", type=parse_integer, default=8080, help="default: 8080; 0: any free one, which is printed"
    )
    where.add_argument(
        "--tls-certificate", metavar="FILE", help="serve https with this certificate (PEM, with its chain)"
    )
    where.add_argument("--tls-key", metavar="FILE", help="its private key")
    where.add_argument(
        "--behind-proxy",
        action="store_true",
        help="something in front of it encrypts: needed for a --host other than this machine without --tls-certificate",
    )
    when = serve.add_argument_group("publication, in each store")
    add_batches(when)
    when.add_argument(
        "--publish-after",
        type=parse_number,
        metavar="SECONDS",
        help="a release by a solver comes out so long after it was begun, so that when tells nothing of the table (default: by a calendar, "
        "as long as any table may make it take, 300 at most)",
    )
    messages = serve.add_argument_group("certificates and messages")
    messages.add_argument(
        "--key", metavar="FILE", help="sign certificates with this key (see keygen), for tokens with the role sign"
    )
    add_passphrase_file(messages)
    messages.add_argument(
        "--hooks",
        metavar="FILE",
        help="webhooks to tell, and the Fides server to call back (TOML, see docs/service.md)",
    )
    serve.set_defaults(run=_serve)


def _serve(parsed: argparse.Namespace) -> int:
    import uvicorn

    from noisygd_delete.cli.release import open_tombstones

    from .api import application
    from .drop import DropIntake
    from .drop_settings import Drop
    from .folder import FolderIntake
    from .messages import Hooks
    from .service import Service

    _check_place(parsed)
    check_outside_store("--key", parsed.key)
    check_outside_store("--tokens", parsed.tokens)
    password = None if parsed.key is None else passphrase_of(parsed.key, parsed.passphrase_file)
    if parsed.key is not None:
        from noisygd_delete.evidence.signing import read_private

        read_private(parsed.key, password=password)
    _log_as(parsed.log)
    service = Service(
        parsed.stores,
        TokenFile.read(parsed.tokens),
        pace=lambda ledger: pace_from(parsed, ledger),
        hooks=None if parsed.hooks is None else Hooks.read(parsed.hooks),
        key=parsed.key,
        password=password,
        tombstones=open_tombstones(parsed),
        lasts=parsed.publish_after,
    )
    try:
        listening = _socket(parsed.host, parsed.port)
    except InvalidParameter:
        service.stop()
        raise
    try:
        if parsed.folder is not None:
            service.intakes.append(FolderIntake(service, parsed.folder))
        if parsed.drop is not None:
            service.intakes.append(DropIntake(service, Drop.read(parsed.drop)))
        config = uvicorn.Config(
            application(service),
            access_log=False,  # an address contains a request's id
            log_config=None,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            ws="none",
            http=impatient(),
            limit_concurrency=1000,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=4,
            ssl_certfile=parsed.tls_certificate,
            ssl_keyfile=parsed.tls_key,
        )
        address, port = listening.getsockname()[:2]
        scheme = "http" if parsed.tls_certificate is None else "https"
        shown = f"[{address}]" if ":" in address else address
        print(f"listening on {scheme}://{shown}:{port}", file=sys.stderr, flush=True)

        class Server(uvicorn.Server):
            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                service.end()  # while the last answers are sent, not after them
                await super().shutdown(sockets)

        server = Server(config)

        def stop(*_: object) -> None:  # before the server handles signals itself, and when it forwards them
            server.should_exit = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        server.run(sockets=[listening])
    finally:
        service.stop()
        listening.close()
    return 0


def _log_as(form: str) -> None:
    from .tracing import JsonLines

    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    if form == "json":
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())


def _check_place(parsed: argparse.Namespace) -> None:
    if (parsed.tls_certificate is None) != (parsed.tls_key is None):
        raise InvalidParameter("--tls-certificate and --tls-key go together; give both")
    for option, file in (("--tls-certificate", parsed.tls_certificate), ("--tls-key", parsed.tls_key)):
        if file is not None:
            limited_io.read_file(file, limited_io.LIST)
            check_outside_store(option, file)
    if parsed.tls_certificate is not None:
        import ssl

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(parsed.tls_certificate, parsed.tls_key, password="")
        except (OSError, ValueError) as error:
            raise InvalidParameter(
                f"--tls-certificate {parsed.tls_certificate} and --tls-key {parsed.tls_key} do not serve https ({error})"
            ) from error
    elif parsed.host not in _LOOPBACK and not parsed.behind_proxy:
        raise InvalidParameter(
            f"--host {parsed.host} is reached from other machines, and tokens would travel in the clear: give --tls-certificate and --tls-key, "
            "or --behind-proxy where something in front of the service encrypts"
        )


def _socket(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise InvalidParameter(f"--port {port} must lie between 0 and 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        if os.name != "nt":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(2048)  # clients that connect before the server is ready wait
        except OSError:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:
        raise InvalidParameter(f"cannot listen on --host {host} --port {port} ({error}); give others") from error
    return listening


_HEADERS = 10.0  # seconds to receive the head of a request
_MOST = 300  # most connections with an incomplete request; beyond them the oldest is closed


def impatient() -> Any:
    """Return a uvicorn connection class with a time limit on the head of a request; uvicorn itself has none."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    half_open: dict[Connection, asyncio.TimerHandle] = {}  # oldest first

    class Connection(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._begin()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._end()
            elif self not in half_open:  # another request on the same connection
                self._begin()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            half_open[self] = self.loop.call_later(_HEADERS, self._cut)
            if len(half_open) > _MOST:
                next(iter(half_open))._cut()

        def _cut(self) -> None:
            self._end()
            self.transport.abort()

        def _end(self) -> None:
            timer = half_open.pop(self, None)
            if timer is not None:
                timer.cancel()

    return Connection
