// swift-tools-version: 6.2
import PackageDescription

/// One array of settings for every Swift target: Swift 6 mode (the tools version's default), explicit existentials,
/// imports that stay inside the file that wrote them, and no warning left standing.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let concurrencyHelpers = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")

/// The storeys of the house, from the top to the bottom: imports go down or stay (`Sources/README.md`).
enum Storey: String {
    case faces = "Faces"
    case app = "App"
    case handling = "Handling"
    case dialects = "Dialects"
    case network = "Network"
    case disk = "Disk"
    case domain = "Domain"
    case content = "Content"
    case platform = "Platform"
}

/// A module of Waft on its storey and, when `tests` says so, its mirror in `Tests`.
///
/// - Parameters:
///   - data: a folder of the module that `Scripts/generate-types` reads, not the compiler.
///   - vectors: a folder of the tests that they read by its path, not as resources.
///   - embedded: files of the module that become a part of its code.
func module(
    _ storey: Storey, _ name: String, _ dependencies: [Target.Dependency],
    tests: [Target.Dependency]? = [

        ],
    data: String? = nil, vectors: String? = nil, embedded: [String] = []
) -> [Target] {
    var targets: [Target] = [
        .target(
            name: name, dependencies: dependencies, path: "Sources/\(storey.rawValue)/\(name)",
            exclude: data.map { [$0] } ?? [], resources: embedded.map { .embedInCode($0) }, swiftSettings: strict)
    ]
    if let tests {
        targets.append(
            .testTarget(
                name: name + "Tests",
                dependencies: [.byName(name: name), "TestSupport"] + dependencies + tests,
                exclude: vectors.map { [$0] } ?? [],
                swiftSettings: strict
            )
        )
    }
    return targets
}

let package = Package(
    name: "waft",
    products: [
        .executable(name: "waft", targets: ["waft"]),
        .executable(name: "wafthook", targets: ["wafthook"]),
        // For Swift programs of others.
        .library(name: "WaftKit", targets: ["WaftKit"]),
    ],
    dependencies: [
        // Event loops, channels and the HTTP/1.1 codec: everything that crosses the network.
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        // The verbs and flags of the command line.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // The queues of the executors: SwiftNIO brings it along anyway.
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        // One logging interface for every module; the programs choose where it goes.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // Reads config.yaml. Not swift-configuration: it has no nested rules, and passes over keys and values that it
        // does not understand, where the user should hear of them with the line.
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        // The journal: SQLite with migrations, prepared statements and a reader beside the writer.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        // `Programs` starts programs by it: no shell, own process group, pipes that do not block.
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        // The file paths and descriptors that swift-subprocess takes.
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        // System libraries: a module map and one header each.
        .systemLibrary(
            name: "COpenSSL", path: "Sources/Platform/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]
        ),
        .systemLibrary(
            name: "CAvahi", path: "Sources/Platform/CAvahi",
            providers: [.apt(["libavahi-client-dev", "libavahi-core-dev"])]),
        .systemLibrary(
            name: "CDBus", path: "Sources/Platform/CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CXXHash", path: "Sources/Platform/CXXHash", providers: [.apt(["libxxhash-dev"])]),
        // Makes the QR codes of addresses that people scan.
        .systemLibrary(
            name: "CQRencode", path: "Sources/Platform/CQRencode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"])]),
        // Its header alone: CArchiveShims loads it.
        .systemLibrary(name: "CArchive", path: "Sources/Platform/CArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CZlib", path: "Sources/Platform/CZlib", providers: [.apt(["zlib1g-dev"])]),
        // Macros and system calls that Swift cannot see; no logic.
        .target(name: "COpenSSLShims", dependencies: ["COpenSSL"], path: "Sources/Platform/COpenSSLShims"),
        .target(name: "CArchiveShims", dependencies: ["CArchive"], path: "Sources/Platform/CArchiveShims"),
        .target(name: "CGioShims", path: "Sources/Platform/CGioShims"),
        .target(
            name: "CLinuxShims", path: "Sources/Platform/CLinuxShims", linkerSettings: [.linkedLibrary("resolv")]),
        .executableTarget(
            name: "waft", dependencies: ["CommandLine"], path: "Sources/Faces/waft", swiftSettings: strict),
        .executableTarget(
            name: "wafthook", dependencies: ["HookSandbox"], path: "Sources/Handling/wafthook", swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["Sharing", "UniformTypes", "ContentCheck", "Digests"],
            path: "Sources/Domain/TestSupport",
            swiftSettings: strict),
        // What DiscoveryTests run on the hosts of a lab: publishes and browses as told.
        .executableTarget(
            name: "discovery-probe", dependencies: ["Discovery", logging], path: "Tests/DiscoveryProbe",
            swiftSettings: strict),
        // What HookSandboxTests start in the sandbox.
        .executableTarget(
            name: "sandbox-probe", dependencies: ["HookSandbox"], path: "Tests/SandboxProbe", swiftSettings: strict),
        // The program that Scripts/test.d/lock runs beside a real logind.
        .executableTarget(
            name: "lock-probe", dependencies: ["Desktop", logging], path: "Tests/LockProbe", swiftSettings: strict),
        // What stops a receiver after any system call that changes the disk, for LabTests and Scripts/soak.
        .executableTarget(name: "disk-steps", path: "Tests/DiskSteps"),
        // What JournalTests kill while it writes.
        .executableTarget(
            name: "journal-probe", dependencies: ["Journal", "Sharing", "UniformTypes", "ContentCheck", "Digests"],
            path: "Tests/JournalProbe", swiftSettings: strict),
        // A dialect that only tests speak: it shows what a new one needs.
        .target(
            name: "ToyDialect", dependencies: ["Contacts", "Endpoints", "Settings", "Sharing"],
            path: "Tests/ToyDialect",
            swiftSettings: strict),
        // What stands in for logind, on a bus of its own.
        .target(
            name: "FakeLogind", dependencies: ["CDBus", "TestSupport"], path: "Tests/FakeLogind", swiftSettings: strict),
        .testTarget(
            name: "LabTests",
            dependencies: ["Age", "FakeLogind", "Protection", "Secrets", "TestSupport", subprocess, systemPackage],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        // A program as others write it over WaftKit. WaftKitTests run it.
        .executableTarget(
            name: "send-and-answer", dependencies: ["WaftKit"], path: "Scripts/examples",
            exclude: ["README.md", "append-notes", "photos-by-date", "print-pdf", "todolist"],
            sources: ["send-and-answer.swift"], swiftSettings: strict),
        // Programs that others wrote, installed by Scripts/setup-interop.
        .testTarget(
            name: "InteropTests", dependencies: [subprocess, systemPackage], swiftSettings: strict),
    ]
        + module(.content, "UniformTypes", [], data: "Data", vectors: "Vectors")
        + module(.platform, "SystemCalls", [], tests: nil)
        + module(
            .platform, "Executors",
            [
                "CLinuxShims", deque,
            ])
        + module(.platform, "Streams", [])
        + module(.platform, "Secrets", ["CLinuxShims", "COpenSSL", "COpenSSLShims"])
        + module(.platform, "Programs", ["CLinuxShims", "Streams", subprocess, systemPackage])
        + module(.platform, "ServiceManager", ["SystemCalls"])
        + module(.platform, "DBusClient", ["CDBus", "SystemCalls", "Executors"], tests: ["FakeLogind"])
        + module(.content, "ContentCheck", ["UniformTypes"], data: "Data", vectors: "Vectors")
        + module(
            .handling, "HandlerCatalog",
            ["SystemCalls", "Executors", "Streams", "UniformTypes", "PropertyLists", "Sharing", "CLinuxShims", logging])
        + module(.handling, "HookSandbox", ["SystemCalls", "CLinuxShims"], tests: ["sandbox-probe"])
        + module(.domain, "Contacts", ["SystemCalls", "Streams", "UniformTypes", "Sharing", "Digests"])
        + module(
            .handling, "Desktop",
            [
                "DBusClient", "SystemCalls", "Executors", "CLinuxShims", "CGioShims", "COpenSSL", "Secrets", "Sharing",
                "UniformTypes", "ContentCheck", "Programs", logging,
            ],
            tests: ["CDBus", "FakeLogind", "Digests"])
        + module(.domain, "Pairing", ["COpenSSL", "Secrets", "Sharing"])
        + module(.domain, "Groups", ["Sharing", "Digests"])
        + module(.content, "Digests", ["CXXHash", "COpenSSL", "Executors"], vectors: "Vectors")
        + module(.content, "Age", ["COpenSSL", "COpenSSLShims", "Secrets"], vectors: "Vectors")
        + module(.content, "PropertyLists", [])
        + module(.content, "QRCodes", ["CQRencode"])
        + module(.content, "Previews", ["CArchive", "CArchiveShims", "CLinuxShims", "UniformTypes", "ContentCheck"])
        + module(.domain, "Sharing", ["Streams", "Executors", "Secrets", "UniformTypes", "ContentCheck", "Digests"])
        + module(
            .network, "SecureTransport",
            [
                "SystemCalls", "CLinuxShims", "COpenSSL", "COpenSSLShims", "Sharing", nioCore, nioPosix,
                concurrencyHelpers, logging,
            ],
            tests: [nioEmbedded]
        )
        + module(.network, "Discovery", ["CAvahi", "CLinuxShims", "Executors", "Streams", logging])
        + module(
            .disk, "Inbox",
            [
                "SystemCalls", "Executors", "Secrets", "Age", "Protection", "Sharing", "UniformTypes", "ContentCheck",
                "Digests", "CLinuxShims",
            ])
        + module(
            .disk, "ItemSources",
            [
                "SystemCalls", "Sharing", "UniformTypes", "ContentCheck", "Digests", "CLinuxShims", "CArchive",
                "CArchiveShims",
            ],
            tests: ["Executors"])
        + module(
            .disk, "Protection", ["SystemCalls", "Streams", "Secrets", "Age", "Sharing"])
        + module(
            .disk, "Outbox",
            ["SystemCalls", "Streams", "Sharing", "UniformTypes", "Digests", "ItemSources", "CLinuxShims", logging])
        + module(
            .network, "HTTPChannel", ["SecureTransport", "Sharing", nioCore, nioPosix, nioHTTP1, concurrencyHelpers],
            tests: ["Executors", logging, nioEmbedded])
        + module(
            .network, "WebPages",
            [
                "HTTPChannel", "Secrets", "Sharing", "SecureTransport", nioCore, nioHTTP1, logging,
            ], tests: nil, embedded: ["Look"])
        + module(
            .dialects, "WaftDialect",
            [
                "UniformTypes", "ContentCheck", "Sharing", "Pairing", "Groups", "Digests", "Executors", "Streams",
                "HTTPChannel", "SecureTransport", nioCore, nioHTTP1, deque,
            ],
            tests: [nioPosix, logging], vectors: "Vectors"
        )
        + module(
            .dialects, "LocalSendDialect",
            ["Streams", "UniformTypes", "Sharing", "Digests", "Secrets", "HTTPChannel", nioCore, nioHTTP1],
            tests: ["Executors", nioPosix]
        )
        + module(
            .dialects, "WebDialect",
            ["CZlib", "Streams", "UniformTypes", "Sharing", "Digests", "HTTPChannel", "WebPages", nioCore, nioHTTP1],
            tests: ["Executors", "ItemSources", nioPosix],
            embedded: ["Page"]
        )
        + module(
            .dialects, "AirDropDialect",
            [
                "CArchive", "CArchiveShims", "CZlib", "UniformTypes", "PropertyLists", "Sharing", "Digests",
                "HTTPChannel", nioCore, nioHTTP1,
            ],
            tests: ["ContentCheck", "Executors", nioPosix], vectors: "Vectors"
        )
        + module(
            .handling, "Handlers",
            [
                "UniformTypes", "ContentCheck", "Digests", "Sharing", "HandlerCatalog", "HookSandbox", "Executors",
                "Streams",
                "CLinuxShims", "Programs", logging, systemPackage,
            ],
            tests: ["sandbox-probe"])
        + module(
            .disk, "Journal", ["SystemCalls", "UniformTypes", "ContentCheck", "Digests", "Sharing", grdb],
            tests: ["journal-probe", "CLinuxShims"])
        + module(
            .app, "Control",
            [
                "Lines", "SystemCalls", "CLinuxShims", "HookSandbox", "Secrets", "Sharing", "UniformTypes", nioCore,
                nioPosix, concurrencyHelpers, logging,
            ])
        + module(
            .app, "Settings",
            [
                "SystemCalls", "Sharing", "UniformTypes", "SecureTransport", "Discovery", "AirDropDialect",
                "LocalSendDialect", "WebDialect", "HandlerCatalog", "HookSandbox", "Handlers", "Journal", "Contacts",
                "Inbox", "Outbox", yams, logging,
            ],
            tests: ["Endpoints"])
        + module(
            .app, "Endpoints",
            [
                "Sharing", "UniformTypes", "SecureTransport", "Discovery", "HTTPChannel", "WaftDialect",
                "AirDropDialect", "LocalSendDialect", "WebDialect", "Contacts", "Groups", "Pairing", "Executors",
                "Settings", "ServiceManager", "Streams", "Programs", "SystemCalls", nioCore, nioPosix, logging,
            ],
            tests: ["Digests", nioHTTP1])
        + module(
            .app, "Sending",
            [
                "Endpoints", "Contacts", "Control", "Lines", "Executors", "HandlerCatalog", "Handlers",
                "HookSandbox", "ItemSources", "Outbox", "Pairing", "Secrets", "SecureTransport", "Settings",
                "Sharing", "Streams", "SystemCalls", "UniformTypes", "Desktop", nioCore, nioPosix, logging,
            ],
            tests: ["Digests", "ContentCheck"])
        + module(
            .app, "Receiving",
            [
                "Endpoints", "Contacts", "ContentCheck", "Control", "Lines", "Digests", "Executors",
                "HandlerCatalog", "Handlers", "HookSandbox", "Inbox", "Journal", "Outbox", "Pairing",
                "SecureTransport", "Sending", "Settings", "Sharing", "Streams", "SystemCalls", "UniformTypes",
                "Desktop", "DBusClient", "ServiceManager", "Protection", "Secrets", "Age", "ItemSources", nioCore,
                nioPosix, logging,
            ],
            tests: ["HTTPChannel", "ToyDialect", "WaftDialect"])
        + module(
            .faces, "Desk",
            [
                "Lines", "Operations", "HTTPChannel", "Sharing", "SystemCalls", "UniformTypes", "WebPages",
                "QRCodes", nioCore, nioHTTP1, logging,
            ],
            tests: ["Settings"],
            embedded: ["Page"])
        + module(
            .app, "Lines",
            [
                "Outbox", "Sharing", "Contacts", "ContentCheck", "Digests", "UniformTypes",
            ], tests: nil)
        + module(
            .app, "Operations",
            [
                "Lines", "Control", "Endpoints", "Settings", "Contacts", "Journal", "Outbox", "Sharing", "Age",
                "CLinuxShims", "ContentCheck", "DBusClient", "Desktop", "Digests", "Discovery", "Executors",
                "HandlerCatalog", "Handlers", "HookSandbox", "Inbox", "ItemSources", "Pairing", "Previews",
                "PropertyLists", "Protection", "QRCodes", "Receiving", "Secrets", "Sending", "ServiceManager",
                "Streams", "SystemCalls", "UniformTypes", "Programs", logging, nioPosix,
            ],
            tests: [logging])
        + module(
            .faces, "CommandLine",
            [
                "Desk", "Lines", "Operations", "Sharing", "Settings", "SystemCalls", "Executors", "Secrets",
                argumentParser, logging,
            ],
            tests: [
                "Contacts", "ContentCheck", "Control", "Digests", "Endpoints", "HandlerCatalog", "HookSandbox", "Inbox",
                "Outbox", "Receiving", "Sending", "UniformTypes",
            ]
        )
        + module(
            .faces, "WaftKit",
            [
                "Lines", "Operations", "Sharing",
            ],
            tests: ["Settings", "send-and-answer", logging])
)
