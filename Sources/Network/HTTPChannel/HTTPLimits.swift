import NIOHTTP1

/// Bounds of the HTTP parser's memory against strangers, on either side (security rule 6).
enum HTTPLimits {
    /// Waft's own heads have five short fields. Browsers and `curl` send a dozen, and occasionally a cookie.
    static let decoder: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 << 10
        limits.maxHeaderListSize = 32 << 10
        limits.maxHeaderFieldCount = 64
        return limits
    }()

    /// Bytes that have arrived and belong to no message yet. An upgrade request stops the parser; without this bound,
    /// its client could send without end. One read of the layer below fits in any case.
    static let unparsedBytes = 1 << 20

    /// How many bytes of a body are read after an early answer, and for how long, so that the connection can serve
    /// another request. Beyond either limit the connection ends.
    static let unwantedBytes = 64 << 10
    static let unwantedWait: Duration = .seconds(10)
}
