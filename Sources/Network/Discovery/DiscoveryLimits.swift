/// Bounds of the data kept from a link. Data beyond a limit is ignored, with one line in the log for each browse.
package enum DiscoveryLimits {
    /// Instances of one browse. A link seldom has more than a dozen; a liar may announce any number.
    package static let services = 1_024
    /// Domains that are asked by ordinary DNS.
    package static let domains = 8
    /// Instances that one domain may list.
    static let servicesPerDomain = 64
    /// Answers for one instance: one for each interface and address family.
    package static let addressesPerService = 64
    /// Answers of one browse in all: four for each instance at the maximum number of instances.
    static let sightings = 4_096
    /// Bytes of a TXT record: RFC 6763, 6.2, advises against more than 1,300.
    package static let txtBytes = 1_300
    /// Bytes of an instance name: one DNS label (RFC 6763, 4.1.1).
    package static let instanceBytes = 63
    /// Bytes of a host name (RFC 1035, 2.3.4), as presented with escapes.
    package static let hostNameBytes = 1_024
    /// Bytes of one `key=value` of a TXT record, which has one length byte.
    package static let txtPairBytes = 255
    /// Instances that are resolved at the same time and kept up to date: avahi-daemon grants a client 1,024 objects.
    package static let liveResolvers = 768
    /// How long the first announcement of a service may take. Probing takes one second. A machine that claims every
    /// host name on the link could delay it without end.
    static let establishing = Duration.seconds(30)
    /// Alternative names that are tried in turn before a publication is given up.
    package static let alternativeNames = 32

    /// Bytes of a datagram of a ``MulticastGroup``. An announcement has some 300.
    package static let datagramBytes = 4_096
    /// Datagrams of a ``MulticastGroup`` that pass in a second: from one address, and in all.
    package static let datagramsPerAddress = 20
    package static let datagrams = 200
    /// Datagrams of a ``MulticastGroup`` that wait for one watcher: a megabyte at most.
    package static let waitingDatagrams = 256
}
