import Bundles
import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import ProcessKit
import Registry
import Testing

@testable import Runner

@Suite("Schedules", .timeLimit(.minutes(5)))
struct ScheduleTests {
    @Test(
        "A crontab schedule is converted to systemd calendars",
        arguments: [
            ("0 3 * * *", ["*-*-* 3:0:00"], "0 3 * * *"), ("*/15 * * * *", ["*-*-* *:0/15:00"], "*/15 * * * *"),
            ("30 8 * * 1-5", ["Mon,Tue,Wed,Thu,Fri *-*-* 8:30:00"], "30 8 * * 1-5"),
            ("0 0 1,15 * *", ["*-*-1,15 0:0:00"], "0 0 1,15 * *"),
            ("5 4 * */3 *", ["*-1/3-* 4:5:00"], "5 4 * */3 *"),
            ("0 9-17/2 * * *", ["*-*-* 9..17/2:0:00"], "0 9-17/2 * * *"),
            ("0 12 * * 0,7", ["Sun *-*-* 12:0:00"], "0 12 * * 0,7"),
            ("0 8 * * MON-FRI", ["Mon,Tue,Wed,Thu,Fri *-*-* 8:0:00"], "0 8 * * 1-5"),
            ("0 8 * * sat-sun", ["Sat,Sun *-*-* 8:0:00"], "0 8 * * 6-7"),
            ("0 0 1 JAN,jul *", ["*-1,7-1 0:0:00"], "0 0 1 1,7 *"),
            ("0 3 1 * 1", ["*-*-1 3:0:00", "Mon *-*-* 3:0:00"], "0 3 1 * 1"),
            ("0 3 */2 * 1", ["Mon *-*-1/2 3:0:00"], "0 3 */2 * 1"), ("0 0 29 2 *", ["*-2-29 0:0:00"], "0 0 29 2 *"),
            ("@daily", ["*-*-* 0:0:00"], "0 0 * * *"), ("@Weekly", ["Sun *-*-* 0:0:00"], "0 0 * * 0"),
            ("@hourly", ["*-*-* *:0:00"], "0 * * * *"), ("@yearly", ["*-1-1 0:0:00"], "0 0 1 1 *"),
        ])
    func calendar(cron: String, calendars: [String], line: String) throws {
        let schedule = try CronSchedule(parsing: cron)
        #expect(schedule.calendars == calendars && schedule.line == line)
    }

    @Test(
        "An invalid crontab schedule is rejected",
        arguments: [
            "0 3 * *", "x", "0 0 * * 9", "60 * * * *", "*/0 * * * *", "*/60 * * * *", "0 24 * * *", "0 0 0 * *",
            "0 0 32 * *", "0 0 * 13 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "5-1 * * * *", "1/2 * * * *", "1, * * * *",
            "+1 * * * *", "1-2-3 * * * *", "*-5 * * * *", "** * * * *", "0 0 * * mo", "@reboot", "@dayly",
            "\u{661} * * * *", "99999999999999999999 * * * *",
        ])
    func refused(cron: String) {
        #expect(throws: CronSchedule.Problem.self) { try CronSchedule(parsing: cron) }
    }

    /// systemd accepts every schedule that we accept.
    @Test("systemd accepts every converted schedule", .enabled(if: Files.exists("/usr/bin/systemd-analyze")))
    func understood() async throws {
        var generator = SeededGenerator(seed: 13)
        func field(_ low: Int, _ high: Int) -> String {
            let (one, two) = (
                Int.random(in: low...high, using: &generator), Int.random(in: low...high, using: &generator)
            )
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: return "*"
            case 2: return "*/\(Int.random(in: 1...high, using: &generator))"
            case 3: return "\(one),\(two)"
            case 4: return "\(min(one, two))-\(max(one, two))/\(Int.random(in: 1...high, using: &generator))"
            default: return "\(one)"
            }
        }
        var calendars: [String] = []
        while calendars.count < 200 {
            let cron = "\(field(0, 59)) \(field(0, 23)) \(field(1, 31)) \(field(1, 12)) \(field(0, 7))"
            do { calendars += try CronSchedule(parsing: cron).calendars } catch {
                #expect(error.message.contains("names a day that its months do not have"), "\(cron): \(error.message)")
            }
        }
        let checked = try await Launcher.standalone.run(
            Command(
                "/usr/bin/systemd-analyze", ["calendar"] + calendars, environment: CommandEnvironment(["TZ": "UTC"])),
            timeout: .seconds(60))
        #expect(checked.status == .exited(0), "\(String(decoding: checked.errors, as: UTF8.self))")
        let never = String(decoding: checked.output, as: UTF8.self).split(separator: "\n").filter {
            $0.contains("never")
        }
        #expect(never.isEmpty, "\(never)")
    }

    private func run(_ schedule: BundleSchedule) throws -> ScheduledRun {
        ScheduledRun(
            bundle: try Bundle(
                BundleSource(Array("name: n\nsteps: [{action: a}]".utf8), file: "/srv/it's 100%.yaml")),
            schedule: schedule, program: "/usr/bin/martlet", inputs: ["a=$HOME \"x\""], logFolder: "/var/log",
            variables: "/etc/50%.env")
    }

    @Test("Special characters are escaped in units and crontab lines")
    func quoting() throws {
        let run = try run(.every(.seconds(300)))
        #expect(
            run.service.contains(
                #"ExecStart="/usr/bin/martlet" "run" "start" "/srv/it's 100%%.yaml" "--input" "a=$$HOME \"x\"" "--no-input" "--alone""#
            ))
        #expect(run.service.contains("WorkingDirectory=/srv\nEnvironmentFile=-/etc/50%%.env\n"))
        #expect(run.timer().contains("OnUnitActiveSec=300000ms"))
        #expect(
            try run.line()
                == #"*/5 * * * * cd '/srv' && '/usr/bin/martlet' 'run' 'start' '/srv/it'\''s 100\%.yaml' '--input' 'a=$HOME "x"' '--no-input' '--alone' '--quiet' >>'/var/log/n.log' 2>&1 # martlet: n"#
        )
    }

    @Test(
        "An interval becomes crontab fields, or is rejected",
        arguments: [
            (60, "*/1 * * * *"), (900, "*/15 * * * *"), (7_200, "0 */2 * * *"), (86_400, "0 0 * * *"), (30, nil),
            (420, nil),
            (18_000, nil),
        ] as [(Int, String?)])
    func interval(seconds: Int, fields: String?) throws {
        let line = try? run(.every(.seconds(seconds))).line()
        #expect((line == nil) == (fields == nil))
        if let fields { #expect(line?.hasPrefix(fields + " cd ") == true) }
    }

    @Test("run.install writes files only with --write")
    func shown() async throws {
        try await TestWorkbench.withRunner { bench in
            let file = try bench.write(
                "{name: hourly, schedule: {every: 1h}, steps: [{action: lab.echo}]}", to: "b.yaml")
            let shown = try await bench.perform("run.install", ["bundle": .string(file), "systemd": true]).json
            #expect(shown["written"] == false && shown["files"]?.array?.count == 2)
            let text = bench.output.events.compactMap(\.text).joined()
            #expect(text.components(of: "OnUnitActiveSec=3600000ms") == 1, "\(text)")
            #expect(bench.output.notices.contains("nothing was written; add --write to install it"))
            #expect(throws: (any Error).self) { try bench.read(".config/systemd/user/martlet-hourly.timer") }
            _ = try await bench.perform("run.install", ["bundle": .string(file), "systemd": true, "write": true])
            #expect(try bench.read(".config/systemd/user/martlet-hourly.service").contains(file))
            await #expect(throws: RunnerError.self) {
                try await bench.perform("run.install", ["bundle": .string(file)])
            }
        }
    }

    @Test("run.install rejects a secret input and suggests where to put it", arguments: ["systemd", "cron"])
    func secretInput(kind: String) async throws {
        try await TestWorkbench.withRunner { bench in
            let file = try bench.write(
                "{name: b, schedule: {every: 1h}, inputs: {pw: {secret: true}, x: {}}, steps: [{action: lab.echo}]}",
                to: "b.yaml")
            var arguments: JSONObject = ["bundle": .string(file), "write": true, "input": ["x=1", "pw=TopSecret99"]]
            arguments[kind] = true
            let error = await #expect(throws: RunnerError.self) { try await bench.perform("run.install", arguments) }
            let message = error?.message ?? ""
            #expect(
                message.contains("'pw' is secret or contains a secret") && message.contains("env: {NAME: {secret: …}}"))
            #expect(message.contains("MARTLET_INPUT_PW") == (kind == "systemd"))
            #expect(!message.contains("TopSecret99") && bench.output.events.isEmpty)
            #expect(throws: (any Error).self) { try bench.read(".config/systemd/user/martlet-b.service") }
            // A known secret in an input that is not marked as secret is rejected as well.
            arguments["input"] = ["x=ghp_0123456789abcdefghijABCDEFGHIJ456789"]
            let known = await #expect(throws: RunnerError.self) { try await bench.perform("run.install", arguments) }
            #expect(known?.message.contains("'x' is secret or contains a secret") == true)
            // Other inputs are accepted.
            _ = try await bench.perform("run.install", ["bundle": .string(file), "systemd": true, "input": ["x=1"]])
            #expect(bench.output.events.compactMap(\.text).joined().contains(#""x=1""#))
        }
    }

    @Test("run.uninstall finds a bundle by file or name, and leaves other units alone") func uninstall() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["PATH"] = ""
            let units = ".config/systemd/user"
            for word in ["hourly", "\(bench.folder)/b.yaml"] {
                let file = try bench.write(
                    "{name: hourly, schedule: {every: 1h}, steps: [{action: lab.echo}]}", to: "b.yaml")
                _ = try await bench.perform("run.install", ["bundle": .string(file), "systemd": true, "write": true])
                try bench.write("[Unit]\n", to: "\(units)/martlet-other.timer")
                let removed = try await bench.perform("run.uninstall", ["bundle": .string(word)]).json
                #expect(removed["removed"]?.array?.count == 2, "\(removed)")
                #expect(removed["next"]?.string?.contains("stop martlet-hourly.timer") == true)
                #expect(try Files.list("\(bench.folder)/\(units)").map(\.name) == ["martlet-other.timer"])
            }
            await #expect(throws: RunnerError.self) { try await bench.perform("run.uninstall", ["bundle": "hourly"]) }
        }
    }

    @Test("A typed path is relative to the folder where it was typed") func typedPaths() async throws {
        try await TestWorkbench.withRunner { bench in
            let text = """
                {name: p, schedule: {cron: '@daily'}, inputs: {repo: {type: path}, word: {}}, steps: [{action: lab.echo}]}
                """
            let file = try bench.write(text, to: "b.yaml")
            let shown = try await bench.perform(
                "run.install", ["bundle": .string(file), "cron": true, "input": ["repo=here", "word=here"]])
            let line = shown.json["files"]?[0]?["text"]?.string ?? ""
            #expect(line.contains("/here'") && line.contains("'word=here'") && !line.contains("'repo=here'"))
            #expect(line.hasPrefix("0 0 * * * cd '\(bench.folder)' && "), "\(line)")
        }
    }

    @Test("A repeated run starts at multiples of its interval, never overlaps, and skips missed starts")
    func repetition() async throws {
        let clock = TestClock()
        let (starts, beginning) = (Starts(), clock.now)
        let repeating = Task {
            try await Repetition(every: .seconds(10), clock: clock).run {
                await starts.add(beginning.duration(to: clock.now))
                // The second run takes longer than the interval.
                if await starts.all.count == 2 { try await clock.sleep(for: .seconds(25)) }
            }
        }
        for seconds in [10, 25, 5, 10] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(seconds))
        }
        await clock.waitForSleepers()
        #expect(await starts.all == [.zero, .seconds(10), .seconds(40), .seconds(50)])
        repeating.cancel()
        try await repeating.value
    }

    private actor Starts {
        private(set) var all: [Duration] = []

        func add(_ offset: Duration) { all.append(offset) }
    }
}

extension String {
    /// The number of occurrences of a part.
    fileprivate func components(of part: String) -> Int {
        split(separator: part, omittingEmptySubsequences: false).count - 1
    }
}
