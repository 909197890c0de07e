internal import CLinuxShims
internal import Glibc
internal import NIOCore
internal import SystemCalls

/// TLS by the kernel ("kTLS", since Linux 4.13; TLS 1.3 since 5.1): it encrypts what a socket sends, so that the ciphertext is
/// neither made nor copied here. The handshake stays with OpenSSL.
enum KernelTLS {
    /// Whether the kernel has it ready. It comes as a module, `tls`, and we do not have one loaded: that is the administrator's
    /// choice, and our way to be asked not to use it.
    static let isOffered: Bool = {
        let list = try? SmallFile.read("/proc/sys/net/ipv4/tcp_available_ulp", limit: 4096)
        return list.map { isListed(in: String(decoding: $0, as: UTF8.self)) } ?? false
    }()

    /// - Parameter list: the protocols that can be laid over TCP, such as `espintcp mptcp tls`.
    static func isListed(in list: String) -> Bool {
        list.split(whereSeparator: \.isWhitespace).contains("tls")
    }

    /// Has the kernel encrypt what `socket` sends from now on.
    ///
    /// - Parameters:
    ///   - ciphertext: what OpenSSL has encrypted itself and must leave before; what has left is taken from it.
    ///   - keys: one of the kernel's `tls12_crypto_info_...`.
    /// - Returns: false if OpenSSL has to go on, `ciphertext` first: the kernel does not know the cipher, the socket is full.
    static func takeOver(_ socket: CInt, after ciphertext: inout ByteBuffer, keys: UnsafeRawPointer) -> Bool {
        while ciphertext.readableBytes > 0 {
            let sent = try? systemCall {
                ciphertext.withUnsafeReadableBytes { Glibc.send(socket, $0.baseAddress, $0.count, flags) }
            }
            guard let sent, sent > 0 else { return false }
            ciphertext.moveReaderIndex(forwardBy: sent)
        }
        return CLinuxShims_tls_encrypt(socket, keys) == 0
    }

    /// A record that is not application data.
    struct Record: Equatable {
        /// RFC 8446, section 5.1.
        let type: UInt8
        let bytes: [UInt8]

        /// The type of alerts, the close_notify among them.
        static let alert: UInt8 = 21
    }

    /// Sends a record on a socket that encrypts and to which everything before it has been written.
    ///
    /// - Returns: false if the socket is full.
    static func send(_ record: Record, to socket: CInt) throws(SystemError) -> Bool {
        do {
            try systemCall {
                CLinuxShims_tls_send_record(socket, record.type, record.bytes, record.bytes.count)
            }
            return true
        } catch {
            guard error.number == EAGAIN else { throw error }
            return false
        }
    }

    private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
}
