internal import CLinuxShims

/// A question to the name servers of this machine, and the records of its answer. Hostile: bounded and well-formed, no
/// more.
enum DomainQuery {
    /// Types of records (RFC 1035, 3.2.2; RFC 3596; RFC 2782).
    enum RecordType: Int32 {
        case a = 1
        case ptr = 12
        case txt = 16
        case aaaa = 28
        case srv = 33
    }

    struct Record: Sendable, Hashable {
        /// The name that has the record, in presentation form.
        var name = ""
        /// The target of a PTR or SRV record, in presentation form: with escapes, without the last dot.
        var target = ""
        /// Of an SRV record.
        var priority: UInt16 = 0
        var port: UInt16 = 0
        var data: [UInt8] = []
    }

    /// No name server answered.
    struct SilenceError: Error {}

    /// Bytes of an answer: no message is longer (RFC 1035, 4.2.2).
    private static let answerBytes = 65_535
    /// How long one name server may take.
    private static let seconds: Int32 = 2
    /// Records of an answer that are read.
    static let maximumRecords = 256

    /// Blocks, for some seconds at most.
    ///
    /// - Parameter name: in presentation form.
    /// - Returns: the records of that type; empty if there is none, or the answer is malformed.
    static func records(of name: String, _ type: RecordType) throws(SilenceError) -> [Record] {
        guard !name.isEmpty, name.utf8.count < CLINUXSHIMS_DNS_NAME, !name.utf8.contains(0) else { return [] }
        var answer = [UInt8](repeating: 0, count: answerBytes)
        let length = CLinuxShims_dns_query(name, type.rawValue, seconds, &answer, Int32(answer.count))
        guard length >= 0 else { throw SilenceError() }
        return records(in: Array(answer.prefix(Int(length))), type)
    }

    /// - Parameter answer: a whole message.
    static func records(in answer: [UInt8], _ type: RecordType) -> [Record] {
        all(in: answer, isAdditional: false, limit: maximumRecords).filter { $0.type == type }.map(\.record)
    }

    /// The records of the types above, up to a malformed one.
    ///
    /// - Parameters:
    ///   - answer: a whole message.
    ///   - isAdditional: whether the additional records are read, and not the answers.
    ///   - limit: records that are read.
    static func all(
        in answer: [UInt8], isAdditional: Bool, limit: Int
    ) -> [(type: RecordType, record: Record)] {
        var records: [(RecordType, Record)] = []
        answer.withUnsafeBufferPointer { bytes in
            var read = CLinuxShims_dns_record()
            for number in 0..<Int32(limit) {
                let state = CLinuxShims_dns_record(
                    bytes.baseAddress, Int32(bytes.count), isAdditional ? 1 : 0, number, &read)
                guard state == 1 else { return }
                guard let type = RecordType(rawValue: Int32(read.type)) else { continue }
                let name = withUnsafeBytes(of: &read.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                let target = withUnsafeBytes(of: &read.target) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                let data = Array(UnsafeBufferPointer(start: read.data, count: Int(read.length)))
                records.append(
                    (type, Record(name: name, target: target, priority: read.priority, port: read.port, data: data)))
            }
        }
        return records
    }

    /// The domains in the search list of this machine's resolver.
    static func searchDomains(limit: Int) -> [String] {
        (0..<Int32(limit)).compactMap { number in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CLINUXSHIMS_DNS_NAME)) { buffer in
                let isThere = CLinuxShims_dns_search_domain(number, buffer.baseAddress, Int32(buffer.count)) == 1
                return isThere ? buffer.baseAddress.map { String(cString: $0) } : nil
            }
        }
    }
}
