import Glibc

/// `martlet version` against a C program that links the same C libraries and prints a line.
enum StartBenchmark {
    private static let rounds = 400

    static func run() throws -> [Figure] {
        let martlet = ".build/release/martlet"
        let peer = "/tmp/martlet-bench-peer-\(getpid())"
        defer { unsafe unlink(peer) }
        try buildPeer(peer, libraries: try neededLibraries(of: martlet))
        var ours = Samples()
        var theirs = Samples()
        for round in 0..<(rounds + 20) {
            let (first, second) = (try Child.time(martlet, ["version"]), try Child.time(peer))
            // The first rounds warm the caches.
            if round < 20 { continue }
            ours.add(first)
            theirs.add(second)
        }
        return [
            Figure(
                "martlet version / C program with the same libraries", ours.median / theirs.median, "ratio",
                .atMost(1.5)),
            Figure("martlet version", ours.median * 1000, "ms"),
            Figure("C program", theirs.median * 1000, "ms"),
        ]
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
