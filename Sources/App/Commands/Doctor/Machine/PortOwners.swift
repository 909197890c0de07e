import Foundation
import Glibc

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
