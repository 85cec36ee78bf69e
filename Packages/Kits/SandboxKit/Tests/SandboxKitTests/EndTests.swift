import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("The end of a sandboxed command", .timeLimit(.minutes(10)), .serialized, .enabled(if: !Way.engines.isEmpty))
struct EndTests {
    /// A process that has left its group twice and ignores signals. Its sleep time identifies it.
    private static func leaving(_ mark: Int32) -> String {
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; (setsid sleep \(mark) &) ; sleep \(mark)' & until pgrep -fx 'sleep \(mark)' > /dev/null; do :; done; echo ready"
    }

    private static func mark(_ way: Way) -> Int32 {
        let own: Int32 = if case .landlock = way.engine { 1 } else { 2 }
        return 700_000 + getpid() * 4 + own
    }

    /// Whether a process with this sleep time is running.
    private static func sleeps(_ mark: Int32) throws -> Bool {
        try Files.list("/proc").contains { entry in
            // A process that has ended is not running.
            guard Int(entry.name) != nil, let line = try? Files.read("/proc/\(entry.name)/cmdline", limit: 1 << 20)
            else { return false }
            return line == Array("sleep\u{0}\(mark)\u{0}".utf8)
        }
    }

    private static func endsSoon(_ mark: Int32) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while try sleeps(mark), ContinuousClock.now < deadline { await Task.yield() }
        return try !sleeps(mark)
    }

    private func runner(_ way: Way) -> CommandRunner {
        CommandRunner(variables: Place.variables, sandbox: Sandbox(), by: way.engine, launcher: .standalone)
    }

    // sandbox case 40
    @Test("A stop or a timeout kills a command and the processes that left its group", arguments: Way.engines)
    func stopped(way: Way) async throws {
        try await Place.run { place in
            let (folder, mark) = (try Folder(beneath: place.folder), Self.mark(way))
            let script = ["bash", "-c", "\(Self.leaving(mark)); sleep 1000"]
            let over = try await runner(way).run(script, in: folder, of: folder, limit: .seconds(1)) { _ in }
            #expect(over.isOverTime && over.output.text == "ready\n")
            #expect(try await Self.endsSoon(mark))
            let ready = AsyncStream<Void>.makeStream()
            let task = Task {
                try await runner(way).run(script, in: folder, of: folder) { _ in ready.continuation.yield() }
            }
            for await _ in ready.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await Self.endsSoon(mark))
        }
    }

    // sandbox case 41
    @Test("The end of a command kills processes that hold its output", arguments: Way.engines)
    func background(way: Way) async throws {
        try await Place.run { place in
            let (folder, mark) = (try Folder(beneath: place.folder), Self.mark(way))
            let done = try await runner(way).run(
                ["bash", "-c", "\(Self.leaving(mark)); exit 5"], in: folder, of: folder
            ) { _ in }
            #expect(done.status == .exited(5) && done.output.text == "ready\n")
            #expect(try await Self.endsSoon(mark))
        }
    }

    // sandbox case 42
    @Test("A command ends when this process is killed", arguments: Way.engines)
    func killed(way: Way) async throws {
        try await Place.run { place in
            let isLandlock = if case .landlock = way.engine { true } else { false }
            let mark = Self.mark(way)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = place.folder as String, isLandlock = isLandlock as Bool, mark = mark as Int32] in
                let landlock = try #require(Way.landlock)
                let way = isLandlock ? landlock : Way.bubblewrap
                let opened = try Folder(beneath: folder)
                _ = try await CommandRunner(
                    variables: Place.variables, sandbox: Sandbox(), by: way.engine, launcher: .standalone
                ).run(
                    ["bash", "-c", "\(Self.leaving(mark)); sleep 1000"], in: opened, of: opened
                ) { _ in kill(getpid(), SIGKILL) }
            }
            let hasEnded = try await Self.endsSoon(mark)
            #expect(hasEnded)
        }
    }

    // sandbox case 44
    @Test("A command that exceeds the memory limit fails, and nothing else does", arguments: Way.engines)
    func memory(way: Way) async throws {
        try await Place.run { place in
            let seen = try await place.run(
                """
                ulimit -S -d; ulimit -H -d; ulimit -v
                /usr/bin/python3 -c 'x = bytearray(10 << 30); print("reached")' 2>&1 | tail -1; echo done
                """, by: way)
            let most = "\(CommandLimits.mostData >> 10)"
            #expect(seen == "\(most)\n\(most)\nunlimited\nMemoryError\ndone\n", "\(seen)")
        }
    }

    // sandbox case 44
    @Test("A fork bomb fails without stopping other processes", arguments: Way.all.filter(\.isOrdinary))
    func processes(way: Way) async throws {
        try await Place.run { place in
            let seen = try await place.run(
                """
                /usr/bin/python3 -c '
                import os, time
                while True:
                    try: made = os.fork()
                    except OSError as e: print(e.strerror); break
                    if made == 0: os.setsid(); time.sleep(1000)
                '
                """, by: way)
            #expect(seen == "Resource temporarily unavailable\n", "\(seen)")
            #expect(try await place.run("echo on", by: way) == "on\n")
        }
    }
}
