import Executors
import Glibc

/// A terminal in another mode than its shell's, until `end`. Ctrl-Z and Ctrl-\\ do nothing: they would leave it like this.
struct TerminalMode {
    private let terminal: Int32
    private let before: termios

    /// Nil if there is no terminal, or this process is in its background: the kernel stops it when it changes the terminal.
    /// - Parameter flags: local modes that are switched off: `ECHO` shows typed characters, `ICANON` keeps them until
    ///   the line ends.
    init?(without flags: Int32) {
        terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        var attributes = termios()
        guard TypedLines.isInForeground(terminal), tcgetattr(terminal, &attributes) == 0 else {
            close(terminal)
            return nil
        }
        before = attributes
        attributes.c_lflag &= ~tcflag_t(flags)
        withUnsafeMutableBytes(of: &attributes.c_cc) { keys in
            keys[Int(VQUIT)] = 0
            keys[Int(VSUSP)] = 0
            // Without `ICANON`, a read returns at each key.
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
        }
        guard tcsetattr(terminal, TCSAFLUSH, &attributes) == 0 else {
            close(terminal)
            return nil
        }
    }

    func end() {
        var before = before
        // Drops typed characters that were not read: the shell must neither show nor run them.
        tcsetattr(terminal, TCSAFLUSH, &before)
        close(terminal)
    }
}
