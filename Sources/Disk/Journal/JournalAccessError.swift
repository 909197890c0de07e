import GRDB
import Sharing

/// An error of opening, reading or writing the journal, before it is converted to the error of a port.
struct JournalAccessError: Error {
    /// `noRoom` or `storage`.
    let code: TransferError.Code
    /// One line, lower case: the failed action and the reason.
    let line: String
    /// Whether the journal itself is damaged. False for trouble with the disk, another process or a newer version.
    let isDamage: Bool

    init(_ line: String, code: TransferError.Code = .storage, isDamage: Bool = false) {
        self.code = code
        self.line = line
        self.isDamage = isDamage
    }

    /// - Parameters:
    ///   - doing: the failed action: `could not …`.
    ///   - file: the journal.
    ///   - isOpening: whether the journal is being opened. Then failing SQL counts as damage: the tables are not as
    ///     expected.
    init(_ error: any Error, doing: String, file: JournalFile, isOpening: Bool = false) {
        switch error {
        case let trouble as JournalAccessError: self = trouble
        case let row as UnreadableRowError: self.init("\(doing): \(row.line) in \(file.path)")
        case let error as DatabaseError:
            let (code, why) = Self.cause(error, file: file)
            self.init("\(doing): \(why)", code: code, isDamage: Self.isDamage(error, isOpening))
        default: self.init("\(doing): \(Self.oneLine("\(error)"))")
        }
    }

    private static func cause(_ error: DatabaseError, file: JournalFile) -> (TransferError.Code, String) {
        let message = oneLine(error.message ?? "no reason was given")
        switch error.resultCode {
        case .SQLITE_FULL: return (.noRoom, "the disk is full (\(file.path))")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            return (.storage, "\(file.path) is damaged (\(message)): \(file.remedy)")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return (.storage, "another program keeps \(file.path) locked")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY:
            return (.storage, "\(file.path) cannot be opened, or not for writing (\(message))")
        case .SQLITE_IOERR:
            return (
                .storage, "the disk failed under \(file.path) (\(message), code \(error.extendedResultCode.rawValue))"
            )
        default:
            return (.storage, "\(message), code \(error.extendedResultCode.rawValue) (\(file.path))")
        }
    }

    private static func isDamage(_ error: DatabaseError, _ isOpening: Bool) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        case .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_FORMAT, .SQLITE_TOOBIG:
            isOpening
        default: false
        }
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    var journalError: JournalError { JournalError(line) }
    var transferError: TransferError { TransferError(code, line) }
}

/// A row with damaged values: the file was damaged, or changed by another program.
struct UnreadableRowError: Error {
    /// Names the row and the problem.
    let line: String
}
