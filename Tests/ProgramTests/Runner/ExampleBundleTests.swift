import FileKit
import JSON
import Testing

/// The bundles of `Apps/examples/bundles` with the built-in model.
@Suite("Example bundles", .timeLimit(.minutes(5)))
struct ExampleBundleTests {
    private static var folder: String {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        return "\(root)/Apps/examples/bundles"
    }

    /// The first YAML block in the guide to bundles.
    @Test("The example of the guide runs as written and prints its output") func guide() async throws {
        try await RunnerHome.with { home in
            let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
            let guide = String(decoding: try Files.read("\(root)/docs/BUNDLES.md", limit: 1 << 20), as: UTF8.self)
            let text = try #require(
                guide.split(separator: "```yaml\n").dropFirst().first?.split(separator: "```").first)
            try home.write(String(text), "review.yaml")
            let run = try await home.martlet("run", "review.yaml", "--input", "repo=.")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            let lines = run.output.lines
            let end = try #require(lines.firstIndex { $0.hasPrefix("review ok in ") })
            #expect(lines[(end + 1)...].first?.hasPrefix("review:") == true, "\(run.output)")
            let shown = try await home.martlet("runs", "show")
            #expect(shown.output.contains("OUTPUTS\nreview  "), "\(shown.output)")
        }
    }

    // row W-07
    @Test("The example that asks a model saves its answer") func askAndSave() async throws {
        try await RunnerHome.with { home in
            let run = try await home.martlet(
                "run", "\(Self.folder)/ask-and-save.yaml", "--input", "question=What can you do?", "--json")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            #expect(try run.output.json()["outputs"]?["model"] == "martlet-offline")
            #expect(try home.read("answer.md").hasPrefix("# What can you do?\n\n"))
        }
    }

    @Test("The fleet example asks several models the same questions") func fleet() async throws {
        try await RunnerHome.with { home in
            let run = try await home.martlet(
                "run", "\(Self.folder)/model-fleet.yaml", "--input",
                "models=[\"martlet/martlet-offline\", \"martlet/nobody\"]", "--json")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            let rows = try home.read("fleet.md").lines
            #expect(rows.count == 6 && rows.count { $0.contains("no answer") } == 2)
            #expect(rows[2].hasPrefix("| martlet-offline | "))
        }
    }

    @Test("The review example reviews changes, and nothing if there are none") func review() async throws {
        try await RunnerHome.with { home in
            try home.write("diff --git a/x b/x\n-old\n+new\n", "review.diff")
            let run = try await home.martlet("run", "\(Self.folder)/nightly-review.yaml", "--json")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            let file = try #require(try run.output.json()["outputs"]?["review"]?.string)
            #expect(Files.exists(file) && file.contains("/reviews/2"))
            try home.write("\n", "review.diff")
            let none = try await home.martlet("run", "\(Self.folder)/nightly-review.yaml", "--json")
            #expect(none.code == 0)
            #expect(try none.output.json()["outputs"]?["review"] == "nothing has changed")
        }
    }

    @Test("The smoke test example reports where a server fails") func smoke() async throws {
        try await RunnerHome.with { home in
            let run = try await home.martlet("run", "\(Self.folder)/smoke-test.yaml", "--junit", "smoke.xml")
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            #expect(try home.read("smoke.xml").contains("tests=\"5\" failures=\"0\" errors=\"0\""))
            let bad = try await home.martlet(
                "run", "\(Self.folder)/smoke-test.yaml", "--input", "model=martlet/nobody", "--junit", "smoke.xml")
            #expect(bad.code != 0)
            #expect(try home.read("smoke.xml").contains("<error message="))
        }
    }
}
