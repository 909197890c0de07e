import Foundation

/// Runs a command of the shell and gives what it printed, errors included or not.
func shell(_ command: String, input: String = "", withErrors: Bool = false) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    let stdin = Pipe()
    let stdout = Pipe()
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = withErrors ? stdout : FileHandle.nullDevice
    try process.run()
    stdin.fileHandleForWriting.write(Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let data = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
}

/// The same beside other tasks, on a thread of its own.
func shellBeside(_ command: String, input: String = "", withErrors: Bool = false) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result { try shell(command, input: input, withErrors: withErrors) })
        }
    }
}
