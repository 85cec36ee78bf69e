import CoreTesting
import JSON
import ProcessKit
import Testing

@Suite("Killed runs", .timeLimit(.minutes(5)))
struct RunnerCrashTests {
    private static let steps = 200
    private static let kills = Rounds.of(50, least: 10)

    /// A bundle whose steps each append their name to a file.
    private static var bundle: String {
        "name: long\npermissions: {actions: [file.write]}\nsteps:\n"
            + (1...steps).map { number in
                let needs = number % 10 == 1 ? ", needs: [\(number == 1 ? "" : "s\(number - 10)")]" : ""
                return
                    "  - {id: s\(number)\(needs), action: file.write, with: {path: log.txt, append: true, text: \"s\(number)\\n\"}}\n"
            }.joined() + "outputs: {count: \"${{ length(lines(steps.s200.result.path)) }}\"}\n"
    }

    /// A file size limit stands in for a full disk.
    @Test("A run that hits a full disk cleans up and reports the error") func full() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: full
                permissions: {actions: [file.write]}
                steps: [{id: many, foreach: "${{ range(5000) }}", action: version}]
                finally: [{id: tidy, action: file.write, with: {path: tidy.txt, text: "failed: ${{ run.failed }}"}}]
                """)
            let run = try await Program.martlet.shell(
                "ulimit -f 400; $M run b.yaml --quiet", home: home.path, adding: home.variables)
            #expect(run.code == 1 && run.output.hasPrefix("full failed in "), "\(run.output)\(run.errors)")
            #expect(try home.read("tidy.txt") == "failed: true")
        }
    }

    // row W-07
    @Test("A killed run is resumed without repeating finished steps, and ends like an uninterrupted one")
    func killed() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var kills = 0
        while kills < Self.kills {
            try await RunnerHome.with { home in
                try home.write(Self.bundle)
                var over: Set<String> = []
                var begun: Set<String> = []
                var isDone = false
                var round = 0
                while !isDone {
                    let words = round == 0 ? ["run", "b.yaml"] : ["run", "--resume", "last"]
                    var left = kills < Self.kills ? Int.random(in: 1...60, using: &generator) : Int.max
                    var command = Program.martlet.command(
                        words + ["--format", "ndjson"], home: home.path, adding: home.variables)
                    command.output = .pipe
                    let (known, open) = (over, begun.subtracting(over))
                    var hasBegun = false
                    try await Launcher.standalone.withChild(command) { child in
                        while let event = try await child.nextEvent() {
                            if event["type"] == "run_started" { hasBegun = true }
                            let step = event["step"]?.string ?? ""
                            switch event["type"]?.string {
                            case "step_started":
                                #expect(!known.contains(step), "\(step) was over and is done again; seed \(seed)")
                                if event["repeated"] == true { #expect(open.contains(step) || round > 0) }
                                begun.insert(step)
                            case "step_ended":
                                if event["status"] == "ok" { over.insert(step) }
                                left -= 1
                            case "run_ended":
                                #expect(event["status"] == "ok")
                                isDone = true
                            default: break
                            }
                            if left <= 0, !isDone {
                                child.send(.kill)
                                kills += 1
                                break
                            }
                        }
                    }
                    // If the signal comes too late, the run has succeeded and there is nothing to resume.
                    if !hasBegun {
                        let ended = try await home.martlet("runs", "--json").output.json()
                        try #require(ended[0]?["status"] == "ok", "a run does not go on; seed \(seed)")
                        isDone = true
                    }
                    round += 1
                }
                var counts: [String: Int] = [:]
                for line in try home.read("log.txt").lines { counts[line, default: 0] += 1 }
                #expect(counts.count == Self.steps && counts.values.allSatisfy { $0 >= 1 && $0 <= round })
                let row = try await home.martlet("runs", "--json").output.json()
                #expect(row.array?.count == 1 && row[0]?["status"] == "ok" && row[0]?["steps"] == .int(Self.steps))
                // Steps that ran twice were running when the program was killed.
                let shown = try await home.martlet("runs", "show", "--json").output.json()
                #expect(shown["steps"]?.array?.count == Self.steps)
            }
        }
    }
}
