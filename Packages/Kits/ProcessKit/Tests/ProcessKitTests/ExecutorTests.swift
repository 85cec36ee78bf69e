import Glibc
import ProcessKit
import Testing

@Suite("Tasks on the thread that watches children", .timeLimit(.minutes(2)))
struct ExecutorTests {
    @Test("A task that waits for a child goes on there, on the same thread each time")
    func sameThread() async throws {
        let launcher = Launcher.standalone
        try await launcher.withChild(piped("while read line; do echo $line; done")) { child in
            try await withTaskExecutorPreference(launcher.executor) {
                var threads: Set<Int32> = []
                for _ in 0..<50 {
                    try await child.input.write(Array("x\n".utf8))
                    #expect(try await child.output.nextLine() == [0x78])
                    threads.insert(gettid())
                }
                #expect(threads.count == 1 && !threads.contains(getpid()))
            }
        }
    }

    @Test("Without a child, tasks run on the shared threads")
    func withoutThread() async {
        #expect(await withTaskExecutorPreference(Launcher.standalone.executor) { 1 + 1 } == 2)
    }

    private func piped(_ text: String) -> Command {
        var command = script(text)
        (command.input, command.output) = (.pipe, .pipe)
        return command
    }
}
