import Endpoints
import Foundation
import Lines
import Settings
import SystemCalls

/// The units of the service: their only text, also for packages.
struct ServiceUnits {
    static let service = "waftd.service"
    static let socket = "waftd.socket"

    let scope: ServiceScope
    /// Absolute path of `waftd`.
    let daemon: String
    /// `WAFT_HOME` of a user's service; nil for the usual folders.
    var home: String?
    /// The port of the socket; nil without a socket.
    var port: UInt16? = Endpoints.defaultPort

    var all: [UnitLine] {
        let service = UnitLine(unit: Self.service, unitText: serviceText)
        return port.map { [service, UnitLine(unit: Self.socket, unitText: socketText($0))] } ?? [service]
    }

    /// The lines that a user's folders and port add to units that are installed for everybody.
    ///
    /// - Parameters:
    ///   - home: `WAFT_HOME`; nil for the usual folders.
    ///   - port: nil for a receiver without a socket.
    /// - Throws: `WaftError` without a port: installed units have a socket.
    static func dropIns(home: String?, port: UInt16?) throws(WaftError) -> [UnitLine] {
        guard let port else {
            throw WaftError(
                .usage, "the port is 0, and the installed units receive on a port of their own",
                hint: "waft config unset port, or set another one")
        }
        let service = home.map { UnitLine(unit: dropInNames[0], unitText: "[Service]\n\(homeText($0))") }
        // The empty line takes away the port of the unit.
        let socket = UnitLine(unit: dropInNames[1], unitText: "[Socket]\nListenStream=\nListenStream=\(port)\n")
        return [service, port == Endpoints.defaultPort ? nil : socket].compactMap(\.self)
    }

    /// All names that a drop-in can have, below the folder of the units.
    static let dropInNames = [service, socket].map { $0 + ".d/waft.conf" }

    private var serviceText: String {
        let sockets = port == nil ? "" : "Sockets=\(Self.socket)\n"
        let also = port == nil ? "" : "Also=\(Self.socket)\n"
        return """
            [Unit]
            Description=Waft, receives files from machines of the local network
            Documentation=man:waftd(1)
            \(condition)

            [Service]
            Type=notify
            ExecStart=\(Self.quoted(daemon))
            ExecReload=kill -HUP $MAINPID
            \(sockets)Restart=on-failure
            RestartSec=1
            # A wrong setting, or a receiver that runs already: starting again does not help.
            RestartPreventExitStatus=64
            WatchdogSec=60
            TimeoutStopSec=10
            # waftd ends its handlers itself.
            KillMode=mixed
            UMask=0077
            LimitCORE=0
            \(scope == .system ? Self.systemText : userText)
            [Install]
            WantedBy=\(scope == .system ? "multi-user" : "default").target
            \(also)
            """
    }

    /// Units that outlive their program start nothing, and nothing fails. No quotes: a condition takes the rest of its line.
    private var condition: String { "ConditionFileIsExecutable=\(daemon.replacing(scalar: "%", with: "%%"))" }

    private var userText: String { home.map(Self.homeText) ?? "" }

    private static func homeText(_ home: String) -> String { "Environment=\(quoted("WAFT_HOME=\(home)"))\n" }

    private func socketText(_ port: UInt16) -> String {
        """
        [Unit]
        Description=The port of Waft, on which connections wait while waftd restarts
        Documentation=man:waftd(1)
        \(condition)

        [Socket]
        ListenStream=\(port)
        BindIPv6Only=both
        Backlog=1024
        FileDescriptorName=waft

        # waftd stays when nothing happens: other machines see this one only while it runs.
        [Install]
        WantedBy=sockets.target

        """
    }

    private static let systemText = """

        User=waft
        Group=waft
        Environment=WAFT_HOME=/var/lib/waft
        StateDirectory=waft
        StateDirectoryMode=0700

        # What follows holds for handlers too. A drop-in with ReadWritePaths= lets one write elsewhere, and one with
        # IPAddressAllow= lets it reach other networks.
        ProtectSystem=strict
        ProtectHome=yes
        PrivateTmp=yes
        PrivateDevices=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        RemoveIPC=yes
        NoNewPrivileges=yes
        CapabilityBoundingSet=
        LockPersonality=yes
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        IPAddressDeny=any
        IPAddressAllow=localhost link-local multicast 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7
        SystemCallArchitectures=native
        SystemCallFilter=@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
        SystemCallFilter=~@privileged
        SystemCallErrorNumber=EPERM

        """

    /// A word of a unit, in quotes if it needs them (systemd.syntax(7)).
    static func quoted(_ text: String) -> String {
        let escaped = text.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"")
            .replacing(scalar: "%", with: "%%").replacing(scalar: "$", with: "$$")
        let isPlain = escaped == text && !text.contains { $0 == " " || $0 == "\t" || $0 == "'" || $0 == ";" }
        return isPlain ? text : "\"\(escaped)\""
    }
}

extension ServiceUnits {
    /// The units for the programs of this installation.
    /// - Parameter waft: of the user, for the folders and the port.
    static func own(_ scope: ServiceScope, _ waft: Waft?) throws(WaftError) -> ServiceUnits {
        let daemon = try OwnPrograms.daemon()
        guard scope == .user else {
            for place in ["/home/", "/root/", "/run/", "/tmp/", "/var/tmp/"] where daemon.hasPrefix(place) {
                throw WaftError(
                    .usage,
                    "a service of the machine sees nothing in \(place.dropLast()): install Waft elsewhere first",
                    hint: "Scripts/install --prefix /usr/local")
            }
            return ServiceUnits(scope: scope, daemon: daemon)
        }
        let (home, port) = homeAndPort(waft)
        return ServiceUnits(scope: scope, daemon: daemon, home: home, port: port)
    }

    /// The drop-ins that make installed units fit the user's folders and port.
    static func dropIns(_ waft: Waft?) throws(WaftError) -> [UnitLine] {
        let (home, port) = homeAndPort(waft)
        return try dropIns(home: home, port: port)
    }

    private static func homeAndPort(_ waft: Waft?) -> (home: String?, port: UInt16?) {
        let port = waft?.settings.port ?? Endpoints.defaultPort
        return (Home.root(ProcessInfo.processInfo.environment), port == 0 ? nil : port)
    }
}
