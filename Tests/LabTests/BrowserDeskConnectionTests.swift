import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The connections between the window, the desk and the receiver.
    @Suite("The desk's connections")
    struct Connections {
        @Test("a receiver that is killed is missed in the window, and one that comes is there again by itself")
        func receiver() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("a.txt", Data("a".utf8))
                try await stage.withDesk { desk, receiver in
                    try await study.offering(["a.txt"], to: DeskStage.kitchen(receiver), in: stage.folder) { _ in
                        try await browser.wait(for: ") offers", in: "#question")
                        receiver.signal(.kill)
                        try await browser.wait("document.querySelector('.starts')?.checkVisibility()")
                        // The offer went with its receiver.
                        try await browser.wait("!document.querySelector('#question').open")
                        #expect(try await browser.text("#seen") == "")
                    }
                    try await browser.wait(for: "does not receive now", in: "main .starts")
                    try await desk.host.withReceiver(Programs.waftd, []) { second in
                        try await browser.wait("document.querySelector('.starts').hidden")
                        try await browser.wait(for: "Visible to everyone", in: "#seen")
                        try await study.offering(["a.txt"], to: DeskStage.kitchen(second), in: stage.folder) {
                            sending in
                            try await browser.wait(for: ") offers", in: "#question")
                            try await desk.answerQuestion("accept")
                            try await sending.transcript.says("stored as a.txt")
                        }
                    }
                }
            }
        }

        @Test("a transfer from another machine is over in the window without a receiver, and goes on when it goes on")
        func goesOn() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                let contents = BrowserStage.noise(20 << 20)
                try stage.write("large.bin", contents)
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await desk.show("transfers")
                    try await stage.lab.call(["rate", stage.lab.name, "study", "10mbit"])
                    try await study.offering(["large.bin"], to: DeskStage.kitchen(receiver), in: stage.folder) {
                        sending in
                        let bar = "document.querySelector('main .transfer progress')"
                        try await browser.wait("\(bar)?.value > 0.1")
                        // The call that watches the receiver is cancelled. The window makes it again.
                        let _: Bool = try await browser.script(
                            """
                            const made = performance.getEntriesByType("resource").find(e => e.name.includes("/receiver?"));
                            const query = new URL(made.name).searchParams;
                            fetch(`/windows/${query.get("window")}/calls/${query.get("call")}`,
                                {method: "DELETE", headers: {"waft-token": sessionStorage.token}});
                            return true;
                            """)
                        try await browser.wait(for: "cannot be reached", in: "main .transfer")
                        try await browser.wait("\(bar).checkVisibility()")
                        #expect(try await !browser.text("main .transfer").contains("cannot be reached"))
                        try await stage.lab.call(["rate", stage.lab.name, "study", "off"])
                        try await browser.wait("document.querySelector('main .transfer.good') !== null")
                        try await sending.transcript.says("stored as large.bin")
                    }
                    #expect(FileManager.default.contents(atPath: receiver.inbox + "/large.bin") == contents)
                }
            }
        }

        @Test("the window says that its desk has ended")
        func desk() async throws {
            try await DeskStage.take { stage in
                try await stage.withDesk { desk, _ in
                    kill(desk.running.process.value, SIGINT)
                    try await stage.browser.wait(for: "desk cannot be reached", in: "#trouble")
                }
            }
        }
    }
}
