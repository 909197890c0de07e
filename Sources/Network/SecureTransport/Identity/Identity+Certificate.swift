internal import COpenSSL
internal import COpenSSLShims

extension Identity {
    /// A certificate for `key` (`EVP_PKEY *`, borrowed), signed by that key.
    ///
    /// Valid from 2000 to the end of 9999, the date that RFC 5280 (section 4.1.2.5) gives for "never". Peers check
    /// keys, not dates: a machine whose clock was reset must stay reachable, and other programs that check dates must
    /// not refuse a peer. The subject is the same for all peers, so that it discloses nothing (security rule 14).
    ///
    /// - Parameter names: those that the certificate is for; it is then valid from yesterday for `CertificateNames.days`, as
    ///   browsers refuse one that is valid for long.
    /// - Returns: `X509 *`, owned by the caller, or nil.
    static func makeSelfSignedCertificate(
        of key: OpaquePointer, for names: CertificateNames? = nil
    ) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        let name = X509_get_subject_name(certificate)
        let isMade =
            X509_set_version(certificate, Int(X509_VERSION_3)) == 1
            && setRandomSerial(of: certificate)
            && setValidity(of: certificate, isShort: names != nil)
            && X509_NAME_add_entry_by_txt(name, "CN", asciiString, "waft", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && add(NID_basic_constraints, "critical,CA:FALSE", to: certificate)
            && add(NID_key_usage, "critical,digitalSignature", to: certificate)
            && add(NID_ext_key_usage, "serverAuth,clientAuth", to: certificate)
            && (names?.entry).map { add(NID_subject_alt_name, $0, to: certificate) } ?? true
            && X509_sign(certificate, key, EVP_sha256()) > 0
        guard isMade else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }

    private static func setValidity(of certificate: OpaquePointer, isShort: Bool) -> Bool {
        let (start, end) = (X509_getm_notBefore(certificate), X509_getm_notAfter(certificate))
        guard isShort else {
            return ASN1_TIME_set_string_X509(start, "20000101000000Z") == 1
                && ASN1_TIME_set_string_X509(end, "99991231235959Z") == 1
        }
        return X509_time_adj_ex(start, -1, 0, nil) != nil
            && X509_time_adj_ex(end, Int32(CertificateNames.days), 0, nil) != nil
    }

    /// `MBSTRING_ASC`, a macro whose expression is not imported.
    private static let asciiString: Int32 = 0x1001

    /// 127 random bits: positive, and shorter than the 20 bytes that RFC 5280 allows.
    private static func setRandomSerial(of certificate: OpaquePointer) -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        guard BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 else { return false }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    private static func add(_ identifier: Int32, _ value: String, to certificate: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
        guard let `extension` = X509V3_EXT_conf_nid(nil, &context, identifier, value) else { return false }
        defer { X509_EXTENSION_free(`extension`) }
        return X509_add_ext(certificate, `extension`, -1) == 1
    }
}
