/// Joins the sightings of one instance, on several interfaces and protocols, into one service. Pure.
struct ServiceAssembly {
    private struct Entry {
        var interface: NetworkInterface
        var resolution: Resolution?
    }

    private var instances: [String: [Sighting: Entry]] = [:]
    private var count = 0

    func contains(_ sighting: Sighting) -> Bool {
        instances[sighting.instance]?[sighting] != nil
    }

    func isResolved(_ sighting: Sighting) -> Bool {
        instances[sighting.instance]?[sighting]?.resolution != nil
    }

    /// Adds an announcement; returns false if that would exceed ``DiscoveryLimits``.
    mutating func add(_ sighting: Sighting, interface: NetworkInterface) -> Bool {
        guard !contains(sighting) else { return true }
        guard count < DiscoveryLimits.sightings,
            instances[sighting.instance] != nil || instances.count < DiscoveryLimits.services,
            instances[sighting.instance, default: [:]].count < DiscoveryLimits.addressesPerService
        else { return false }
        instances[sighting.instance, default: [:]][sighting] = Entry(interface: interface)
        count += 1
        return true
    }

    /// Records an answer, or that there is none (any more).
    mutating func resolve(_ sighting: Sighting, _ resolution: Resolution?) {
        instances[sighting.instance]?[sighting]?.resolution = resolution
    }

    mutating func remove(_ sighting: Sighting) {
        guard instances[sighting.instance]?.removeValue(forKey: sighting) != nil else { return }
        count -= 1
        if instances[sighting.instance]?.isEmpty == true { instances[sighting.instance] = nil }
    }

    /// The known facts of an instance, or nil while no address is known.
    ///
    /// - Parameter ownAddresses: the addresses of this machine; a service at one of them is local. Avahi has a flag for
    ///   that, but not for programs with their own responder. avahi-daemon also sets it for a stranger's service while
    ///   it probes for the same name.
    func service(_ instance: String, ownAddresses: Set<[UInt8]>) -> DiscoveredService? {
        var isLocal = false
        var found: [ServiceAddress: Resolution] = [:]
        for entry in (instances[instance] ?? [:]).values {
            // A service without a readable TXT record is none of ours.
            guard let resolution = entry.resolution, resolution.txt != nil, let resolved = resolution.address,
                let address = ServiceAddress(
                    bytes: resolved.bytes,
                    host: resolved.host,
                    interface: entry.interface,
                    port: resolution.port
                )
            else { continue }
            found[address] = resolution
            isLocal = isLocal || ownAddresses.contains(resolved.bytes)
        }
        let addresses = found.keys.sorted()
        // They agree unless a peer lies. Then the best address decides, so that the result does not depend on chance.
        guard let best = addresses.first, let resolution = found[best] else { return nil }
        return DiscoveredService(
            instance: instance,
            hostName: resolution.hostName,
            addresses: addresses,
            txt: resolution.txt ?? [:],
            isLocal: isLocal
        )
    }
}
