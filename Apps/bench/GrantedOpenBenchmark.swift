import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPTesting

/// Reading a small file through a bundle's grant, against a C program that opens it beneath a folder with `openat2` and
/// reads it; also with the user's grant.
enum GrantedOpenBenchmark {
    private static let count = 20_000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            try Files.makeDirectories("\(folder)/data/deep")
            try Files.writeAtomically(Array("content".utf8), to: "\(folder)/data/deep/file.txt")
            let peer = "\(folder)/open_beneath"
            _ = try Child.output("cc", ["-O2", "-o", peer, Peers.path("open_beneath.c")])
            let root = try FolderRoot(opening: folder)
            let bundle = Grant(Grant.Layer(.bundle("b"), folders: Grant.Folders(roots: [root])))
            let path = ReadPath("\(folder)/data/deep/file.txt")
            var best = (bundle: Double.infinity, person: Double.infinity, peer: Double.infinity)
            for _ in 0..<10 {
                best.bundle = min(best.bundle, try time { try bundle.path(path, from: "/").read(limit: 1 << 10) })
                best.person = min(best.person, try time { try Grant.person.path(path, from: "/").read(limit: 1 << 10) })
                let told = try Child.output(peer, [folder, "data/deep/file.txt", String(count)])
                guard let nanoseconds = Double(told.filter { !$0.isWhitespace }) else { throw BenchmarkError(told) }
                best.peer = min(best.peer, nanoseconds)
            }
            return [
                Figure("a bundle's path, opened and read / openat2", best.bundle / best.peer, "ratio", .atMost(2)),
                Figure("a bundle's path, opened and read", best.bundle, "ns"),
                Figure("the person's path, opened and read", best.person, "ns"),
                Figure("openat2, fstat, read, close", best.peer, "ns"),
            ]
        }
    }

    /// The average time in nanoseconds.
    private static func time(_ read: () throws -> [UInt8]) throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<count where try read().count != 7 { throw BenchmarkError("it read something else") }
        return (.now - start) / .nanoseconds(1) / Double(count)
    }
}
