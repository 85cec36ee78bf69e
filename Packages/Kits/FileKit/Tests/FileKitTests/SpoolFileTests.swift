import CoreTesting
import FileKit
import Glibc
import Testing

@Suite("A file that one process fills and another one takes", .timeLimit(.minutes(5)))
struct SpoolFileTests {
    @Test("What is appended is in the file, which only its user can read, and the first is told so")
    func appends() async throws {
        try await TemporaryDirectory.run { folder in
            let file = SpoolFile("\(folder)/spool")
            var firsts: [Bool] = []
            for text in ["one\n", "two\n"] {
                try file.append { isFirst in
                    firsts.append(isFirst)
                    return Array(text.utf8)
                }
            }
            #expect(firsts == [true, false])
            #expect(try Files.read(file.path, limit: 100) == Array("one\ntwo\n".utf8))
            #expect(try Files.info(file.path).mode == 0o600)
        }
    }

    @Test("After it was taken a new one begins, and there is nothing to take twice")
    func takes() async throws {
        try await TemporaryDirectory.run { folder in
            let file = SpoolFile("\(folder)/spool")
            #expect(try !file.take(as: "\(folder)/taken"))
            try file.append { _ in [1] }
            #expect(try file.take(as: "\(folder)/taken"))
            #expect(try !file.take(as: "\(folder)/taken"))
            var isFirst = false
            try file.append {
                isFirst = $0
                return [2]
            }
            #expect(
                try isFirst && Files.read(file.path, limit: 9) == [2] && Files.read("\(folder)/taken", limit: 9) == [1])
        }
    }

    @Test("A pipe that nobody reads is refused at once", .timeLimit(.minutes(1)))
    func pipe() async throws {
        try await TemporaryDirectory.run { folder in
            #expect(unsafe mkfifo("\(folder)/spool", 0o600) == 0)
            #expect(throws: FileError.self) { try SpoolFile("\(folder)/spool").append { _ in [1] } }
        }
    }

    @Test("A link in its place is refused")
    func link() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.writeAtomically([7], to: "\(folder)/other")
            #expect(unsafe symlink("\(folder)/other", "\(folder)/spool") == 0)
            let file = SpoolFile("\(folder)/spool")
            #expect(throws: FileError.self) { try file.append { _ in [1] } }
            #expect(throws: FileError.self) { try file.take(as: "\(folder)/taken") }
            #expect(try Files.read("\(folder)/other", limit: 9) == [7])
        }
    }

    @Test("While one appends and another one takes, every byte is taken exactly once")
    func race() async throws {
        try await TemporaryDirectory.run { folder in
            let file = SpoolFile("\(folder)/spool")
            let count = 2_000
            async let written: Void = {
                for number in 0..<count { try file.append { _ in Array("\(number)\n".utf8) } }
            }()
            var taken: [String] = []
            var round = 0
            func take() throws {
                round += 1
                guard try file.take(as: "\(folder)/taken-\(round)") else { return }
                taken.append(
                    String(decoding: try Files.read("\(folder)/taken-\(round)", limit: 1 << 20), as: UTF8.self))
            }
            for _ in 0..<500 {
                try take()
                await Task.yield()
            }
            try await written
            try take()
            #expect(taken.joined().split(separator: "\n").compactMap { Int($0) } == Array(0..<count))
        }
    }
}
