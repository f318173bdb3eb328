"""A page at the loopback address, for a browser of the same machine.

The path has a random part: other users of the machine do not know it. A request that names another host is refused,
since a foreign site can let its name lead to this address.
"""

import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gpuprof.errors import UsageError

LOOPBACK = "127.0.0.1"
SECRET_NBYTES = 16


class Server(ThreadingHTTPServer):
    """Serves `page` at `url`. Raises UsageError for a port that is taken."""

    daemon_threads = True

    def __init__(self, page: bytes, port: int):
        self.page = page
        self.path = f"/{secrets.token_urlsafe(SECRET_NBYTES)}/"
        try:
            super().__init__((LOOPBACK, port), Handler)
        except OSError as error:
            raise UsageError(f"--port {port}: cannot be served at: {error.strerror}") from None
        self.url = f"http://{LOOPBACK}:{self.server_port}{self.path}"

    def handle_error(self, request, client_address):
        """A browser that has gone before it had the whole page is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        assert isinstance(server, Server)
        if self.headers.get("Host") != f"{LOOPBACK}:{server.server_port}":
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path != server.path:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(server.page)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            self.wfile.write(server.page)

    def log_message(self, format, *args):
        """Print nothing: the terminal shows only the address."""
