/// One look at the services that ordinary DNS lists for a domain (RFC 6763, 4 and 11): PTR, then SRV, TXT and addresses
/// of each instance. Blocks.
struct DomainLookup: Sendable {
    let type: String
    /// Without a dot at the end.
    let domain: String
    /// No question is asked after that.
    let deadline: ContinuousClock.Instant
    /// Asks a name server.
    var records: @Sendable (String, DomainQuery.RecordType) throws(DomainQuery.SilenceError) -> [DomainQuery.Record] = {
        name, type throws(DomainQuery.SilenceError) in
        try DomainQuery.records(of: name, type)
    }

    /// - Parameter found: called for each service with an address.
    /// - Returns: whether all were asked for and answered.
    func run(_ ownAddresses: Set<[UInt8]>, _ found: (DiscoveredService) -> Void) -> Bool {
        do throws(DomainQuery.SilenceError) {
            var seen: Set<String> = []
            let instances = try ask("\(type).\(domain)", .ptr).map(\.target).filter { seen.insert($0).inserted }
            for instance in instances.prefix(DiscoveryLimits.servicesPerDomain) {
                if let service = try service(instance, ownAddresses) { found(service) }
            }
            return true
        } catch {
            return false
        }
    }

    private func ask(
        _ name: String, _ type: DomainQuery.RecordType
    ) throws(DomainQuery.SilenceError) -> [DomainQuery.Record] {
        guard ContinuousClock.now < deadline else { throw DomainQuery.SilenceError() }
        return try records(name, type)
    }

    /// - Returns: nil for an instance without a host, or without an address that can be used.
    private func service(
        _ instance: String, _ ownAddresses: Set<[UInt8]>
    ) throws(DomainQuery.SilenceError) -> DiscoveredService? {
        let hosts = try ask(instance, .srv).filter { $0.port > 0 && !$0.target.isEmpty && $0.target != "." }
        guard let host = hosts.min(by: { $0.priority < $1.priority }) else { return nil }
        // Several strings of one record; several records do not occur (RFC 6763, 6.8).
        guard let txt = AvahiValues.txtRecord(try ask(instance, .txt).first?.data ?? []) else { return nil }
        let answers = try ask(host.target, .aaaa) + ask(host.target, .a)
        // It is no link of this machine, so that loopback and link-local addresses are refused.
        let interface = NetworkInterface(index: 0, name: "", isLoopback: false)
        let addresses = answers.compactMap { record -> ServiceAddress? in
            guard [4, 16].contains(record.data.count), let text = LocalLink.text(record.data),
                let address = ServiceAddress(bytes: record.data, host: text, interface: interface, port: host.port),
                address.reach < .linkLocal
            else { return nil }
            return address
        }
        guard !addresses.isEmpty else { return nil }
        return DiscoveredService(
            instance: instance, hostName: host.target,
            addresses: Array(addresses.sorted().prefix(DiscoveryLimits.addressesPerService)), txt: txt,
            isLocal: answers.contains { ownAddresses.contains($0.data) })
    }
}
