import Executors
import Glibc

/// A terminal in another mode than its shell's, until `end`. Ctrl-Z and Ctrl-\\ do nothing: they would leave it like this.
struct TerminalMode {
    private let terminal: Int32
    private let before: termios

    /// Nil if there is no terminal, or this process is in its background: the kernel stops it when it changes the terminal.
    /// - Parameter flags: those of local modes that are taken away: `ECHO` shows what is typed, `ICANON` keeps it until
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
            // Of a terminal that keeps no lines: it gives each key at once.
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
        // What was typed and not read was meant for nobody: the shell must not show it, nor run it.
        tcsetattr(terminal, TCSAFLUSH, &before)
        close(terminal)
    }
}
