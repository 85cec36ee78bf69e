import FileKit
import Glibc

/// `martlet version` against a C program that prints a line and links the libraries in Peers/start_libraries, a fixed
/// list; and against one that links what the program links now.
enum StartBenchmark {
    private static let rounds = 400

    static func run() throws -> [Figure] {
        let martlet = ".build/release/martlet"
        let fixed = "/tmp/martlet-bench-peer-\(getpid())"
        let own = fixed + "-own"
        defer {
            unsafe unlink(fixed)
            unsafe unlink(own)
        }
        try buildPeer(fixed, libraries: try listedLibraries())
        try buildPeer(own, libraries: try neededLibraries(of: martlet))
        var times = (ours: Samples(), fixed: Samples(), own: Samples())
        for round in 0..<(rounds + 20) {
            let (first, second) = (try Child.time(martlet, ["version"]), try Child.time(fixed))
            let third = try Child.time(own)
            // The first rounds warm up the caches.
            if round < 20 { continue }
            times.ours.add(first)
            times.fixed.add(second)
            times.own.add(third)
        }
        return [
            Figure(
                "martlet version / C program with the listed libraries", times.ours.median / times.fixed.median,
                "ratio", .atMost(1)),
            Figure(
                "martlet version / C program with the program's own libraries", times.ours.median / times.own.median,
                "ratio"),
            Figure("martlet version", times.ours.median * 1000, "ms"),
            Figure("C program with the listed libraries", times.fixed.median * 1000, "ms"),
            Figure("C program with the program's own libraries", times.own.median * 1000, "ms"),
        ]
    }

    private static func listedLibraries() throws -> [String] {
        String(decoding: try Files.read(Peers.path("start_libraries"), limit: 1 << 16), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    private static func neededLibraries(of path: String) throws -> [String] {
        try Child.output("readelf", ["-d", path]).split(separator: "\n").compactMap { line in
            guard line.contains("(NEEDED)"), let open = line.lastIndex(of: "["), let close = line.lastIndex(of: "]")
            else {
                return nil
            }
            let name = String(line[line.index(after: open)..<close])
            return name.hasPrefix("ld-linux") ? nil : name
        }
    }

    private static func buildPeer(_ path: String, libraries: [String]) throws {
        let source = path + ".c"
        defer { unsafe unlink(source) }
        guard let file = unsafe fopen(source, "w") else { throw BenchmarkError("cannot write \(source)") }
        unsafe fputs("#include <stdio.h>\nint main(void) { puts(\"martlet\"); return 0; }\n", file)
        unsafe fclose(file)
        _ = try Child.output("cc", ["-O2", "-o", path, source, "-Wl,--no-as-needed"] + libraries.map { "-l:\($0)" })
    }
}
