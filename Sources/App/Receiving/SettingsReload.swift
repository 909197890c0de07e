import Contacts
import Control
import Foundation
import Inbox
import Logging
import Settings
import Sharing
import SystemCalls

/// Reads the settings of a running receiver again: all of them count, or none.
actor SettingsReload {
    private let plan: ReceiverPlan
    private let source: SettingsSource
    /// The configuration file when it was read; nil for no file.
    private var stamp: FileStamp?
    /// The settings of the start, for those that count from the next one.
    private let start: Settings
    private var faults: [String] = []
    /// The settings with other values than those of the start that count from the next one.
    private var pending: [String] = []
    /// When the settings that are in use were read.
    private var since = WallTime.now

    init(_ plan: ReceiverPlan, _ source: SettingsSource, _ stamp: FileStamp?) {
        (self.plan, self.source, self.stamp) = (plan, source, stamp)
        start = plan.settings
    }

    /// The faults of the file, and the names of the settings that count from the next start.
    var standing: (faults: [String], since: WallTime, pending: [String]) { (faults, since, pending) }

    /// The receiver has written the file, which sets nothing.
    func noteTemplate() { stamp = plan.home.configurationStamp }

    /// Reads the settings and uses them. Nothing changes if there is a fault.
    func reload(_ parts: ReceiverParts) async -> SettingsReport {
        plan.reports?.reloading()
        defer { plan.reports?.reloaded() }
        let stamp = plan.home.configurationStamp
        var report = SettingsReport()
        let old = plan.settings
        do {
            try plan.home.checkTrust()
            let (new, overridden) = try source.read()
            let programs = try ReceiverPrograms(new, plan.home, plan.logger)
            report.overridden = overridden
            report.changed = SettingKey.all.filter { !$0.isSame(in: old, and: new) }.map(\.name)
            pending = SettingKey.all.filter { !$0.live && !$0.isSame(in: start, and: new) }.map(\.name)
            report.atNextStart = report.changed.filter(pending.contains)
            (faults, since) = ([], .now)
            plan.live.use(new)
            plan.programs.use(programs)
            await parts.settingsChanged(report.changed)
        } catch let error as Settings.InvalidError {
            let place = error.file.map { $0 + ": " } ?? ""
            report.faults = error.faults.map { place + $0.text }
        } catch let error as ReceiverError {
            report.faults = [error.description]
        } catch {
            report.faults = ["\(error)"]
        }
        self.stamp = stamp
        if report.faults.isEmpty {
            if !report.changed.isEmpty {
                plan.logger.notice(
                    "the settings have changed", metadata: ["settings": "\(report.changed.joined(separator: ", "))"])
            }
        } else {
            faults = report.faults
            for fault in faults {
                plan.logger.error("the settings are not used; those of before stay", metadata: ["reason": "\(fault)"])
            }
        }
        if !report.changed.isEmpty || !report.faults.isEmpty { plan.observe(.settings(report)) }
        return report
    }

    /// Reads the settings again after each change of the file, until the task is cancelled.
    func watch(_ parts: ReceiverParts) async {
        guard let events = FileEvents(plan.home.configurationFile) else {
            plan.logger.warning("a change of config.yaml is not noticed; after one: waft config reload")
            return await Self.untilCancelled()
        }
        // The newest event only: events that come while the file is read cause another reading.
        for await _ in events.stream {
            // An editor may write in several steps.
            do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
            events.look()
            guard plan.home.configurationStamp != stamp else { continue }
            _ = await reload(parts)
        }
    }

    private static func untilCancelled() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
    }
}
