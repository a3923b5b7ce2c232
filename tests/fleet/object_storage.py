"""A server of the S3 protocol on this machine, behind a proxy with faults."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from faulty_proxy import FaultyProxy
from fleet_stores import write_captures

BUCKET = "traces"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "tester", "AWS_REGION": "us-east-1"}


class Storage:
    """One bucket, reached directly or through the proxy."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.proxy = FaultyProxy(port)
        self._system: Any = self._opened(port)
        self._system.create_dir(BUCKET)

    @staticmethod
    def _opened(port: int) -> Any:
        from pyarrow import fs

        opened: Any = fs.S3FileSystem
        return opened(
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region=KEYS["AWS_REGION"],
            access_key=KEYS["AWS_ACCESS_KEY_ID"],
            secret_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            allow_bucket_creation=True,
            allow_delayed_open=True,
        )

    def uri(self, path: str, *, through_proxy: bool = True) -> str:
        """The URI of a path in the bucket, with the options that reach it."""
        options = {
            "endpoint_override": f"127.0.0.1:{self.proxy.port if through_proxy else self.port}",
            "scheme": "http",
            "region": KEYS["AWS_REGION"],
            "access_key": KEYS["AWS_ACCESS_KEY_ID"],
            "secret_key": KEYS["AWS_SECRET_ACCESS_KEY"],
        }
        return f"s3://{BUCKET}/{path}?{urlencode(options)}"

    def put(self, path: str, content: bytes) -> None:
        """Write an object."""
        with self._system.open_output_stream(f"{BUCKET}/{path}") as file:
            file.write(content)

    def put_folder(self, folder: Path, path: str) -> None:
        """Write the files of a folder as objects."""
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                self.put(f"{path}/{file.relative_to(folder)}", file.read_bytes())


@contextmanager
def storage() -> Iterator[Storage]:
    """An empty storage."""
    # Its log has a line per request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server: Any = pytest.importorskip("moto.server", reason="needs moto[server]").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    port = server.get_host_and_port()[1]
    # All its servers in a process share what they store.
    urlopen(Request(f"http://127.0.0.1:{port}/moto-api/reset", method="POST")).close()
    made = Storage(port)
    try:
        yield made
    finally:
        made.proxy.close()
        server.stop()


@contextmanager
def filled_storage(folder: Path, captures: int) -> Iterator[Storage]:
    """A storage with so many captures below `in`, written to an empty folder first."""
    write_captures(folder, captures)
    with storage() as made:
        made.put_folder(folder, "in")
        yield made
