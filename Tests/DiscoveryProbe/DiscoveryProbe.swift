import Discovery
import Foundation
import Logging

/// Publishes and browses by commands on its standard input, and prints each event as one line of JSON. The tests of
/// `Discovery` run it on the hosts of a lab. It ends with its input.
///
///     discovery-probe [--via daemon|embedded|automatic] [--denied PATTERN[,…]|none] [--log LEVEL]
///     publish KEY TYPE INSTANCE PORT [TXTKEY=VALUE]…   →  {"event":"published","key":…,"instance":…}
///     publish-own KEY TYPE INSTANCE PORT [TXTKEY=VALUE]…    →  the same, with a host name of its own
///     publish-link KEY TYPE INSTANCE PORT [TXTKEY=VALUE]…   →  the same, with link-local addresses too
///     publish-many TYPE PREFIX COUNT                   →  {"event":"published","key":PREFIX} when all are
///     name KEY                                         →  {"event":"name","key":…,"instance":…}
///     withdraw KEY                                     →  {"event":"withdrawn","key":…}
///     browse TYPE           →  {"event":"browsing"}, then {"event":"updated"|"removed"|"allForNow"|"failed",…}
///     join PORT             →  {"event":"joined","key":INTERFACES}, then
///                              {"event":"heard"|"standing"|"newAddress",…}: see MulticastProbe
///     say TEXT              →  {"event":"said","key":NUMBER OF DATAGRAMS}
///     shout COUNT BYTES     →  {"event":"shouted"}: the same without the group's limits, on one interface
///     stop                                             →  {"event":"stopped"}
@main
struct DiscoveryProbe {
    static func main() async throws {
        var via = "automatic"
        var denied = InterfacePatterns.virtual
        var level = Logger.Level.warning
        var arguments = CommandLine.arguments.dropFirst()
        while let option = arguments.popFirst(), let value = arguments.popFirst() {
            switch option {
            case "--via": via = value
            case "--denied":
                denied = value == "none" ? .none : InterfacePatterns(value.split(separator: ",").map(String.init))
            case "--log": level = Logger.Level(rawValue: value) ?? level
            default: fatalError("unknown option \(option)")
            }
        }
        let logLevel = level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = logLevel
            return handler
        }
        let directory =
            switch via {
            case "daemon": try Directories.daemon(denied: denied)
            case "embedded": try Directories.embedded(denied: denied)
            default: try Directories.automatic(denied: denied)
            }
        var probe = Probe(directory: directory, denied: denied)
        for await line in lines() {
            await probe.obey(line.split(separator: " ").map(String.init))
        }
        exit(0)
    }

    /// Standard input, read on its own thread, because reading blocks.
    static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }
}

struct Probe {
    let directory: any ServiceDirectory
    var publications: [String: any Publication] = [:]
    var browse: Task<Void, Never>?
    let denied: InterfacePatterns
    var multicast: MulticastProbe?

    init(directory: any ServiceDirectory, denied: InterfacePatterns) {
        (self.directory, self.denied) = (directory, denied)
    }

    mutating func obey(_ words: [String]) async {
        switch words.first {
        case "publish" where words.count >= 5: await publish(words)
        case "publish-own" where words.count >= 5: await publish(words, at: .own)
        case "publish-link" where words.count >= 5: await publish(words, at: .ownOnLink)
        case "publish-many" where words.count == 4: await publishMany(words[1], words[2], Int(words[3]) ?? 0)
        case "name" where words.count == 2:
            Report(event: "name", key: words[1], instance: await publications[words[1]]?.instance).print()
        case "withdraw" where words.count == 2:
            await publications.removeValue(forKey: words[1])?.withdraw()
            Report(event: "withdrawn", key: words[1]).print()
        case "browse" where words.count == 2:
            Report(event: "browsing").print()
            let events = directory.browse(type: words[1])
            browse = Task { for await event in events { Report(event).print() } }
        case "join" where words.count == 2:
            multicast = await MulticastProbe(port: UInt16(words[1]) ?? 0, denied: denied)
        case "say" where words.count == 2: await multicast?.say(words[1])
        case "shout" where words.count == 3: multicast?.shout(Int(words[1]) ?? 0, bytes: Int(words[2]) ?? 0)
        case "stop":
            browse?.cancel()
            await browse?.value
            browse = nil
            Report(event: "stopped").print()
        default: Report(event: "error", cause: "not understood: \(words)").print()
        }
    }

    private mutating func publish(_ words: [String], at host: ServiceDescription.Host = .machine) async {
        var description = ServiceDescription(type: words[2], instance: words[3], port: UInt16(words[4]) ?? 0)
        description.host = host
        for pair in words.dropFirst(5) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            description.txt[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        do {
            let publication = try await directory.publish(description)
            publications[words[1]] = publication
            Report(event: "published", key: words[1], instance: await publication.instance).print()
        } catch {
            Report(event: "error", key: words[1], cause: "\(error)").print()
        }
    }

    private mutating func publishMany(_ type: String, _ prefix: String, _ count: Int) async {
        let made = await withTaskGroup(of: (String, (any Publication)?).self) { [directory] group in
            for number in 0..<count {
                let name = "\(prefix)\(number)"
                let description = ServiceDescription(type: type, instance: name, port: UInt16(20_000 + number))
                group.addTask { (name, try? await directory.publish(description)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        publications.merge(made) { $1 }
        let isComplete = made.count == count
        Report(event: isComplete ? "published" : "error", key: prefix, cause: isComplete ? nil : "\(made.count)")
            .print()
    }
}

/// One line of output. The tests read the same fields.
struct Report: Encodable {
    struct Address: Encodable {
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
    /// Seconds on the system's monotonic clock, for measuring.
    var at = Double(DispatchTime.now().uptimeNanoseconds) / 1e9

    init(event: String, key: String? = nil, instance: String? = nil, cause: String? = nil) {
        self.event = event
        self.key = key
        self.instance = instance
        self.cause = cause
    }

    init(_ event: BrowseEvent) {
        switch event {
        case .updated(let service):
            self.init(event: "updated", instance: service.instance)
            hostName = service.hostName
            txt = service.txt
            isLocal = service.isLocal
            addresses = service.addresses.map {
                Address(host: $0.host, scope: $0.scope, interface: $0.interface, port: $0.port)
            }
        case .removed(let instance): self.init(event: "removed", instance: instance)
        case .allForNow: self.init(event: "allForNow")
        case .failed(let error): self.init(event: "failed", cause: "\(error)")
        }
    }

    func print() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(self) else { return }
        line.append(UInt8(ascii: "\n"))
        FileHandle.standardOutput.write(line)
    }
}
