import Foundation
import Subprocess
import Testing

/// Two hosts with an ordinary link and a radio link of Apple's, and a stand-in of a radio backend on the first one.
///
/// `awdl0` is a pair of virtual interfaces with link-local addresses only.
struct RadioLab: Sendable {
    let lab: Lab
    let kitchen: Host
    let study: Host
    /// The folder of the backend, with its state and its knobs.
    let backend: String

    static func with(_ body: @Sendable (RadioLab) async throws -> Void) async throws {
        try await Lab.with(avahi: "none", links: "eth0,awdl0") { lab in
            for host in ["kitchen", "study"] {
                for words in [
                    ["-4", "address", "flush", "dev"], ["-6", "address", "flush", "scope", "global", "dev"],
                ] {
                    try await lab.call(["run", lab.name, host, "ip"] + words + ["awdl0"])
                }
            }
            let radio = RadioLab(lab)
            let files = FileManager.default
            try files.createDirectory(atPath: radio.backend, withIntermediateDirectories: true)
            try files.createDirectory(atPath: lab.folder + "/bin", withIntermediateDirectories: true)
            try writeScript(RadioScripts.backend, to: radio.helper)
            try writeScript("#!/bin/sh\nexec \"$@\"\n", to: lab.folder + "/bin/pkexec")
            try files.createDirectory(atPath: radio.kitchen.home + "/config", withIntermediateDirectories: true)
            try "name: Kitchen\ndialects: {airdrop: {radio: \(radio.helper)}}\n".write(
                toFile: radio.kitchen.home + "/config/config.yaml", atomically: false, encoding: .utf8)
            try await body(radio)
        }
    }

    private init(_ lab: Lab) {
        self.lab = lab
        var kitchen = lab.host("kitchen")
        kitchen.environment["PATH"] = lab.folder + "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        (self.kitchen, study, backend) = (kitchen, lab.host("study"), lab.folder + "/backend")
    }

    var helper: String { backend + "/omdrop-discoverable" }

    /// Sets a knob of the backend; nil takes it back.
    func set(_ knob: String, _ value: String?) throws {
        let path = "\(backend)/\(knob)"
        guard let value else { return try FileManager.default.removeItem(atPath: path) }
        try value.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// The calls that opened or closed the window, in order.
    var calls: [String] {
        let text = (try? String(contentsOfFile: backend + "/calls", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("start") || $0.hasPrefix("stop") }
    }

    /// Waits until the backend was called so.
    func waits(for calls: [String]) async throws {
        while self.calls != calls {
            try #require(self.calls.count <= calls.count, "\(self.calls)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Runs `waft` in the kitchen.
    @discardableResult
    func waft(_ words: String...) async throws -> String {
        let outcome = try await kitchen.run(arguments: words)
        return outcome.output + outcome.errors
    }

    /// Waits until `waft status` has a text.
    func status(has text: String) async throws {
        while try await !waft("status").contains(text) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// The address of a host on the radio link, without a zone.
    func address(of host: String) async throws -> String {
        let outcome = try await self.host(host).run("ip", ["-6", "-o", "address", "show", "dev", "awdl0"])
        return try #require(
            outcome.output.split(separator: " ").first { $0.hasPrefix("fe80::") }?.split(separator: "/").first
        )
        .description
    }

    /// The hardware address of a host on the radio link.
    func hardwareAddress(of host: String) async throws -> String {
        try await self.host(host).run("cat", ["/sys/class/net/awdl0/address"]).output.trimmingCharacters(in: .newlines)
    }

    /// Waits until the kitchen listens at the port that backends announce.
    /// - Returns: its address there, with the zone.
    func listens() async throws -> String {
        while try await !kitchen.run("ss", ["-tln"]).output.contains("%awdl0:8771") {}
        return try await address(of: "kitchen") + "%awdl0"
    }

    /// Runs a phone on the study that the radio has heard beside `body`, for which there is a file `photo.jpg`.
    /// - Parameter photo: its bytes.
    func withPhone(photo: Int, _ body: @Sendable (RunningProgram) async throws -> Void) async throws {
        try writeScript(RadioScripts.phone, to: lab.folder + "/phone")
        try Data((0..<photo).map { _ in UInt8.random(in: .min ... .max) }).write(
            to: URL(fileURLWithPath: lab.folder + "/photo.jpg"))
        try await set("peers", hardwareAddress(of: "study") + " rssi=?\n")
        try set("window", "")
        let words = ["Anna’s iPhone", "iPhone15,2", lab.folder, "0"]
        _ = try await study.withProgram(lab.folder + "/phone", words, signal: .terminate) { phone in
            try await phone.transcript.says("listening")
            try await body(phone)
        }
    }

    /// Deletes the kitchen's interface of the radio link, as a backend does when it ends.
    func removeLink() async throws { try await lab.call(["run", lab.name, "kitchen", "ip", "link", "del", "awdl0"]) }

    /// Makes it anew.
    func addLink() async throws {
        let (host, wire) = ("waft-lab.\(lab.name).kitchen", "waft-lab.\(lab.name)..wire")
        for words in [
            "-n \(host) link add awdl0 type veth peer name p1-1 netns \(wire)",
            "-n \(wire) link set p1-1 master b-awdl0 up", "-n \(host) link set awdl0 up",
        ] {
            let words = words.split(separator: " ").map(String.init)
            let outcome = try await Subprocess.run(
                .name("ip"), arguments: Arguments(words), input: .none, output: .discarded,
                error: .string(limit: 1 << 16))
            try #require(outcome.terminationStatus.isSuccess, "ip \(words): \(outcome.standardError)")
        }
    }

    private func host(_ name: String) -> Host { name == "kitchen" ? kitchen : study }
}

enum RadioScripts {
    /// The contract of radio backends. Files in its folder bend it: `start.exit`, `start.say`, `probe`, `status`, `hang`
    /// (a command), `reason`, `peers`.
    static let backend = #"""
        #!/bin/bash
        cd "$(dirname "$(readlink -f "$0")")" || exit 2
        echo "$*" >>calls
        [[ $1 == "$(cat hang 2>/dev/null)" ]] && sleep 1000
        case $1 in
        start)
            code=$(cat start.exit 2>/dev/null || echo 0)
            [[ $code == 0 || $code == 5 ]] && touch window
            [[ ! -e start.say ]] || cat start.say >&2
            exit "$code" ;;
        stop) rm -f window ;;
        status)
            cat status 2>/dev/null && exit
            visible=false
            [[ -e window ]] && visible=true
            echo '{"visible":'$visible',"remaining":null,"reason":"'"$(cat reason 2>/dev/null)"'","rx_proven":false,"peer_op":""}' ;;
        peers)
            [[ -e window ]] || exit 4
            cat peers 2>/dev/null ;;
        probe)
            cat probe 2>/dev/null && exit
            echo '{"backend":"stub","version":"1.0","contract":"0.7.0","hardware":true,"missing":[]}' ;;
        esac
        exit 0
        """#

    /// A receiver as an iPhone is one, at port 8770: its arguments are its name, its model, a folder and the seconds before
    /// it begins to listen.
    static let phone = #"""
        #!/usr/bin/env python3
        import http.server, plistlib, socket, ssl, subprocess, sys, time
        name, model, folder, pause = sys.argv[1:5]
        key, certificate = folder + "/phone.key", folder + "/phone.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-subj", "/CN=phone", "-days", "2"], check=True, capture_output=True)
        time.sleep(float(pause))

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                size = 0
                if "chunked" in self.headers.get("Transfer-Encoding", ""):
                    while count := int(self.rfile.readline().split(b";")[0], 16):
                        size += len(self.rfile.read(count))
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    size = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                facts = {"ReceiverComputerName": name, "ReceiverModelName": model}
                answer = b"" if self.path == "/Upload" else plistlib.dumps(facts, fmt=plistlib.FMT_BINARY)
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                print(self.path, size, flush=True)

            def log_message(self, *words): pass

        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6

        server = Server(("::", 8770), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        print("listening", flush=True)
        server.serve_forever()
        """#

    /// A sender as Apple's are: bodies in chunks, one kept connection for question and contents, `Expect: 100-continue`,
    /// dvzip with stored blocks, a sidecar, a decomposed name, and a reset at the end. Its arguments are an address with a
    /// zone, a port, a name, the number of files and the bytes of each. With a word behind them it stops in the middle,
    /// prints `half`, and waits for a line.
    static let sender = #"""
        #!/usr/bin/env python3
        import os, plistlib, socket, ssl, struct, sys, time, unicodedata
        host, port, name, count, size = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

        def connect():
            return context.wrap_socket(socket.create_connection((host, port), timeout=120))

        def chunked(connection, body):
            for at in range(0, len(body), 60_000):
                piece = body[at:at + 60_000]
                connection.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
            connection.sendall(b"0\r\n\r\n")

        def head(path, *more):
            lines = ["POST %s HTTP/1.1" % path, "User-Agent: AirDrop/1.0", "Transfer-Encoding: chunked", *more]
            return ("\r\n".join(lines) + "\r\n\r\n").encode()

        def answer(connection):
            text = b""
            while b"\r\n\r\n" not in text:
                piece = connection.recv(1)
                if not piece:
                    raise SystemExit("the connection ended")
                text += piece
            status = int(text.split()[1])
            fields = dict(line.lower().split(b": ", 1) for line in text.split(b"\r\n")[1:] if b": " in line)
            rest = int(fields.get(b"content-length", 0))
            while rest > 0:
                rest -= len(connection.recv(rest))
            return status

        def said(path, connection):
            status = answer(connection)
            while status == 100:
                status = answer(connection)
            print(path, status, flush=True)
            if status != 200:
                raise SystemExit(1)

        def member(path, mode, contents):
            fields = b"".join(b"%06o" % field for field in (0, 1, mode, 0, 0, 1, 0))
            path = path.encode() + b"\0"
            return b"070707" + fields + b"%011o%06o%011o" % (0, len(path), len(contents)) + path + contents

        first = connect()
        first.sendall(head("/Discover", "Connection: close"))
        chunked(first, plistlib.dumps({"SenderRecordData": b"x"}, fmt=plistlib.FMT_BINARY))
        said("/Discover", first)
        first.close()

        names = [unicodedata.normalize("NFD", name if count == 1 else "%d-%s" % (n, name)) for n in range(count)]
        question = {
            "SenderComputerName": "Anna’s iPhone", "SenderModelName": "iPhone15,2", "SenderID": "000000000000",
            "BundleID": "com.apple.mobileslideshow", "Items": [],
            "Files": [{"FileName": n, "FileType": "public.data", "FileIsDirectory": False, "FileSize": size,
                       "FileBomPath": "./" + n} for n in names],
        }
        connection = connect()
        connection.sendall(head("/Ask", "Expect: 100-continue", "Connection: keep-alive"))
        if answer(connection) != 100:
            raise SystemExit("no 100")
        began = time.monotonic()
        chunked(connection, plistlib.dumps(question, fmt=plistlib.FMT_BINARY))
        said("/Ask", connection)
        connection.sendall(head("/Upload", "Expect: 100-continue", "Content-Type: application/x-dvzip"))
        if answer(connection) != 100:
            raise SystemExit("no 100")
        contents = os.urandom(size)
        archive = b"".join(member("./" + n, 0o100644, contents) for n in names)
        archive += member("./._" + names[0], 0o100644, b"\0\5\x16\7" + b"x" * 100) + member("TRAILER!!!", 0, b"")
        body = b"".join(struct.pack(">I", 1 << 31 | len(archive[at:at + 65_536])) + archive[at:at + 65_536]
                        for at in range(0, len(archive), 65_536))
        if len(sys.argv) > 6:
            half = body[:len(body) // 2]
            connection.sendall(b"%x\r\n" % len(half) + half + b"\r\n")
            print("half", flush=True)
            sys.stdin.readline()
            os._exit(0)
        chunked(connection, body)
        said("/Upload", connection)
        print("seconds %.2f" % (time.monotonic() - began), flush=True)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(connection.detach())
        """#

    /// A phone's radio that listens in bursts: its arguments are the seconds that it listens, and those of the pause.
    static let bursts = #"""
        #!/bin/bash
        trap 'ip6tables -w -F; exit' TERM
        # As a phone's TCP, which sends again soon.
        echo 1000 >/proc/sys/net/ipv4/tcp_rto_max_ms
        echo 255 >/proc/sys/net/ipv4/tcp_retries2
        while :; do
            for chain in "INPUT -i" "OUTPUT -o"; do ip6tables -w -A $chain awdl0 -j DROP; done
            sleep "$2" & wait $!
            ip6tables -w -F
            sleep "$1" & wait $!
        done
        """#

    /// A program that has the port of the radio link.
    static let squatter = #"""
        #!/usr/bin/env python3
        import socket, sys
        server = socket.create_server(("::", 8771), family=socket.AF_INET6)
        print("listening", flush=True)
        sys.stdin.readline()
        """#
}
