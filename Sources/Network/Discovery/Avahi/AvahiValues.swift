internal import CAvahi

/// Conversions between Swift's values and Avahi's. Values from Avahi are hostile.
enum AvahiValues {
    /// `AVAHI_IF_UNSPEC` and `AVAHI_PROTO_UNSPEC`: anonymous enums that Swift imports as another type than it needs.
    static let unspecified: Int32 = -1

    static func message(_ code: Int32) -> String {
        avahi_strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }

    /// Text of at most `limit` bytes, or nil if it is longer, empty or not UTF-8.
    static func text(_ pointer: UnsafePointer<CChar>?, limit: Int) -> String? {
        guard let pointer else { return nil }
        var count = 0
        while pointer[count] != 0 {
            count += 1
            if count > limit { return nil }
        }
        return count == 0 ? nil : String(validatingCString: pointer)
    }

    /// A browser's report, or nil if it is not well-formed.
    static func sighting(
        interface: Int32,
        transport: Int32,
        name: UnsafePointer<CChar>?,
        type: UnsafePointer<CChar>?,
        domain: UnsafePointer<CChar>?
    ) -> Sighting? {
        guard let interface = UInt32(exactly: interface), interface != 0,
            let transport = Sighting.Transport(rawValue: transport),
            let instance = text(name, limit: DiscoveryLimits.instanceBytes),
            let type = text(type, limit: DiscoveryLimits.hostNameBytes),
            let domain = text(domain, limit: DiscoveryLimits.hostNameBytes)
        else { return nil }
        return Sighting(interface: interface, transport: transport, instance: instance, type: type, domain: domain)
    }

    /// A resolver's report, or nil if it is not well-formed.
    static func resolution(
        hostName: UnsafePointer<CChar>?,
        address: UnsafePointer<AvahiAddress>?,
        port: UInt16,
        txt: UnsafeMutablePointer<AvahiStringList>?
    ) -> Resolution? {
        guard let hostName = text(hostName, limit: DiscoveryLimits.hostNameBytes) else { return nil }
        return Resolution(
            hostName: hostName,
            port: port,
            address: address.flatMap { self.address($0) },
            txt: txtRecord(txt)
        )
    }

    /// - Parameter bytes: 4 or 16 in network order.
    static func address(_ bytes: [UInt8]) -> AvahiAddress {
        var address = AvahiAddress()
        let family: Sighting.Transport = bytes.count == 4 ? .ipv4 : .ipv6
        address.proto = family.rawValue
        withUnsafeMutableBytes(of: &address.data) { $0.copyBytes(from: bytes.prefix($0.count)) }
        return address
    }

    /// AAAA records are sent over IPv4 too, A records over IPv4 alone: as avahi-daemon does.
    static func transport(telling address: InterfaceAddress) -> Int32 {
        address.bytes.count == 4 ? Sighting.Transport.ipv4.rawValue : unspecified
    }

    private static func address(_ pointer: UnsafePointer<AvahiAddress>) -> ResolvedAddress? {
        let bytes: [UInt8]
        switch pointer.pointee.proto {
        case Sighting.Transport.ipv4.rawValue:
            bytes = withUnsafeBytes(of: pointer.pointee.data.ipv4.address) { Array($0) }
        case Sighting.Transport.ipv6.rawValue:
            bytes = withUnsafeBytes(of: pointer.pointee.data.ipv6.address) { Array($0) }
        default: return nil
        }
        // AVAHI_ADDRESS_STR_MAX is 40.
        var text = [CChar](repeating: 0, count: 64)
        guard avahi_address_snprint(&text, text.count, pointer) != nil else { return nil }
        let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return ResolvedAddress(bytes: bytes, host: host)
    }

    /// RFC 6763, 6.4: of several equal keys the first counts, case does not; a string without `=` or key is ignored.
    /// Nil if the record is too large.
    static func txtRecord(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [String: String]? {
        var txt: [String: String] = [:]
        var bytes = 0
        var next = list
        while let item = next {
            next = avahi_string_list_get_next(item)
            let size = avahi_string_list_get_size(item)
            let (total, overflow) = bytes.addingReportingOverflow(size &+ 1)
            guard !overflow, size <= DiscoveryLimits.txtPairBytes, total <= DiscoveryLimits.txtBytes else { return nil }
            bytes = total
            guard let start = avahi_string_list_get_text(item) else { continue }
            let pair = UnsafeBufferPointer(start: start, count: size)
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), equals > 0,
                let key = String(validating: pair[..<equals], as: UTF8.self)?.lowercased(),
                let value = String(validating: pair[(equals + 1)...], as: UTF8.self)
            else { continue }
            if txt[key] == nil { txt[key] = value }
        }
        return txt
    }

    /// The same for the data of a record: strings, each with its length before it. Nil if it is malformed or too large.
    static func txtRecord(_ data: [UInt8]) -> [String: String]? {
        guard data.count <= DiscoveryLimits.txtBytes else { return nil }
        var list: UnsafeMutablePointer<AvahiStringList>?
        guard avahi_string_list_parse(data, data.count, &list) == 0 else { return nil }
        defer { avahi_string_list_free(list) }
        return txtRecord(list)
    }

    /// Lends a TXT record in Avahi's form. Nil means that there is no memory, or that there are no pairs.
    static func withTXTRecord<Result>(
        _ txt: [String: String],
        _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
    ) -> Result {
        var list: UnsafeMutablePointer<AvahiStringList>?
        defer { avahi_string_list_free(list) }
        // Avahi builds its lists from the back, and sends them reversed: the order is that of adding.
        for (key, value) in txt.sorted(by: { $0.key < $1.key }) {
            list = avahi_string_list_add_pair(list, key, value)
        }
        return body(list)
    }
}

extension ServiceDescription {
    /// Checks a service before Avahi sees it: lengths and characters that Avahi's errors would not name.
    ///
    /// - Throws: ``DiscoveryError`` `.invalidDescription`.
    func validate() throws(DiscoveryError) {
        func refuse(_ cause: String) -> DiscoveryError { DiscoveryError(.invalidDescription, cause: cause) }
        guard (1...DiscoveryLimits.instanceBytes).contains(instance.utf8.count), !instance.utf8.contains(0),
            avahi_is_valid_service_name(instance) != 0
        else { throw refuse("the instance name does not have 1 to 63 bytes of UTF-8") }
        guard !type.utf8.contains(0), avahi_is_valid_service_type_strict(type) != 0 else {
            throw refuse("the service type is not like _name._tcp")
        }
        guard port != 0 else { throw refuse("there is no port 0") }
        var bytes = 0
        for (key, value) in txt {
            let size = key.utf8.count + 1 + value.utf8.count
            bytes += size + 1
            guard size <= DiscoveryLimits.txtPairBytes, !key.isEmpty, !value.utf8.contains(0),
                key.utf8.allSatisfy({ (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") })
            else { throw refuse("the TXT record has a key that is not printable ASCII, or a pair of over 255 bytes") }
        }
        guard bytes <= DiscoveryLimits.txtBytes else { throw refuse("the TXT record has over 1,300 bytes") }
    }
}

extension AvahiValues {
    static let collision = Int32(AVAHI_ERR_COLLISION)

    /// Converts an event of a browser of either library; nil if it is not of interest.
    static func browserEvent(
        _ event: AvahiBrowserEvent,
        sighting: @autoclosure () -> Sighting?,
        cause: @autoclosure () -> String
    ) -> ServiceBrowserEvent? {
        switch event {
        case AVAHI_BROWSER_NEW: sighting().map { .appeared($0) }
        case AVAHI_BROWSER_REMOVE: sighting().map { .disappeared($0) }
        case AVAHI_BROWSER_ALL_FOR_NOW: .allForNow
        case AVAHI_BROWSER_FAILURE: .failed(cause: cause())
        default: nil
        }
    }

    /// Converts a state of an entry group of either library; nil if it is not of interest.
    static func announcementEvent(_ state: AvahiEntryGroupState, cause: @autoclosure () -> String) -> AnnouncementEvent?
    {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: .established
        case AVAHI_ENTRY_GROUP_COLLISION: .collision
        case AVAHI_ENTRY_GROUP_FAILURE: .failed(cause: cause())
        default: nil
        }
    }
}
