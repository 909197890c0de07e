import NIOHTTP1

/// What a stranger may make the HTTP parser hold, on either side (security rule 6).
enum HTTPLimits {
    /// Waft's own heads have five short fields. Browsers and `curl` send a dozen, and a cookie now and then.
    static let decoder: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 << 10
        limits.maxHeaderListSize = 32 << 10
        limits.maxHeaderFieldCount = 64
        return limits
    }()

    /// Bytes that have come and are no part of a message yet. Without it, whoever asks for an upgrade, after which the
    /// parser stops, could send for ever. One read of the layer below fits in any case.
    static let unparsedBytes = 1 << 20

    /// How much of a body, and for how long, is read after an early answer so that the connection can serve another
    /// request. Beyond either limit the connection ends.
    static let unwantedBytes = 64 << 10
    static let unwantedWait: Duration = .seconds(10)
}
