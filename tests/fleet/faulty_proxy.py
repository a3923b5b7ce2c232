"""An HTTP proxy in front of an object storage: it counts requests, and refuses or cuts those that it is told to."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TypeAlias

_SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
_MAX_ANSWER_S = 60
_HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")

Watcher: TypeAlias = "Callable[[Request], str | None]"


class Request:
    """What a client asks."""

    def __init__(self, number: int, method: str, path: str) -> None:
        self.number = number
        """From 1, in the order of arrival."""
        self.method = method
        self.path = path
        """With the query."""

    def fits(self, methods: str, pattern: str) -> bool:
        """Whether the method is one of these, and the path contains a match."""
        return self.method in methods.split() and re.search(pattern, self.path) is not None


class FaultyProxy:
    """Forwards requests to a server of this machine.

    `watcher` is called with each request before it is forwarded. It returns what goes wrong: "refuse" for a 503,
    "half" for an answer that ends in the middle, or nothing."""

    def __init__(self, port: int) -> None:
        self.watcher: Watcher = lambda _: None
        self.requests: list[Request] = []
        self.faults = 0
        lock = Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _forward(self) -> None:
                with lock:
                    request = Request(len(proxy.requests) + 1, self.command, self.path)
                    proxy.requests.append(request)
                    fault = proxy.watcher(request)
                    proxy.faults += fault is not None
                body = _body(self)
                if fault == "refuse":
                    self._answer(503, {"Content-Length": str(len(_SLOW_DOWN))}, _SLOW_DOWN)
                    return
                connection = HTTPConnection("127.0.0.1", port, timeout=_MAX_ANSWER_S)
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in _HOP_BY_HOP:
                        connection.putheader(name, value)
                connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body)
                found = connection.getresponse()
                headers = {name: value for name, value in found.getheaders() if name.lower() not in _HOP_BY_HOP}
                body = found.read()
                # The answer to HEAD has the length of a body that it lacks.
                headers["Content-Length"] = found.getheader("Content-Length") or str(len(body))
                self._answer(found.status, headers, body, is_cut=fault == "half")
                connection.close()

            def _answer(self, status: int, headers: dict[str, str], body: bytes, *, is_cut: bool = False) -> None:
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if is_cut else body)
                if is_cut:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)

            def log_message(self, *_: object) -> None:
                """Requests are in `requests`."""

        for method in ("GET", "PUT", "HEAD", "POST", "DELETE"):
            setattr(Handler, f"do_{method}", Handler._forward)
        proxy = self
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def reset(self, watcher: Watcher = lambda _: None) -> None:
        """Forget what was, and let another watcher decide."""
        self.requests, self.faults, self.watcher = [], 0, watcher

    def count(self, methods: str, pattern: str) -> int:
        """How many requests there were of these methods and paths."""
        return sum(each.fits(methods, pattern) for each in self.requests)

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if "chunked" in handler.headers.get("Transfer-Encoding", ""):
        parts = []
        while size := int(handler.rfile.readline().split(b";")[0], 16):
            parts.append(handler.rfile.read(size))
            handler.rfile.readline()
        handler.rfile.readline()
        return b"".join(parts)
    return handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
