internal import COpenSSL
internal import COpenSSLShims
internal import Glibc

// Identities for programs that check the names in a certificate, such as browsers.

extension Identity {
    /// Loads the identity in `folder`; makes and stores one if there is none. Its key stays the same. Its certificate stays
    /// the same while it is for all of the names, and is valid for some time.
    ///
    /// - Parameters:
    ///   - folder: Made (0700) if missing; its parent folder must exist.
    ///   - name: The name of its file.
    /// - Throws: `IdentityError`. An existing but unusable identity is never replaced.
    package static func load(
        orMakeIn folder: String, named name: String, for names: CertificateNames
    ) throws(IdentityError) -> Identity {
        let old = try load(orMakeIn: folder, named: name)
        guard !names.areAll(in: old.certificate) else { return old }
        EVP_PKEY_up_ref(old.key)
        let new = try make(owningKey: old.key, for: names)
        _ = try new.store(at: folder + "/" + name, in: folder, replaces: true)
        return new
    }

    /// Reads an identity that the user has from elsewhere: a key of any kind, and a certificate with those that it rests on.
    ///
    /// - Parameters:
    ///   - certificate: The path of a PEM file: the certificate, and after it the others. Links are followed.
    ///   - key: The path of a PEM file with the private key, without a passphrase; not for everybody to read.
    /// - Throws: `IdentityError`.
    package static func load(certificate: String, key: String) throws(IdentityError) -> Identity {
        ERR_clear_error()
        defer { ERR_clear_error() }
        var secret = try contents(of: key, isSecret: true)
        defer { OPENSSL_cleanse(&secret, secret.count) }
        guard let privateKey = withReadingBIO(over: secret, { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) })
        else { throw .unusable(key, "it holds no private key without a passphrase") }
        var certificates = try certificates(in: certificate)
        guard !certificates.isEmpty else {
            EVP_PKEY_free(privateKey)
            throw .unusable(certificate, "it holds no certificate")
        }
        let first = certificates.removeFirst()
        let isOfKey = X509_check_private_key(first, privateKey) == 1
        guard let identity = Identity(owningKey: privateKey, certificate: first, chain: certificates, isOfAnyKind: true)
        else { throw .unusable(certificate, "its key has no form that is known") }
        guard isOfKey else { throw .unusable(certificate, "it is not of the key in \(key)") }
        return identity
    }

    /// - Returns: `X509 *`, owned by the caller; at most `chainLength` of them.
    private static func certificates(in path: String) throws(IdentityError) -> [OpaquePointer] {
        let pem = try contents(of: path, isSecret: false)
        return withReadingBIO(over: pem) { bio in
            var found: [OpaquePointer] = []
            while found.count < chainLength, let next = PEM_read_bio_X509(bio, nil, refusePassphrase, nil) {
                found.append(next)
            }
            return found
        } ?? []
    }

    private static let chainLength = 10

    private static func contents(of path: String, isSecret: Bool) throws(IdentityError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unusable(path, reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable(path, "it is not a regular file")
        }
        guard !isSecret || status.st_mode & 0o007 == 0 else {
            throw .unusable(path, "everybody can use the key in it: take these rights away with chmod o-rwx")
        }
        return try read(descriptor, path: path)
    }
}
