internal import COpenSSL
internal import Glibc

/// The names and addresses for which a certificate is valid, for programs that check them (RFC 5280, section 4.2.1.6).
package struct CertificateNames: Sendable, Hashable {
    /// Days for which a certificate with names is valid: browsers take at most 398.
    static let days = 397
    /// A certificate that ends sooner is replaced.
    static let daysLeft = 30

    /// Host names of letters, digits, hyphens and dots.
    package let hosts: [String]
    /// IP addresses without scopes.
    package let addresses: [String]

    /// Leaves out names that cannot stand in a certificate.
    package init(hosts: [String], addresses: [String]) {
        self.hosts = hosts.filter { name in
            (1...253).contains(name.utf8.count)
                && name.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                        true
                    default: false
                    }
                }
        }
        self.addresses = addresses.filter { address in
            guard let parsed = a2i_IPADDRESS(address) else { return false }
            ASN1_OCTET_STRING_free(parsed)
            return true
        }
    }

    /// The value of the extension `subjectAltName`; nil if there are no names.
    var entry: String? {
        let names = hosts.map { "DNS:" + $0 } + addresses.map { "IP:" + $0 }
        return names.isEmpty ? nil : names.joined(separator: ",")
    }

    /// Whether a certificate (`X509 *`, borrowed) is for all of these names, and is valid for some time.
    func areAll(in certificate: OpaquePointer) -> Bool {
        var soon = time(nil) + Self.daysLeft * 86_400
        guard X509_cmp_time(X509_get0_notAfter(certificate), &soon) > 0,
            X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0
        else { return false }
        return hosts.allSatisfy { X509_check_host(certificate, $0, 0, 0, nil) == 1 }
            && addresses.allSatisfy { X509_check_ip_asc(certificate, $0, 0) == 1 }
    }
}
