import Glibc
import ProcessKit
import Testing

/// Makes this process a session leader on a new terminal and returns the terminal's other side.
private func takeNewTerminal() throws -> Int32 {
    var (outside, inside): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&outside, &inside, nil, nil, nil) == 0)
    try #require(setsid() > 0)
    try #require(ioctl(inside, UInt(TIOCSCTTY), 0) == 0)
    for descriptor: Int32 in 0...2 { dup2(inside, descriptor) }
    return outside
}

private func readLine(_ descriptor: Int32) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
        if byte != UInt8(ascii: "\r") { line.append(byte) }
    }
    return String(decoding: line, as: UTF8.self)
}

@Suite("Foreground program", .timeLimit(.minutes(5)))
struct ForegroundTests {
    @Test("A program has the terminal while it runs, and this process gets it back afterwards")
    func terminal() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let outside = try takeNewTerminal()
            let check = "read -r pid name state parent group session tty front rest </proc/self/stat"
            let status = try await Launcher.standalone.runInForeground(
                script("\(check); [ $group = $front ] && [ $group != $session ] && exit 7"))
            // The other side stays open, because closing it would send this process a hang-up.
            exit(status == .exited(7) && tcgetpgrp(0) == getpgrp() && outside > 2 ? 42 : 1)
        }
    }

    @Test("Ctrl-C reaches the program and not this process")
    func interrupt() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let outside = try takeNewTerminal()
            async let status = Launcher.standalone.runInForeground(
                script("trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done"))
            guard readLine(outside) == "ready" else { exit(2) }
            var key: UInt8 = 3
            _ = unsafe write(outside, &key, 1)
            exit(try await status == .exited(9) ? 42 : 1)
        }
    }

    @Test("A stopped program is continued if there is no shell with job control")
    func stop() async {
        await #expect(processExitsWith: .exitCode(42)) {
            _ = try takeNewTerminal()
            exit(try await Launcher.standalone.runInForeground(script("kill -STOP $$; exit 5")) == .exited(5) ? 42 : 1)
        }
    }

    @Test("A program without a terminal shares the streams, and one that fails to start leaves nothing behind")
    func noTerminal() async {
        await #expect(processExitsWith: .exitCode(42)) {
            setsid()
            let launcher = Launcher.standalone
            await #expect(throws: ProcessError.self) {
                try await launcher.runInForeground(Command("/no/tool", environment: [:]))
            }
            exit(try await launcher.runInForeground(script("exit 4")) == .exited(4) ? 42 : 1)
        }
    }

    @Test("A cancelled task ends the program")
    func cancelled() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let outside = try takeNewTerminal()
            let task = Task { try await Launcher.standalone.runInForeground(script("echo ready; exec sleep 1000")) }
            guard readLine(outside) == "ready" else { exit(2) }
            task.cancel()
            exit(try await task.value == .signalled(SIGTERM) ? 42 : 1)
        }
    }
}
