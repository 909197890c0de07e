import CLinuxShims
import Glibc

/// The descendants of this process. It is their subreaper, so none of them can leave it.
enum ProcessTree {
    /// Reaps the children that have ended.
    ///
    /// - Parameter ended: gets the id and status of each, as in waitpid(2).
    /// - Returns: whether a child is left.
    static func reap(_ ended: (pid_t, Int32) -> Void) -> Bool {
        while true {
            var status: Int32 = 0
            // Children of clone(2) without SIGCHLD too: __WALL.
            let child = waitpid(-1, &status, WNOHANG | 0x4000_0000)
            if child > 0 {
                ended(child, status)
            } else if child == 0 {
                return true
            } else if errno != EINTR {
                return false
            }
        }
    }

    /// Kills the children of this process. Their children become its own, so repeated calls outrun processes that fork.
    static func killChildren() {
        for child in children(of: getpid()) { kill(child, SIGKILL) }
    }

    /// Sends a signal to all descendants that exist now. A process forked meanwhile may miss it, and becomes a child of
    /// this process sooner or later.
    static func signal(_ signal: Int32) {
        var pending = [getpid()]
        var seen: Set<pid_t> = [getpid()]
        while let parent = pending.popLast() {
            for child in children(of: parent) where seen.insert(child).inserted {
                pending.append(child)
                send(signal, to: child, childOf: parent)
            }
        }
    }

    private static func send(_ signal: Int32, to process: pid_t, childOf parent: pid_t) {
        // Only this process reaps its children, so the id is not reused.
        if parent == getpid() {
            kill(process, signal)
            return
        }
        let file = CLinuxShims_pidfd_open(process)
        guard file >= 0 else { return }
        defer { close(file) }
        // The id may be reused by now: signal only a process with the same parent.
        if self.parent(of: process) == parent { _ = CLinuxShims_pidfd_send_signal(file, signal) }
    }

    private static func children(of process: pid_t) -> [pid_t] {
        var children: [pid_t] = []
        for thread in numbers(in: "/proc/\(process)/task") {
            guard let text = read("/proc/\(process)/task/\(thread)/children") else {
                // The kernel lacks this file. Search /proc instead, which shows this process all its children.
                if process == getpid() { return numbers(in: "/proc").filter { parent(of: $0) == process } }
                continue
            }
            children += text.split(separator: UInt8(ascii: " ")).compactMap {
                pid_t(String(decoding: $0, as: UTF8.self))
            }
        }
        return children
    }

    private static func parent(of process: pid_t) -> pid_t? {
        // NUMBER (NAME) STATE PARENT …, where the name is anything.
        guard let text = read("/proc/\(process)/stat"), let name = text.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let parts = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        return parts.count > 1 ? pid_t(String(decoding: parts[1], as: UTF8.self)) : nil
    }

    private static func numbers(in path: String) -> [pid_t] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var numbers: [pid_t] = []
        while let entry = readdir(folder) {
            if let number = pid_t(String(cString: CLinuxShims_dirent_name(entry))) { numbers.append(number) }
        }
        return numbers
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
