@preconcurrency import Dispatch
import Glibc
import Synchronization
import SystemCalls

/// Reports that a file may have changed: events in its folder and, for a link, in the folder of its target.
final class FileEvents: Sendable {
    /// For one task. Events that come before the next is taken are one.
    let stream: AsyncStream<Void>
    private let path: String
    private let inotify: Mutex<Inotify>
    private let source: any DispatchSourceRead

    private static let events = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR)

    /// - Returns: nil if the kernel reports nothing; the number of inotify objects of a user is limited.
    init?(_ path: String) {
        guard let inotify = try? Inotify() else { return nil }
        self.path = path
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        let descriptor = inotify.descriptor
        self.inotify = Mutex(inotify)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "waft-settings"))
        source.setEventHandler { [weak self] in
            self?.inotify.withLock { $0.drain { _ in } }
            continuation.yield()
        }
        look()
        source.resume()
    }

    /// Watches the folder of the target too, which may be another one after each event.
    func look() {
        var folders = [SmallFile.folder(of: path)]
        if let real = realpath(path, nil) {
            folders.append(SmallFile.folder(of: String(cString: real)))
            free(real)
        }
        inotify.withLock { inotify in
            for folder in folders { _ = try? inotify.watch(folder, for: Self.events) }
        }
    }

    deinit { source.cancel() }
}
