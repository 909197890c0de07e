internal import COpenSSL
internal import COpenSSLShims
internal import Glibc

extension Identity {
    /// Name of the file that holds the identity of Waft's own dialect: the private key (PKCS #8) and the certificate,
    /// both PEM.
    package static let fileName = "identity.pem"

    /// Maximum size of an identity file, in bytes. A file with an RSA key has about 3,000.
    static let fileBytes = 64 * 1024

    /// Loads the identity in `folder`; makes and stores one if there is none.
    ///
    /// The certificate is stored too, so it is the same, byte for byte, at each load. The file appears whole or not at all. When two processes make one at the same time, both get the same.
    ///
    /// - Parameters:
    ///   - folder: Made (0700) if missing; its parent folder must exist.
    ///   - name: The name of its file.
    ///   - kinds: The kinds of key that the identity may have. A new one has the first.
    /// - Throws: `IdentityError`. An existing but unusable identity is never replaced.
    package static func load(
        orMakeIn folder: String, named name: String = fileName, kinds: [KeyKind] = [.p256]
    ) throws(IdentityError) -> Identity {
        let path = folder + "/" + name
        if let identity = try load(from: path, kinds: kinds) { return identity }
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw .notMade("the folder \(folder) cannot be made: \(reason(errno))")
        }
        let identity = try make(kind: kinds[0])
        if try identity.store(at: path, in: folder) { return identity }
        // Another process was first. Its identity is complete, because it was linked into place.
        guard let theirs = try load(from: path, kinds: kinds) else {
            throw .notMade("\(path) was made and removed by another process")
        }
        return theirs
    }

    /// - Returns: nil if there is no such file.
    static func load(from path: String, kinds: [KeyKind] = [.p256]) throws(IdentityError) -> Identity? {
        // O_NONBLOCK: opening a pipe without a writer must not hang.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .exposed(path, "it is a symbolic link", remedy: "put the file itself there")
            default: throw .unreadable(path, reason(errno))
            }
        }
        defer { close(descriptor) }
        try checkAccess(to: descriptor, path: path)
        return try parse(try read(descriptor, path: path), path: path, kinds: kinds)
    }

    private static func checkAccess(to descriptor: Int32, path: String) throws(IdentityError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(path, reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .damaged(path, "it is not a regular file") }
        guard status.st_uid == geteuid() else {
            throw .exposed(path, "it belongs to user \(status.st_uid)", remedy: "remove it to become a new peer")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .exposed(
                path,
                "others have access to it (mode 0\(String(status.st_mode & 0o7777, radix: 8)))",
                remedy: "chmod 600 it if you trust everybody who could read it, or remove it to become a new peer"
            )
        }
    }

    static func read(_ descriptor: Int32, path: String) throws(IdentityError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: fileBytes + 1)
        defer { OPENSSL_cleanse(&bytes, bytes.count) }
        var count = 0
        while count < bytes.count {
            let room = bytes.count - count
            let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, room) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(path, reason(errno)) }
            if got == 0 { break }
            count += got
        }
        guard count > 0 else { throw .damaged(path, "it is empty") }
        guard count <= fileBytes else { throw .damaged(path, "it is larger than \(fileBytes) bytes") }
        return Array(bytes[..<count])
    }

    private static func parse(
        _ pem: consuming [UInt8], path: String, kinds: [KeyKind]
    ) throws(IdentityError) -> Identity {
        defer { OPENSSL_cleanse(&pem, pem.count) }
        ERR_clear_error()
        defer { ERR_clear_error() }
        let key = withReadingBIO(over: pem) { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
        guard let key else { throw .damaged(path, "it holds no complete private key") }
        let certificate = withReadingBIO(over: pem) { PEM_read_bio_X509($0, nil, refusePassphrase, nil) }
        guard let certificate else {
            EVP_PKEY_free(key)
            throw .damaged(path, "it holds no complete certificate")
        }
        let isOfKey = X509_check_private_key(certificate, key) == 1
        guard let identity = Identity(owningKey: key, certificate: certificate),
            identity.kind.map(kinds.contains) == true
        else { throw .wrongKind(path, expected: kinds) }
        guard isOfKey else { throw .mismatched(path) }
        return identity
    }

    /// Runs `body` with a `BIO *` that is valid only inside it.
    static func withReadingBIO<Result>(over bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        bytes.withUnsafeBytes { bytes in
            guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
                return nil
            }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}

// MARK: - Storing

extension Identity {
    /// - Parameter replaces: whether a file that is there is replaced.
    /// - Returns: false if there is such a file already.
    func store(at path: String, in folder: String, replaces: Bool = false) throws(IdentityError) -> Bool {
        var pem = try encoded()
        defer { OPENSSL_cleanse(&pem, pem.count) }
        let (descriptor, temporary) = try Self.makeTemporaryFile(beside: path)
        defer {
            close(descriptor)
            unlink(temporary)
        }
        try Self.write(pem, to: descriptor, path: temporary)
        // A rename would replace a file that another process has made in the meantime.
        guard (replaces ? rename(temporary, path) : link(temporary, path)) == 0 else {
            if errno == EEXIST { return false }
            throw .notMade("\(path) cannot be made: \(Self.reason(errno))")
        }
        try Self.sync(folder: folder)
        return true
    }

    private static func makeTemporaryFile(beside path: String) throws(IdentityError) -> (Int32, String) {
        let temporary = path + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .notMade("\(temporary) cannot be made: \(reason(errno))") }
        return (descriptor, temporary)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(IdentityError) {
        // A umask may have removed the owner's rights, and must not decide here.
        guard fchmod(descriptor, 0o600) == 0 else { throw .notMade("\(path) cannot be made private: \(reason(errno))") }
        var written = 0
        while written < bytes.count {
            let rest = bytes.count - written
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, rest) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .notMade("\(path) cannot be written: \(reason(errno))") }
            written += count
        }
        guard fsync(descriptor) == 0 else { throw .notMade("\(path) cannot be stored: \(reason(errno))") }
    }

    private static func sync(folder: String) throws(IdentityError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .notMade("\(folder) cannot be opened: \(reason(errno))") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .notMade("\(folder) cannot be stored: \(reason(errno))") }
    }

    private func encoded() throws(IdentityError) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_secmem()) else { throw .notMade("there is no memory" + Self.openSSLReasons()) }
        defer { BIO_free(bio) }
        guard
            PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1,
            PEM_write_bio_X509(bio, certificate) == 1
        else { throw .notMade("it cannot be encoded" + Self.openSSLReasons()) }
        var start: UnsafeMutablePointer<CChar>?
        let count = COpenSSLShims_BIO_get_mem_data(bio, &start)
        guard let start, count > 0 else { throw .notMade("it cannot be encoded") }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// Refuses a passphrase for an encrypted file: otherwise OpenSSL would ask at the terminal.
func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?,
    _: Int32,
    _: Int32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
