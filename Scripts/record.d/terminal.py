"""A host's terminal: a pseudo terminal, and the screen that a person sees."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

import pyte


class Terminal:
    """Runs programs on one host, one after the other. The prompt and what is typed are drawn as a shell does it."""

    def __init__(self, host, launch, folder, columns, rows):
        self.host, self.launch, self.folder = host, launch, folder
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.output = ""
        self.process = self.master = None

    def prompt(self):
        self.draw(f"{self.host}$ ")

    def draw(self, text):
        self.stream.feed(text)

    def start(self, *words):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('4H', self.screen.lines, self.screen.columns, 0, 0))
        self.process = subprocess.Popen([*self.launch, *words], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=self.folder, start_new_session=True)
        os.close(slave)

    def read(self, seconds):
        """Draws the output of at most so many seconds. Returns False when the program has closed the terminal."""
        if self.master is None:
            return False
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            text = os.read(self.master, 65536).decode()
        except OSError: # EIO: the last program has closed it
            text = ""
        if not text:
            os.close(self.master)
            self.master = None
            self.process.wait()
            return False
        self.output += text
        self.draw(text)
        return True

    def type(self, text):
        os.write(self.master, text.encode())

    def lines(self):
        return [line.rstrip() for line in self.screen.display]
