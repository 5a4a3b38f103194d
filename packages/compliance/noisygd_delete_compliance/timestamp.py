"""RFC 3161 time stamps, which show by a server trusted by the reader that a certificate existed at a time.

The server learns a SHA-256 only, and is contacted only if one is named.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from noisygd_delete.errors import InvalidParameter, MissingDependency
from noisygd_delete.evidence.checks import Check, shorten_error
from noisygd_delete.records import limited_io

_LONGEST = 1 << 16  # bytes of a response: about ten times a stamp with its certificates
_PATIENCE = 30.0  # seconds


def request_timestamp(data: bytes, server: str) -> bytes:
    """Return the server's time-stamp response for these bytes, as written to a file.

    Raises:
        InvalidParameter: If `server` is no HTTP address, does not respond, or responds with no stamp of these bytes.
    """
    client = _client()
    if not server.startswith(("http://", "https://")):
        raise InvalidParameter(f"timestamp server {server!r} must be an http or https address")
    query = client.TimestampRequestBuilder().data(data).build()
    request = urllib.request.Request(server, query.as_bytes(), {"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            content: bytes = answer.read(_LONGEST + 1)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise InvalidParameter(
            f"the timestamp server {server} did not answer ({shorten_error(error)}); nothing was written"
        ) from error
    if len(content) > _LONGEST:
        raise InvalidParameter(
            f"the timestamp server {server} answered with more than {_LONGEST} bytes: that is no stamp"
        )
    try:
        response = client.decode_timestamp_response(content)
        same = response.tst_info.message_imprint.message == query.message_imprint.message
        if not same or response.tst_info.nonce != query.nonce:
            raise ValueError("it is the stamp of something else")
    except ValueError as error:
        raise InvalidParameter(
            f"the timestamp server {server} gave no stamp of this certificate ({shorten_error(error)})"
        ) from error
    return content


def check_stamp(data: bytes, stamp: str | Path, root: str | Path) -> Check:
    """Check a time stamp of these bytes.

    Args:
        data: The stamped bytes.
        stamp: File of the time-stamp response.
        root: PEM file of the root certificate under which the server must be certified.

    Raises:
        MissingDependency: If rfc3161-client is not installed.
    """
    client = _client()
    from cryptography import x509

    try:
        vouching = x509.load_pem_x509_certificates(limited_io.read_file(root, limited_io.KEY))
        response = client.decode_timestamp_response(limited_io.read_file(stamp, _LONGEST))
        builder = client.VerifierBuilder()
        for certificate in vouching:
            builder = builder.add_root_certificate(certificate)
        builder.build().verify_message(response, data)
    except (ValueError, client.VerificationError) as error:
        return Check("time stamp", False, shorten_error(error))
    return Check(
        "time stamp",
        True,
        f"it existed on {response.tst_info.gen_time.isoformat()}, by a server that this root vouches for",
    )


def _client() -> Any:
    try:
        import rfc3161_client
    except ImportError as error:
        raise MissingDependency("time stamps need rfc3161-client; pip install 'noisygd-delete[stamp]'") from error
    return rfc3161_client
