import Foundation
import Testing

/// A `discovery-probe` that runs on a host of a lab.
actor Probe {
    /// One line of its output.
    struct Report: Decodable, Sendable {
        struct Address: Decodable, Sendable, Hashable {
            var host: String
            var scope: UInt32
            var interface: String
            var port: UInt16
        }

        var event: String
        var key: String?
        var instance: String?
        var hostName: String?
        var addresses: [Address]?
        var txt: [String: String]?
        var isLocal: Bool?
        var cause: String?

        var hosts: [String] { addresses?.map(\.host) ?? [] }
        var interfaces: Set<String> { Set(addresses?.map(\.interface) ?? []) }
    }

    private let child: Child
    private var heard: [String] = []
    /// Reports that were read, but not requested yet.
    private var waiting: [Report] = []

    /// - Parameter options: options of the probe, such as `--via embedded`.
    init(_ lab: Lab, _ host: String, _ options: String...) throws {
        child = try Child(Lab.scriptPath, ["run", lab.name, host, Self.path] + options)
    }

    /// The probe is built with the tests, in the same folder.
    private static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "discovery-probe").path

    func tell(_ line: String) throws {
        try child.input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Reads until a report satisfies the condition.
    ///
    /// Answers to commands and news of a browse are two sequences, each in order. Waiting for one skips none of the
    /// other.
    @discardableResult
    func hears(_ event: String, where condition: (Report) -> Bool = { _ in true }) async throws -> Report {
        let isNews = Self.news.contains(event)
        while let report = try await nextReport(isNews: isNews) {
            if report.event == event, condition(report) { return report }
        }
        throw Silence(awaited: event, heard: heard)
    }

    /// Reads until one of two events comes.
    func hears(_ event: String, or other: String) async throws -> Report {
        while let report = try await nextReport(isNews: true) {
            if [event, other].contains(report.event) { return report }
        }
        throw Silence(awaited: event, heard: heard)
    }

    /// Reads until each of the instances has a report, in any order.
    @discardableResult
    func hears(_ event: String, all instances: Set<String>) async throws -> [Report] {
        var missing = instances
        var reports: [Report] = []
        while !missing.isEmpty {
            let report = try await hears(event)
            if let instance = report.instance, missing.remove(instance) != nil { reports.append(report) }
        }
        return reports
    }

    private static let news: Set = ["updated", "removed", "allForNow", "failed", "heard", "standing", "newAddress"]

    private func nextReport(isNews: Bool) async throws -> Report? {
        if let index = waiting.firstIndex(where: { Self.news.contains($0.event) == isNews }) {
            return waiting.remove(at: index)
        }
        for await line in child.lines {
            heard.append(line)
            let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
            if Self.news.contains(report.event) == isNews { return report }
            waiting.append(report)
        }
        return nil
    }

    @discardableResult
    func hears(_ event: String, _ instance: String) async throws -> Report {
        try await hears(event) { $0.instance == instance }
    }

    /// The next answer to a command, whatever it is.
    func answer() async throws -> Report? { try await nextReport(isNews: false) }

    /// Publishes a service, and returns the name in force.
    @discardableResult
    func publish(_ instance: String, port: UInt16 = 4711, txt: String = "v=1") async throws -> String {
        try tell("publish \(instance) _waft._tcp \(instance) \(port) \(txt)")
        return try #require(try await hears("published") { $0.key == instance }.instance)
    }

    func withdraw(_ instance: String) async throws {
        try tell("withdraw \(instance)")
        try await hears("withdrawn") { $0.key == instance }
    }

    /// Ends the probe without withdrawing; the end of the lab would do so too.
    func end() {
        try? child.input.close()
    }

    struct Silence: Error, CustomStringConvertible {
        var awaited: String
        var heard: [String]
        var description: String { "the probe ended or time was up before \(awaited); heard: \(heard)" }
    }
}
