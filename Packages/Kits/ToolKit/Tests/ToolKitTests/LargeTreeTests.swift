import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Testing

@testable import ToolKit

@Suite("Large trees", .timeLimit(.minutes(5)))
struct LargeTreeTests {
    @Test("A hundred thousand files are listed, found and searched in little memory")
    func memory() async {
        // In a separate process, because other tests would affect the memory.
        await #expect(processExitsWith: .success) {
            try await withPlayground { place in
                try LargeTree.make(place, folders: 50, files: 1000)
                try LargeTree.make(place, "large/", folders: 1, files: 50_000)
                _ = try await place.text("glob", ["pattern": "nothing"])
                let before = try TestProcess.residentBytes()
                #expect(try await place.text("glob", ["pattern": "**/*"]).contains("[100000 files fit"))
                #expect(try await place.text("grep.search", ["pattern": "needle 5"]).contains("d000/f005:1:needle 5"))
                #expect(
                    try await place.text("grep.search", ["pattern": "nothing"]).contains(
                        "no matching line in 100000 files"))
                #expect(try await place.text("ls", ["path": "large", "depth": 3]).contains("there are more"))
                let grown = try TestProcess.residentBytes() - before
                #expect(grown < 24 << 20, "\(grown) bytes more")
            }
        }
    }

    @Test("A cancelled task ends its work, before the start and in the middle")
    func cancel() async throws {
        try await withPlayground { place in
            try LargeTree.make(place, folders: 30, files: 100)
            let calls: [(String, JSON)] = [
                ("grep.search", ["pattern": "x"]), ("grep.search", ["pattern": "x", "path": "d000/f000"]),
                ("glob", ["pattern": "**"]), ("ls", [:]), ("fs.read", ["path": "d000/f000"]),
            ]
            for (tool, input) in calls {
                let task = Task {
                    // Cancelled before it begins: the work notices it at once.
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return try await place.tools.run(ToolCall(id: "1", name: tool, input: input))
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test("A search that would take minutes ends at once when it is cancelled")
    func cancelInTheMiddle() async throws {
        try await withPlayground { place in
            // Each line takes the maximum number of steps, in very many files.
            let text = String(repeating: String(repeating: "a", count: 60) + "!\n", count: 19)
            for index in 0..<2000 { try place.write("f\(index)", text) }
            let call = ToolCall(id: "1", name: "grep.search", input: ["pattern": "^(a+)+$"])
            let search = Task { try await place.tools.run(call) }
            // Two slow calls finish while it runs.
            for _ in 0..<2 { _ = try await place.text("glob", ["pattern": "**"]) }
            let start = ContinuousClock.now
            search.cancel()
            await #expect(throws: CancellationError.self) { try await search.value }
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }
}

enum LargeTree {
    static func make(_ place: Playground, _ prefix: String = "", folders: Int, files: Int) throws {
        for folder in 0..<folders {
            let path = "\(place.folder)/\(prefix)d\(padded(folder))"
            try Files.makeDirectories(path)
            for file in 0..<files {
                let opened = unsafe creat("\(path)/f\(padded(file))", 0o600)
                try #require(opened >= 0)
                let text = "needle \(file)\n"
                try #require(unsafe write(opened, text, text.utf8.count) == text.utf8.count)
                close(opened)
            }
        }
    }

    private static func padded(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 3 - text.count)) + text
    }
}
