import Endpoints
import Foundation
import SystemCalls

/// The units of the service: their only text, also for packages.
struct ServiceUnits {
    struct Unit: Equatable {
        let name: String
        let text: String
    }

    static let service = "waftd.service"
    static let socket = "waftd.socket"

    let scope: ServiceScope
    /// Absolute path of `waftd`.
    let daemon: String
    /// `WAFT_HOME` of a user's service; nil for the usual folders.
    var home: String?
    /// The port of the socket; nil without a socket.
    var port: UInt16? = Endpoints.defaultPort

    var all: [Unit] {
        let service = Unit(name: Self.service, text: serviceText)
        return port.map { [service, Unit(name: Self.socket, text: socketText($0))] } ?? [service]
    }

    private var serviceText: String {
        let sockets = port == nil ? "" : "Sockets=\(Self.socket)\n"
        let also = port == nil ? "" : "Also=\(Self.socket)\n"
        return """
            [Unit]
            Description=Waft, receives files from machines of the local network
            Documentation=man:waftd(1)

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

    private var userText: String { home.map { "Environment=\(Self.quoted("WAFT_HOME=\($0)"))\n" } ?? "" }

    private func socketText(_ port: UInt16) -> String {
        """
        [Unit]
        Description=The port of Waft, on which connections wait while waftd restarts
        Documentation=man:waftd(1)

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
