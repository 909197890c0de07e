/// The header of an age file, as it was read; nothing in it is authentic before `fileKey(with:)` has returned.
package struct AgeHeader: Sendable {
    /// Bytes of a header that is read here, at most.
    package static let maximumBytes = 65_536
    /// Stanzas of a header that is read or made here, at most.
    package static let maximumStanzas = 64

    static let versionLine = Array("age-encryption.org/v1\n".utf8)
    static let codeMark = Array("---".utf8)
    /// Characters of each line of a stanza's body but the last one.
    static let lineDigits = 64

    /// The stanzas, in their order; at least one.
    package let stanzas: [AgeStanza]
    /// Bytes of the header text, with its last newline.
    package let length: Int
    /// Bytes before the first chunk: the header and the nonce.
    package var payloadOffset: Int { length + AgeLayout.nonceBytes }
    /// Whether a passphrase opens the file, and not an identity.
    package var isForPassphrase: Bool { stanzas.contains { $0.kind == AgeStanza.scrypt } }

    /// The bytes of the header, as they were read.
    package var text: [UInt8] { authenticated + [UInt8(ascii: " ")] + Base64.text(code) + [UInt8(ascii: "\n")] }

    /// The text up to and with the mark of the code.
    let authenticated: [UInt8]
    /// The code over it.
    let code: [UInt8]

    /// Reads the header at the start of `file`; bytes behind it do not matter.
    ///
    /// - Throws: `truncated` if the header does not end in `file` but could go on, `unsupported` for armored files and
    ///   other versions, else `malformed`.
    package init(parsing file: UnsafeRawBufferPointer) throws(AgeError) {
        try Self.checkStart(file)
        var lines = HeaderLines(file)
        _ = try lines.next()
        var stanzas: [AgeStanza] = []
        while true {
            let start = lines.end
            let line = try lines.next()
            if line.starts(with: Self.codeMark) {
                authenticated = Array(file[..<(start + Self.codeMark.count)])
                code = try Self.code(line)
                break
            }
            guard stanzas.count < Self.maximumStanzas else { throw .unsupported("more than 64 recipients") }
            stanzas.append(AgeStanza(arguments: try Self.arguments(line), body: try Self.body(&lines)))
        }
        guard !stanzas.isEmpty else { throw .malformed("its header has no recipient") }
        guard stanzas.count == 1 || !stanzas.contains(where: { $0.kind == AgeStanza.scrypt }) else {
            throw .malformed("it has a passphrase beside another recipient")
        }
        self.stanzas = stanzas
        length = lines.end
    }

    /// Reads the header at the start of `file`.
    package init(parsing file: [UInt8]) throws(AgeError) {
        let result = file.withUnsafeBytes { file in
            Result { () throws(AgeError) in try AgeHeader(parsing: file) }
        }
        self = try result.get()
    }

    private static func checkStart(_ file: UnsafeRawBufferPointer) throws(AgeError) {
        if file.starts(with: versionLine) { return }
        if versionLine.starts(with: file) { throw .truncated }
        if file.starts(with: "-----BEGIN AGE ENCRYPTED FILE-----".utf8) { throw .unsupported("an armored file") }
        if file.starts(with: "age-encryption.org/".utf8) { throw .unsupported("another version of the format than v1") }
        throw .malformed("it does not begin as an age file")
    }

    private static func arguments(_ line: Slice<UnsafeRawBufferPointer>) throws(AgeError) -> [String] {
        guard line.starts(with: "-> ".utf8) else { throw .malformed("a line of its header is no recipient") }
        let arguments = line.dropFirst(3).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard arguments.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x21...0x7e).contains($0) } }) else {
            throw .malformed("an argument in its header is not visible ASCII")
        }
        return arguments.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func body(_ lines: inout HeaderLines) throws(AgeError) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try lines.next()
            guard line.count <= lineDigits, let bytes = Base64.bytes(line) else {
                throw .malformed("the body of a recipient in its header is not canonical base64")
            }
            body += bytes
            if line.count < lineDigits { return body }
        }
    }

    private static func code(_ line: Slice<UnsafeRawBufferPointer>) throws(AgeError) -> [UInt8] {
        guard
            line.starts(with: "--- ".utf8), let code = Base64.bytes(line.dropFirst(4)), code.count == 32
        else { throw .malformed("the last line of its header is not an authentication code") }
        return code
    }
}

/// The lines at the start of a file, as far as a header may go.
private struct HeaderLines {
    private let file: UnsafeRawBufferPointer
    /// The start of the next line.
    private(set) var end = 0

    init(_ file: UnsafeRawBufferPointer) {
        self.file = file
    }

    /// The next line, without its newline.
    mutating func next() throws(AgeError) -> Slice<UnsafeRawBufferPointer> {
        let rest = file[end..<min(file.count, AgeHeader.maximumBytes)]
        guard let newline = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            guard file.count < AgeHeader.maximumBytes else { throw .unsupported("a header of more than 64 KiB") }
            throw .truncated
        }
        defer { end = newline + 1 }
        return file[end..<newline]
    }
}
