import Contacts
import Control
@preconcurrency import Dispatch
import Endpoints
import Foundation
import Glibc
import Inbox
import Lines
import Logging
import Settings
import Sharing
import Synchronization
import SystemCalls

/// Reads the settings of a running receiver again: all of them count, or none.
actor SettingsReload {
    private let plan: ReceiverPlan
    private let source: SettingsSource
    /// The configuration file when it was read; nil for no file.
    private var stamp: FileStamp?
    private var faults: [String] = []
    /// The missing programs that are in the log.
    private var said: Set<String> = []
    private var last: Task<SettingsLine, Never>?
    /// When the settings that are in use were read.
    private var since = WallTime.now

    init(_ plan: ReceiverPlan, _ source: SettingsSource, _ stamp: FileStamp?) {
        (self.plan, self.source, self.stamp) = (plan, source, stamp)
    }

    /// The faults of the file, and the age of the settings.
    var standing: (faults: [String], since: WallTime) { (faults, since) }

    /// The receiver has written the file, which sets nothing.
    func noteTemplate() { stamp = plan.home.configurationStamp }

    /// Reads the settings and uses them. Nothing changes if there is a fault.
    /// - Parameter ports: those on which the endpoints listen.
    func reload(_ parts: ReceiverParts, listeningOn ports: @escaping @Sendable () -> [Dialect: Int]) async
        -> SettingsLine
    {
        // One after the other: the last reading counts in the end.
        let before = last
        let reading = Task {
            _ = await before?.value
            return await read(parts, ports())
        }
        last = reading
        return await reading.value
    }

    private func read(_ parts: ReceiverParts, _ ports: [Dialect: Int]) async -> SettingsLine {
        plan.listeners.reports?.reloading()
        defer { plan.listeners.reports?.reloaded() }
        let stamp = plan.home.configurationStamp
        var report = SettingsLine()
        let old = plan.settings
        // Repaired, and the settings are those of before: nothing has changed but the fault.
        let hadFaults = !faults.isEmpty
        do {
            try plan.home.checkTrust()
            let (new, overridden) = try source.read()
            try judge(new)
            let programs = ReceiverPrograms(new, plan.home, plan.logger)
            try await Self.check(new, parts, ports)
            let changed = SettingKey.all.filter { !$0.isSame(in: old, and: new) }.map(\.name)
            report = SettingsLine(changed: changed, overridden: overridden)
            (faults, since) = ([], .now)
            plan.live.use(new)
            plan.programs.use(programs)
            await parts.settingsChanged(changed)
        } catch let error as Settings.InvalidError {
            let place = error.file.map { $0 + ": " } ?? ""
            report = SettingsLine(faults: error.faults.map { place + $0.text })
        } catch let error as ReceiverError {
            report = SettingsLine(faults: [error.description])
        } catch {
            report = SettingsLine(faults: ["\(error)"])
        }
        self.stamp = stamp
        if report.ok {
            if let changed = report.changedSettings {
                plan.logger.notice(
                    "the settings have changed", metadata: ["settings": "\(changed.joined(separator: ", "))"])
            }
        } else {
            faults = report.faults
            for fault in faults {
                plan.logger.error("the settings are not used; those of before stay", metadata: ["reason": "\(fault)"])
            }
        }
        if report.changedSettings != nil || !report.ok || hadFaults { plan.listeners.tell(.settings(report)) }
        return report
    }

    /// Judges settings before they are used. The log has each missing program once.
    ///
    /// - Throws: `ReceiverError` `setting` for faults of the file.
    func judge(_ settings: Settings) throws(ReceiverError) {
        let faults = SettingsJudge(plan.home).faults(of: settings)
        let ofFile = faults.filter { $0.kind == .file }.map(\.text)
        guard ofFile.isEmpty else { throw ReceiverError(.setting, ofFile.joined(separator: "; ")) }
        let missing = Set(faults.map(\.text))
        for fault in missing.subtracting(said).sorted() {
            plan.logger.warning("a setting names something that is missing", metadata: ["reason": "\(fault)"])
        }
        said = missing
    }

    private static func check(
        _ settings: Settings, _ parts: ReceiverParts, _ ports: [Dialect: Int]
    ) async throws(ReceiverError) {
        do {
            for endpoint in parts.network.endpoints {
                try await endpoint.check(settings, listeningOn: ports[endpoint.dialect] ?? 0)
            }
        } catch {
            throw ReceiverError(.setting, settings.line(about: "port", "\(error)"))
        }
    }

    /// Reads the settings again after each change of the file, until the task is cancelled.
    func watch(_ parts: ReceiverParts, listeningOn ports: @escaping @Sendable () -> [Dialect: Int]) async {
        guard let events = FileEvents(plan.home.configurationFile) else {
            plan.logger.warning("a change of config.yaml is not noticed; after one: waft config reload")
            return await Self.untilCancelled()
        }
        // A change since the settings were read may have come before the events.
        await reloadIfChanged(parts, ports)
        // The newest event only: events that come while the file is read cause another reading.
        for await _ in events.stream {
            // An editor may write in several steps.
            do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
            events.look()
            await reloadIfChanged(parts, ports)
        }
    }

    private func reloadIfChanged(
        _ parts: ReceiverParts, _ ports: @escaping @Sendable () -> [Dialect: Int]
    ) async {
        guard plan.home.configurationStamp != stamp else { return }
        _ = await reload(parts, listeningOn: ports)
    }

    private static func untilCancelled() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
    }
}

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
