/// How much of what a link says is kept. Beyond a limit it is ignored, with one line in the log for each browse.
package enum DiscoveryLimits {
    /// Instances of one browse. A link has seldom more than a dozen; a liar may announce any number.
    package static let services = 1_024
    /// Answers for one instance: one for each interface and address family.
    package static let addressesPerService = 64
    /// Answers of one browse in all: four for each instance, if there are as many as can be.
    static let sightings = 4_096
    /// Bytes of a TXT record: RFC 6763, 6.2, says that more than 1,300 is not recommended.
    package static let txtBytes = 1_300
    /// Bytes of an instance name: one DNS label (RFC 6763, 4.1.1).
    package static let instanceBytes = 63
    /// Bytes of a host name (RFC 1035, 2.3.4), as presented with escapes.
    package static let hostNameBytes = 1_024
    /// Bytes of one `key=value` of a TXT record: it has one length byte.
    package static let txtPairBytes = 255
    /// Instances that are resolved at the same time and kept up to date: avahi-daemon grants a client 1,024 objects.
    package static let liveResolvers = 768
    /// How long a service may take to be announced for the first time. Probing takes one second; somebody who claims every
    /// host name on the link could make it take for ever.
    static let establishing = Duration.seconds(30)
    /// Alternative names tried one after another before a publication is given up.
    package static let alternativeNames = 32
}
