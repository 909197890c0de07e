import Foundation

/// A sender of AirDrop that keeps strictly to the protocol: a script, because Waft sends nothing to Waft by AirDrop.
enum AirDropSender {
    /// Writes the script, whose arguments are a port of loopback and a name.
    ///
    /// It asks whether a file of 3 bytes may come and prints the status. After a line on its standard input it waits until
    /// nothing listens on the port any more, and prints `closed`. Then it uploads the file, and prints the status.
    static func write(to path: String) throws { try writeScript(script, to: path) }

    private static let script = #"""
        #!/usr/bin/env python3
        import http.client, plistlib, socket, ssl, sys, time

        port, name = int(sys.argv[1]), sys.argv[2]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)

        def post(path, body, kind):
            connection.request("POST", path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            answer.read()
            print(path, answer.status, flush=True)

        def member(name, mode, contents):
            fields = b"".join(b"%06o" % field for field in (0, 1, mode, 0, 0, 1, 0))
            name = name.encode() + b"\0"
            return b"070707" + fields + b"%011o%06o%011o" % (0, len(name), len(contents)) + name + contents

        question = {
            "SenderComputerName": "a Mac", "SenderID": "000000000000", "BundleID": "com.apple.finder", "Items": [],
            "Files": [{"FileName": name, "FileType": "public.data", "FileIsDirectory": False, "FileSize": 3,
                       "FileBomPath": "./" + name}],
        }
        post("/Ask", plistlib.dumps(question, fmt=plistlib.FMT_BINARY), "application/octet-stream")
        sys.stdin.readline()
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                time.sleep(0.02)
            except ConnectionRefusedError:
                break
        print("closed", flush=True)
        archive = member("./" + name, 0o100644, b"abc") + member("TRAILER!!!", 0, b"")
        post("/Upload", archive, "application/x-cpio")
        """#
}
