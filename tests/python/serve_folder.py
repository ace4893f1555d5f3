"""Serves the files of the folder of the argument over HTTP on a free port of this machine, which it writes to stdout first. It continues
downloads (Range), except below /plain/, and ends when /quit is read."""
import http.server
import os
import re
import sys
import threading

os.chdir(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.lstrip("/")
        may_continue = not path.startswith("plain/")
        path = path.removeprefix("plain/")
        if path == "quit":
            threading.Thread(target=server.shutdown).start()
            return self.send_error(404)
        if not os.path.isfile(path):
            return self.send_error(404)
        with open(path, "rb") as file:
            content = file.read()
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(wanted.group(1)) if wanted and may_continue else 0
        if begin >= len(content) and begin > 0:
            return self.send_error(416)
        print("from", begin, flush=True)
        self.send_response(206 if wanted and may_continue else 200)
        if wanted and may_continue:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:])

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
