"""Runs a command on a pseudo-terminal: pseudo_terminal.py COLUMNS ROWS COMMAND…

Standard input is what is typed, standard output what is shown. The first line on standard error is
the process id of the command. When standard input ends, the terminal is closed. Exits as the
command does; 128 and the signal's number if a signal ended it.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios


def main():
    columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(command[0], command)
    os.write(2, f"{pid}\n".encode())
    copy(terminal)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)


def copy(terminal):
    while True:
        readable, _, _ = select.select([0, terminal], [], [])
        if terminal in readable:
            try:
                shown = os.read(terminal, 65536)
            except OSError:  # the command has ended
                return
            write(1, shown)
        elif 0 in readable:
            typed = os.read(0, 65536)
            if not typed:
                return
            write(terminal, typed)


def write(file, data):
    while data:
        data = data[os.write(file, data) :]


main()
