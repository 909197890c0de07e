import Desktop
import Foundation
import Logging

// Prints the events of the machine's lock, a line each, until it is killed. While it runs, it delays sleep.
let watch = LockWatch(logger: Logger(label: "lock-probe"))
await watch.delaySleep(true)
say(await watch.isDelayingSleep ? "sleep is delayed" : "sleep is not delayed")
await watch.run { event in say("\(event)") }

/// Not by `print`, which keeps lines back when its output is a file.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
