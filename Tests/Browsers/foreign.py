#!/usr/bin/env python3
"""foreign.py FOLDER: a site of somebody else, on a free port of 127.0.0.1.

Serves the files of a folder. The first line of the output is `port N`; then each request has a line, such as `GET /a`,
with the cookie that the browser sent.
Every answer allows every origin to read it, so that nothing but the page that asks can hold a request up.
"""

import http.server
import os
import sys


class Site(http.server.BaseHTTPRequestHandler):
    def answer(self):
        # One string: the threads of two requests write at once.
        print(" ".join([self.command, self.path, *self.headers.get_all("cookie", [])]) + "\n", end="", flush=True)
        path = os.path.join(sys.argv[1], self.path.split("?")[0].strip("/") or "index.html")
        body = b""
        if os.path.isfile(path):
            with open(path, "rb") as file:
                body = file.read()
        self.send_response(200)
        self.send_header("content-type", "text/javascript" if path.endswith(".js") else "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.send_header("access-control-allow-origin", "*")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_OPTIONS = answer

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """Says nothing of connections that a browser gave up: the words would stand within the lines of requests."""


server = Server(("127.0.0.1", 0), Site)
print("port", server.server_port, flush=True)
server.serve_forever()
