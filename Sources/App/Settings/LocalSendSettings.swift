import LocalSendDialect

/// The settings for LocalSend.
package struct LocalSendSettings: Sendable, Equatable {
    /// Whether LocalSend is enabled.
    package var isEnabled = true
    /// Of the listener and of the announcements.
    package var port = Int(LocalSendDialect.defaultPort)
    /// The PIN that senders must type; nil for none.
    package var pin: String?
    /// The model that others show beside the name.
    package var deviceModel = "Linux"
    /// Whether this side sends to devices without TLS.
    package var sendsPlain = false

    package init() {}
}
