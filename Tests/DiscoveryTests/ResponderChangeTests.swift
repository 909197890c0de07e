import Testing

@testable import Discovery

/// Responders that start and stop, on hosts of a lab.
@Suite(
    "Directories live through changes of the responder", .enabled(if: Lab.isPossible, Lab.excuse),
    .timeLimit(.minutes(3)))
struct ResponderChangeTests {
    @Test("a service that avahi-daemon announced is announced again after its restart, and found again")
    func publisherRestart() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "all") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "daemon")
            try await study.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated", "abc")
            try await lab.script(["avahi", lab.name, "kitchen", "stop"])
            try await study.hears("removed", "abc")
            try await lab.script(["avahi", lab.name, "kitchen", "start"])
            try await study.hears("updated", "abc")
        }
    }

    @Test("a browser that uses avahi-daemon continues after its crash, and gets only the changes")
    func browserRestart() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "all") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "daemon")
            try await kitchen.publish("abc")
            try await kitchen.publish("def")
            try await study.tell("browse _waft._tcp")
            try await study.hears("updated", all: ["abc", "def"])
            try await lab.script(["avahi", lab.name, "study", "kill"])
            try await study.hears("failed")
            try await kitchen.withdraw("abc")
            try await lab.script(["avahi", lab.name, "study", "start"])
            try await study.hears("removed", "abc")
            try await kitchen.publish("ghi")
            try await study.hears("updated", "ghi")
        }
    }

    @Test("the system bus itself can be restarted")
    func busRestart() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "all") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "daemon")
            try await study.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated", "abc")
            try await lab.script(["avahi", lab.name, "kitchen", "stop"])
            try await lab.script(["dbus", lab.name, "kitchen", "stop"])
            try await study.hears("removed", "abc")
            try await lab.script(["avahi", lab.name, "kitchen", "start"])
            try await study.hears("updated", "abc")
        }
    }

    @Test("without avahi-daemon the directory for it refuses to publish, and finds things when it comes")
    func daemonMissing() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "kitchen", options: ["--dbus", "study"]) { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "daemon")
            try await study.tell("publish abc _waft._tcp abc 4711")
            try await study.hears("error")
            try await study.tell("browse _waft._tcp")
            try await study.hears("failed")
            try await kitchen.publish("abc")
            try await lab.script(["avahi", lab.name, "study", "start"])
            try await study.hears("updated", "abc")
        }
    }

    @Test("an avahi-daemon that lets no program announce is an error of the announcement, and finding goes on")
    func daemonRefuses() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "all") { lab in
            // The section of publishing is the last of the file.
            let restart = """
                cd /run/waft-lab && echo disable-user-service-publishing=yes >>avahi-daemon.conf
                kill $(cat /run/avahi-daemon/pid) && while avahi-daemon --check; do sleep 0.05; done
                avahi-daemon --daemonize --syslog --no-chroot --no-rlimits --file $PWD/avahi-daemon.conf
                """
            try await lab.run("study", "sh", "-c", restart)
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "daemon")
            try await study.tell("browse _waft._tcp")
            try await study.hears("allForNow")
            try await study.tell("publish abc _waft._tcp abc 4711")
            let refusal = try await study.hears("error") { $0.key == "abc" }
            #expect(refusal.cause?.contains("ermitted") == true, "\(refusal)")
            try await kitchen.publish("def")
            try await study.hears("updated", "def")
        }
    }

    @Test("a program that dies is withdrawn by avahi-daemon")
    func publisherDies() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "kitchen") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "embedded")
            try await study.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated", "abc")
            await kitchen.end()
            try await study.hears("removed", "abc")
        }
    }

    /// The embedded responder's host names have this prefix; avahi-daemon uses the host's name.
    private func isEmbedded(_ report: Probe.Report) -> Bool { report.hostName?.hasPrefix("waft-") == true }

    @Test("when avahi-daemon comes, everything moves over to it", arguments: ["", "kitchen"])
    func daemonComes(dbus: String) async throws {
        let options = dbus.isEmpty ? [] : ["--dbus", dbus]
        try await Lab.with(hosts: "kitchen,study", avahi: "none", options: options) { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "automatic")
            let study = try Probe(lab, "study", "--via", "embedded")
            try await study.tell("browse _waft._tcp")
            try await kitchen.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated") { $0.instance == "abc" && isEmbedded($0) }
            try await lab.script(["avahi", lab.name, "kitchen", "start"])
            try await study.hears("updated") { $0.instance == "abc" && $0.hostName == "kitchen.local" }
            try await kitchen.tell("name abc")
            #expect(try await kitchen.hears("name").instance == "abc")
            // The browse has moved too.
            try await study.publish("def")
            try await kitchen.hears("updated", "def")
            try await kitchen.withdraw("abc")
            try await study.hears("removed", "abc")
        }
    }

    @Test("when avahi-daemon goes and stays away, everything moves to a responder of its own")
    func daemonGoes() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "kitchen") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "automatic")
            let study = try Probe(lab, "study", "--via", "embedded")
            try await study.tell("browse _waft._tcp")
            try await kitchen.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated") { $0.instance == "abc" && $0.hostName == "kitchen.local" }
            try await lab.script(["avahi", lab.name, "kitchen", "kill"])
            try await study.hears("updated") { $0.instance == "abc" && isEmbedded($0) }
            try await study.publish("def")
            try await kitchen.hears("updated", "def")
        }
    }

    @Test("a responder of one's own does not disturb an avahi-daemon that starts beside it")
    func peacefulNeighbours() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "embedded")
            try await kitchen.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await lab.script(["avahi", lab.name, "kitchen", "start"])
            let answer = try await lab.run(
                "kitchen",
                "dbus-send",
                "--system",
                "--print-reply",
                "--dest=org.freedesktop.Avahi",
                "/",
                "org.freedesktop.Avahi.Server.GetHostName"
            )
            #expect(answer.contains("\"kitchen\""))
            let neighbour = try Probe(lab, "kitchen", "--via", "daemon")
            let study = try Probe(lab, "study", "--via", "embedded")
            for probe in [neighbour, study] { try await probe.tell("browse _waft._tcp") }
            try await neighbour.publish("def")
            try await kitchen.hears("updated", "def")
            try await neighbour.hears("updated", "abc")
            try await study.hears("updated", all: ["abc", "def"])
        }
    }

    @Test("without avahi-daemon a browse asks at random times too, as another program here may ask in step with it")
    func asking() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "none") { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "embedded")
            let study = try Probe(lab, "study", "--via", "embedded")
            let listener = try Probe(lab, "kitchen")
            let name = try await kitchen.publish("abc")
            try await study.tell("browse _waft._tcp")
            try await study.hears("updated", name)
            try await listener.tell("join 5353")
            try await listener.hears("joined")
            // From here on Avahi's own questions say that the answer is known.
            let question = LinkQuestion.message("_waft._tcp")
            let heard = try await listener.hears("heard") { $0.key == String(decoding: question, as: UTF8.self) }
            #expect(heard.addresses?.first?.port == 5_353)
        }
    }

    @Test("an avahi-daemon that hangs is not waited for")
    func daemonHangs() async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: "kitchen") { lab in
            try await lab.run("kitchen", "sh", "-c", "kill -STOP $(cat /run/avahi-daemon/pid)")
            let kitchen = try Probe(lab, "kitchen", "--via", "automatic")
            let study = try Probe(lab, "study", "--via", "embedded")
            try await study.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            #expect(isEmbedded(try await study.hears("updated", "abc")))
        }
    }

    @Test("a cable that is pulled out and put back costs nothing but the time between", arguments: ["all", "none"])
    func cable(avahi: String) async throws {
        try await Lab.with(hosts: "kitchen,study", avahi: avahi) { lab in
            let kitchen = try Probe(lab, "kitchen", "--via", "automatic")
            let study = try Probe(lab, "study", "--via", "automatic")
            try await study.tell("browse _waft._tcp")
            try await kitchen.publish("abc")
            try await study.hears("updated", "abc")
            try await lab.script(["link", lab.name, "kitchen", "down"])
            try await lab.script(["link", lab.name, "kitchen", "up"])
            try await kitchen.publish("def")
            try await study.hears("updated", "def")
            try await kitchen.withdraw("abc")
            try await study.hears("removed", "abc")
        }
    }
}
