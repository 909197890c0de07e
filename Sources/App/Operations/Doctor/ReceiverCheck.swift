import Contacts
import Control
import Discovery
import Endpoints
import Foundation
import Glibc
import Lines
import Sending
import Settings
import Sharing

/// The receiver of this home, and others on the machine.
struct ReceiverCheck: DoctorCheck {
    let name = "receiver"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted else { return [] }
        let all = Self.others(than: scene.status.map { Int32(truncatingIfNeeded: $0.processID) })
        return [Self.finding(scene.receiver, all, user: geteuid())]
    }

    /// - Parameters:
    ///   - others: the other receivers on this machine.
    ///   - user: whose receivers they should be; those of other users are no fault.
    static func finding(_ receiver: DoctorScene.Receiver, _ all: [ProcessEntry], user: uid_t) -> DoctorFinding {
        let others = all.filter { $0.user == user }
        let foreign = all.count - others.count
        let beside = foreign == 0 ? "" : "; beside \(foreign) of other users"
        let list = others.map(Self.text).joined(separator: ", ")
        switch receiver {
        case .silent(let reason):
            return .problem("the receiver cannot be asked: \(reason)", hint: "end it and start it again")
        case .none where others.isEmpty:
            return .warning(
                "no receiver is running: nobody can send to this machine\(beside)",
                hint: "start one: waftd, or in a terminal: waft receive")
        case .none:
            return .warning(
                "no receiver of this home is running, but others are: \(list)",
                hint: "set WAFT_HOME as that receiver has it, or start one for this home: waftd")
        case .running(let status):
            let own = "process \(status.processID) as \(status.name), port \(status.port)"
            if others.isEmpty { return .ok(own + beside) }
            return .problem(
                "\(others.count + 1) receivers run on this machine: \(own); \(list)",
                hint: "end all but one: senders may reach the wrong one, and only one has port \(Endpoints.defaultPort)"
            )
        }
    }

    /// Other receivers that share this machine's network.
    private static func others(than own: Int32?) -> [ProcessEntry] {
        let network = ProcessEntry.network("/proc/self")
        return ProcessEntry.all.filter { process in
            guard process.id != own, process.network == nil || process.network == network else { return false }
            switch process.name {
            case "waftd": return !process.words.isEmpty
            case "waft": return process.words.dropFirst().first == "receive"
            default: return false
            }
        }
    }

    private static func text(_ process: ProcessEntry) -> String {
        let home = process.variable("WAFT_HOME").map { " (WAFT_HOME=\($0))" } ?? ""
        return "process \(process.id)\(home)"
    }
}

/// Which machines may see this one.
struct VisibilityCheck: DoctorCheck {
    let name = "visibility"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        let stored = VisibilityFile(path: home.visibilityPath).visibility
        let visibility = scene.status.flatMap { Visibility(rawValue: $0.visibility) } ?? stored
        let everyone = "for a while: waft visible everyone --for 10m"
        switch visibility {
        case .off:
            return [
                .problem(
                    "off: no machine can see this one or send to it",
                    hint: "waft visible contacts; or \(everyone)")
            ]
        case .contacts:
            guard let count = try? home.contactBook().snapshot().contacts.count else {
                return [.problem("contacts: but the contacts cannot be read", hint: "see: waft contacts")]
            }
            if count == 0 {
                return [
                    .warning(
                        "contacts: and there is none, so nobody can send to this machine",
                        hint: "\(everyone); for good: waft pair --accept here, waft pair NAME there")
                ]
            }
            return [.ok("contacts (\(count))")]
        case .everyone: return [.ok("everyone")]
        }
    }
}

/// The port of the receiver: taken by another program, or filtered.
struct PortCheck: DoctorCheck {
    let name = "port"

    /// How long the receiver may take to answer at an address of its own machine.
    private static let answering: Duration = .seconds(2)
    /// Addresses that are tried.
    private static let tried = 4

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let wanted = scene.settings.port ?? Endpoints.defaultPort
        guard let status = scene.status else {
            return [Self.taken(wanted, scene.settings.port != nil, by: PortOwners.listening(onTCP: wanted))]
        }
        guard let port = UInt16(exactly: status.port), port > 0 else {
            return [.warning("no port is open: the receiver is not visible", hint: "waft visible contacts")]
        }
        return await selfTest(scene, port, PeerID(text: status.id))
            + (port == wanted || scene.settings.port != nil ? [] : [Self.other(port, instead: wanted)])
    }

    /// Without a receiver: whether one could have the port.
    /// - Parameter isSet: whether the user has set this port.
    static func taken(_ port: UInt16, _ isSet: Bool, by owners: [PortOwners.Owner]) -> DoctorFinding {
        if owners.isEmpty { return .ok("\(port) is free") }
        if owners.allSatisfy({ $0.program == "systemd" }) {
            return .ok("systemd listens on \(port), to start the receiver of a service")
        }
        let words = "\(port) is taken by \(owners.map(\.text).joined(separator: ", "))"
        let hint = "end that program, or choose another port: port in config.yaml"
        return isSet
            ? .problem("\(words): no receiver can start", hint: hint)
            : .warning("\(words): a receiver would get another port", hint: hint)
    }

    private static func other(_ port: UInt16, instead wanted: UInt16) -> DoctorFinding {
        let owners = PortOwners.listening(onTCP: wanted).map(\.text).joined(separator: ", ")
        let words = owners.isEmpty ? "" : ", because \(wanted) is taken by \(owners)"
        return .warning(
            "the receiver has the port \(port)\(words): an address alone does not lead to it",
            hint: "give senders ADDRESS:\(port), or set another port and restart it")
    }

    private func selfTest(_ scene: DoctorScene, _ port: UInt16, _ own: PeerID?) async -> [DoctorFinding] {
        guard let own, let finder = scene.finder else { return [] }
        let addresses = scene.links.flatMap { link in
            link.addresses.map { $0.scope == 0 ? $0.host : "\($0.host)%\(link.interface.name)" }
        }.prefix(Self.tried)
        let faults = await withTaskGroup(of: (String, MeetingError?).self) { group in
            for address in addresses {
                group.addTask { (address, await Self.fault(address, port, own, finder)) }
            }
            return await group.reduce(into: [String: MeetingError?]()) { $0[$1.0] = .some($1.1) }
        }
        let results = addresses.map { ($0, faults[$0] ?? nil) }
        let reached = results.filter { $0.1 == nil }.map(\.0)
        let failed = results.compactMap { address, fault in fault.map { (address, $0) } }
        var findings: [DoctorFinding] = []
        if !reached.isEmpty { findings.append(.ok("\(port) answers at \(reached.joined(separator: ", "))")) }
        if let (address, fault) = failed.first {
            findings.append(Self.finding(fault, at: address, port))
        }
        return findings
    }

    private static func fault(
        _ address: String, _ port: UInt16, _ own: PeerID, _ finder: PeerFinder
    ) async -> MeetingError? {
        do throws(MeetingError) {
            _ = try await finder.meet(host: address, port: port, expecting: own, within: answering)
            return nil
        } catch {
            return error
        }
    }

    private static func finding(_ fault: MeetingError, at address: String, _ port: UInt16) -> DoctorFinding {
        switch fault.kind {
        case .noAnswer:
            .problem(
                "\(port) is filtered: the receiver runs, and does not answer at \(address)",
                hint: "allow TCP port \(port) in the firewall, such as: ufw allow \(port)/tcp")
        case .otherKey, .otherProgram:
            .problem(
                "another program answers on port \(port) at \(address): \(fault)",
                hint: "see which: ss -tlpn sport = :\(port)")
        case .refused, .unreachable, .unknownName:
            .problem(
                "\(port) does not answer at \(address): \(fault)",
                hint: "a firewall may reject it: allow TCP port \(port), such as: ufw allow \(port)/tcp")
        }
    }
}

/// The programs of this machine that have a port open, by the tables of the kernel for this network namespace.
///
/// The sockets of other users' programs are listed too, but only root sees which program has them.
enum PortOwners {
    struct Owner: Hashable {
        /// The user of the socket.
        var user: uid_t
        /// Nil if it cannot be seen.
        var process: Int32?
        /// The name of the program, at most 15 bytes; nil if it cannot be seen.
        var program: String?

        /// For people.
        var text: String {
            if let program, let process { return "\(program) (process \(process))" }
            let name = getpwuid(user).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
            return "a program of the user \(name ?? String(user))"
        }
    }

    private struct Entry {
        var user: uid_t
        var inode: UInt64
    }

    /// The programs that listen on a TCP port.
    static func listening(onTCP port: UInt16) -> [Owner] { owners(["tcp", "tcp6"], port, state: "0A") }

    /// The programs that have a UDP port.
    static func bound(toUDP port: UInt16) -> [Owner] { owners(["udp", "udp6"], port, state: nil) }

    /// - Parameter state: the state of the sockets, in hexadecimal digits; nil for any.
    private static func owners(_ tables: [String], _ port: UInt16, state: String?) -> [Owner] {
        let entries = tables.flatMap { table -> [Entry] in
            let text = (try? String(contentsOfFile: "/proc/self/net/\(table)", encoding: .utf8)) ?? ""
            return self.entries(in: text, port, state: state)
        }
        guard !entries.isEmpty else { return [] }
        let processes = processes(with: Set(entries.map(\.inode)))
        var seen: Set<Owner> = []
        return entries.flatMap { entry -> [Owner] in
            if let seen = processes[entry.inode] {
                return seen.map { Owner(user: entry.user, process: $0.id, program: $0.name) }
            }
            let receiver = entry.user == geteuid() ? hiddenReceiver : nil
            return [Owner(user: entry.user, process: receiver?.id, program: receiver?.name)]
        }.filter { seen.insert($0).inserted }
    }

    /// A receiver of this user that none may look into, as with data protection. A hidden socket of the user is its
    /// own.
    private static var hiddenReceiver: ProcessEntry? {
        ProcessEntry.all.first { process in
            ["waft", "waftd"].contains(process.name) && process.user == geteuid() && process.isHidden
        }
    }

    /// The lines of a table of proc(5): number, local address, remote address, state, queues, timers, retransmissions,
    /// user, timeout, inode.
    private static func entries(in text: String, _ port: UInt16, state: String?) -> [Entry] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let digits = fields[1].split(separator: ":").last,
                UInt16(digits, radix: 16) == port, state.map({ $0 == fields[3] }) ?? true,
                let user = uid_t(fields[7]), let inode = UInt64(fields[9])
            else { return nil }
            return Entry(user: user, inode: inode)
        }
    }

    private static func processes(with inodes: Set<UInt64>) -> [UInt64: [(id: Int32, name: String)]] {
        var found: [UInt64: [(id: Int32, name: String)]] = [:]
        for process in ProcessEntry.all {
            let folder = "/proc/\(process.id)/fd"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let own = Set(files.compactMap { ProcessEntry.link("\(folder)/\($0)").flatMap(inode(in:)) })
            for inode in own.intersection(inodes) { found[inode, default: []].append((process.id, process.name)) }
        }
        return found
    }

    /// `socket:[12345]`
    private static func inode(in target: String) -> UInt64? {
        guard target.hasPrefix("socket:["), target.hasSuffix("]") else { return nil }
        return UInt64(target.dropFirst("socket:[".count).dropLast())
    }
}

/// A process of this machine, as proc(5) shows it.
struct ProcessEntry: Hashable {
    let id: Int32
    /// At most 15 bytes; the program chooses it.
    let name: String

    private var folder: String { "/proc/\(id)" }

    /// The processes that can be seen. Some may end meanwhile.
    static var all: [ProcessEntry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.sorted().compactMap { id in
            guard let text = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8) else { return nil }
            return ProcessEntry(id: id, name: text.trimmingCharacters(in: .newlines))
        }
    }

    /// The words of its command line; empty for a process that has ended.
    var words: [String] { Self.texts(folder + "/cmdline") }

    /// A variable of its environment; nil if it is not set or cannot be read.
    func variable(_ name: String) -> String? {
        Self.texts(folder + "/environ").lazy.compactMap { text in
            text.hasPrefix(name + "=") ? String(text.dropFirst(name.count + 1)) : nil
        }.first
    }

    /// From a file that all can read: the folder of a process that none may look into belongs to root.
    var user: uid_t? {
        let text = (try? String(contentsOfFile: folder + "/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        // Real, effective, saved and that of the file system.
        return line.flatMap { line in
            let words = line.split { $0 == "\t" || $0 == " " }
            return words.count > 2 ? uid_t(words[2]) : nil
        }
    }

    /// Whether only root may see its files.
    var isHidden: Bool { Self.link(folder + "/exe") == nil }

    /// The number of a table of the network namespace, which no other namespace has; nil if it cannot be seen. The
    /// link to the namespace is hidden of a process that none may look into.
    var network: UInt64? { Self.network(folder) }

    /// - Parameter folder: of a process.
    static func network(_ folder: String) -> UInt64? {
        var status = stat()
        return stat(folder + "/net/dev", &status) == 0 ? UInt64(status.st_ino) : nil
    }

    static func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// Texts that end with NUL.
    private static func texts(_ path: String) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
            .dropLast()
    }
}
