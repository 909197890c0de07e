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
                        try await browser.wait(for: "study offers", in: "#asking")
                        receiver.signal(.kill)
                        try await browser.wait("!document.querySelector('#trouble').hidden")
                        // The offer went with its receiver.
                        try await browser.wait("document.querySelector('#asking').hidden")
                        #expect(try await browser.text("#seen") == "")
                    }
                    try await browser.wait(for: "start waftd", in: "#trouble")
                    try await desk.host.withReceiver(Programs.waftd, []) { second in
                        try await browser.wait("document.querySelector('#trouble').hidden")
                        try await browser.wait(for: "Visible to everyone", in: "#seen")
                        try await study.offering(["a.txt"], to: DeskStage.kitchen(second), in: stage.folder) {
                            sending in
                            try await browser.wait(for: "study offers", in: "#asking")
                            try await browser.click("#asking a")
                            try await desk.click("accept", in: "main .offer")
                            try await sending.transcript.says("stored as a.txt")
                        }
                    }
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
