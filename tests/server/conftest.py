from __future__ import annotations

import pytest

from ..support.server import Server


@pytest.fixture
def start_server():
    """A function that starts a `Server`. Those that still run after the test are killed."""
    servers = []

    def start(*arguments, **environment):
        servers.append(Server(*arguments, **environment))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.kill()
