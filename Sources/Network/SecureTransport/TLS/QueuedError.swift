internal import COpenSSL

/// An entry of OpenSSL's error queue, which is kept per thread.
struct QueuedError {
    /// The library within OpenSSL, such as `ERR_LIB_SSL`.
    let library: Int32
    /// The library's reason code, such as `SSL_R_NO_SHARED_CIPHER`.
    let reason: Int32
    /// OpenSSL's words for the reason.
    let text: String

    /// The alert that the peer sent, if that is what this error reports: OpenSSL gives alert N the reason 1000 + N.
    var alert: UInt8? {
        guard library == ERR_LIB_SSL, reason >= SSL_AD_REASON_OFFSET else { return nil }
        return UInt8(exactly: reason - SSL_AD_REASON_OFFSET)
    }

    /// Empties this thread's queue, the oldest entry (the cause) first.
    static func drain() -> [QueuedError] {
        var errors: [QueuedError] = []
        // The queue holds at most sixteen entries.
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return errors }
            errors.append(QueuedError(code: code))
        }
    }

    private init(code: UInt) {
        library = ERR_GET_LIB(code)
        reason = ERR_GET_REASON(code)
        text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
