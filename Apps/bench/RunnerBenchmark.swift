import CoreTesting
import FileKit
import HTTPTesting

/// A bundle of many empty steps against a makefile of as many targets; the cost of starting a bundle; and the memory of
/// wide and deep ones.
enum RunnerBenchmark {
    private static let steps = 10_000
    private static let depth = 50

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let program = try MartletProgram(in: folder)
            try write(manySteps, "many.yaml", folder)
            try write(makefile, "many.mk", folder)
            try write("name: empty\nsteps: [{action: run.no-op}]\n", "empty.yaml", folder)
            let width = Array(0..<1_000).map(String.init).joined(separator: ", ")
            try write(
                "name: wide\nsteps: [{id: w, matrix: {n: [\(width)]}, action: run.no-op}]\n", "wide.yaml", folder)
            for level in 0..<depth {
                let step = level == depth - 1 ? "action: run.no-op" : "bundle: deep-\(level + 1).yaml"
                try write("name: deep\nsteps: [{\(step)}]\n", "deep-\(level).yaml", folder)
            }
            return try many(program, folder) + start(program, folder) + memory(program, folder)
        }
    }

    private static func many(_ program: MartletProgram, _ folder: String) throws -> [Figure] {
        var (ours, theirs) = (Samples(), Samples())
        for _ in 0..<5 {
            ours.add(try Child.time("env", words(program, "\(folder)/many.yaml")))
            theirs.add(try Child.time("make", ["-s", "-j2", "-f", "\(folder)/many.mk"]))
        }
        return [
            Figure(
                "\(steps) steps with a journal / make with as many targets", ours.median / theirs.median, "ratio",
                .atMost(0.12)),
            Figure("martlet", ours.median, "s"), Figure("make", theirs.median, "s"),
        ]
    }

    private static func start(_ program: MartletProgram, _ folder: String) throws -> [Figure] {
        var (ours, theirs) = (Samples(), Samples())
        for round in 0..<220 {
            let (first, second) = (
                try Child.time("env", words(program, "\(folder)/empty.yaml")),
                try Child.time("env", ["MARTLET_HOME=\(program.home)", MartletProgram.path, "version"])
            )
            // The first rounds warm up the caches.
            if round < 20 { continue }
            ours.add(first)
            theirs.add(second)
        }
        return [
            Figure("a bundle of one step / martlet version", ours.median / theirs.median, "ratio", .atMost(1.5)),
            Figure("a bundle of one step", ours.median * 1000, "ms"),
        ]
    }

    private static func memory(_ program: MartletProgram, _ folder: String) throws -> [Figure] {
        try [("\(steps) steps", "many"), ("a matrix of 1000", "wide"), ("\(depth) bundles in each other", "deep-0")].map
        {
            let peak = try Child.peakMemory(
                MartletProgram.path, ["run", "\(folder)/\($1).yaml"], variables: ["MARTLET_HOME": program.home])
            return Figure("memory of \($0)", Double(peak) / 1_048_576, "MiB")
        }
    }

    private static func words(_ program: MartletProgram, _ bundle: String) -> [String] {
        ["MARTLET_HOME=\(program.home)", MartletProgram.path, "run", bundle]
    }

    private static var manySteps: String {
        "name: many\nsteps:\n" + String(repeating: "  - {action: run.no-op}\n", count: steps)
    }

    private static var makefile: String {
        let names = (0..<steps).map { "t\($0)" }
        return "all: \(names.joined(separator: " "))\n.PHONY: all \(names.joined(separator: " "))\n"
            + names.map { "\($0):\n\t@true\n" }.joined()
    }

    private static func write(_ text: String, _ name: String, _ folder: String) throws {
        try Files.writeAtomically(Array(text.utf8), to: "\(folder)/\(name)")
    }
}
