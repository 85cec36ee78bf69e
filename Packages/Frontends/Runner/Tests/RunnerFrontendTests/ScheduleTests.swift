import Bundles
import Capabilities
import CoreTesting
import JSON
import Registry
import Testing

@testable import RunnerFrontend

@Suite("A bundle by itself", .timeLimit(.minutes(5)))
struct ScheduleTests {
    @Test(
        "runs at the times that a crontab says, in systemd's words",
        arguments: [
            ("0 3 * * *", "*-*-* 3:0:00"), ("*/15 * * * *", "*-*-* *:0/15:00"),
            ("30 8 * * 1-5", "Mon,Tue,Wed,Thu,Fri *-*-* 8:30:00"),
            ("0 0 1,15 * *", "*-*-1,15 0:0:00"), ("5 4 * */3 *", "*-1/3-* 4:5:00"),
            ("0 9-17/2 * * *", "*-*-* 9..17/2:0:00"),
            ("0 12 * * 0,7", "Sun *-*-* 12:0:00"),
        ])
    func calendar(cron: String, calendar: String) throws {
        #expect(try CronFields(cron).calendar() == calendar)
    }

    @Test(
        "is refused where systemd or a crontab cannot say it",
        arguments: ["0 3 * *", "0 3 * * mon", "0 3 1 * 1", "x", "0 0 * * 9"])
    func refused(cron: String) {
        #expect(throws: RunnerError.self) { try CronFields(cron).calendar() }
    }

    private func run(_ schedule: BundleSchedule) throws -> ScheduledRun {
        ScheduledRun(
            bundle: try Bundle(
                BundleSource(Array("name: n\nsteps: [{action: a}]".utf8), file: "/srv/it's 100%.yaml")),
            schedule: schedule, program: "/usr/bin/martlet", folder: "/srv", inputs: ["a=$HOME \"x\""])
    }

    @Test("is a unit and a line in which no character means more than itself")
    func quoting() throws {
        let run = try run(.every(.seconds(300)))
        #expect(
            run.service.contains(
                #"ExecStart="/usr/bin/martlet" "run" "start" "/srv/it's 100%%.yaml" "--input" "a=$$HOME \"x\"" "--no-input""#
            ))
        #expect(try run.timer().contains("OnUnitActiveSec=300000ms"))
        #expect(
            try run.line()
                == #"*/5 * * * * cd '/srv' && '/usr/bin/martlet' 'run' 'start' '/srv/it'\''s 100\%.yaml' '--input' 'a=$HOME "x"' '--no-input' # martlet: n"#
        )
    }

    @Test(
        "has an interval that a crontab can say, or is refused",
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

    @Test("is shown and not written, unless that is said")
    func shown() async throws {
        try await Desk.with { desk in
            let file = try desk.write("{name: hourly, schedule: {every: 1h}, steps: [{action: lab.echo}]}", "b.yaml")
            let shown = try await desk.perform("run.install", ["bundle": .string(file), "systemd": true]).json
            #expect(shown["written"] == false && shown["files"]?.array?.count == 2)
            #expect(desk.output.notices.joined().contains("OnUnitActiveSec=3600000ms"))
            #expect(throws: (any Error).self) { try desk.read(".config/systemd/user/martlet-hourly.timer") }
            _ = try await desk.perform("run.install", ["bundle": .string(file), "systemd": true, "write": true])
            #expect(try desk.read(".config/systemd/user/martlet-hourly.service").contains(file))
            await #expect(throws: RunnerError.self) { try await desk.perform("run.install", ["bundle": .string(file)]) }
        }
    }

    @Test("begins at each multiple of its interval, never twice at once, and leaves out what it has missed")
    func repetition() async throws {
        let clock = TestClock()
        let (starts, beginning) = (Starts(), clock.now)
        let repeating = Task {
            try await Repetition(every: .seconds(10), clock: clock).run {
                await starts.add(beginning.duration(to: clock.now))
                // The second takes longer than the interval.
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
