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
                var threads: Set<String> = []
                for _ in 0..<50 {
                    try await child.input.write(Array("x\n".utf8))
                    #expect(try await child.output.nextLine() == [0x78])
                    threads.insert(here())
                }
                #expect(threads.count == 1 && !threads.contains("\(getpid())/task/\(getpid())"))
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

/// The system's id of this thread: a `pthread_self` value may soon belong to another thread.
private func here() -> String {
    var path = [CChar](repeating: 0, count: 100)
    let count = unsafe readlink("/proc/thread-self", &path, 100)
    return String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
