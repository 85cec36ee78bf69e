import Capabilities
import JSON
import Registry

extension HostFeature {
    static var doctorAction: Action {
        Action(
            "doctor", "Check that everything this build needs is there and healthy", .reads,
            .flag("strict", "Count warnings as failures"),
            .option("limit", "How long one check may take", default: Duration.seconds(5))
        ) { context, strict, limit in
            let checks = context.registry.checks
            let rows = await withTaskGroup(of: (Int, CheckRow).self) { group in
                for (index, check) in checks.enumerated() {
                    group.addTask { (index, CheckRow(check, await look(check, context.host, limit))) }
                }
                var rows: [(Int, CheckRow)] = []
                for await row in group {
                    rows.append(row)
                    context.progress("checking", completed: rows.count, of: checks.count)
                }
                return rows.sorted { $0.0 < $1.0 }.map(\.1)
            }
            return Diagnosis(rows: rows, isStrict: strict)
        }
        .always()
        .details(
            "Looks at the settings, the folders, the libraries and whatever each feature needs, and says how to mend "
                + "what is wrong. Ends with 0 when all is well or there are only warnings, with 1 when a check failed; "
                + "with --strict a warning is a failure."
        )
        .example("martlet doctor --strict", "In a script that must not go on with a warning")
    }
}

/// A check that does not answer in time has failed; it is cancelled and not waited for.
private func look(_ check: HealthCheck, _ host: Host, _ limit: Duration) async -> HealthCheck.Finding {
    let (answers, continuation) = AsyncStream<HealthCheck.Finding>.makeStream(bufferingPolicy: .bufferingOldest(1))
    // Owned here: it is cancelled below, and awaited by nobody because a check that hangs must not hang the doctor.
    let work = Task { continuation.yield(await check.look(host)) }
    let alarm = Task {
        try await host.clock.sleep(for: limit)
        continuation.yield(
            .failure(
                "no answer within \(limit.words)", mend: "give it more time with --limit, or see what it waits for"))
    }
    defer {
        work.cancel()
        alarm.cancel()
    }
    for await answer in answers { return answer }
    return .failure("the check was cancelled", mend: "run martlet doctor again")
}

private struct CheckRow: Record {
    let id: String
    let state: String
    let found: String
    let mend: String?

    init(_ check: HealthCheck, _ finding: HealthCheck.Finding) {
        id = check.id
        switch finding {
        case .ok(let found): (state, self.found, mend) = ("ok", found, nil)
        case .warning(let found, let mend): (state, self.found, self.mend) = ("warning", found, mend)
        case .failure(let found, let mend): (state, self.found, self.mend) = ("failed", found, mend)
        }
    }

    static let fields: [Field<CheckRow>] = [
        Field("id", "The check", .name) { $0.id },
        Field("state", "ok, warning or failed", .state) { $0.state },
        Field("found", "What was found") { $0.found },
        Field("mend", "What to do about it") { $0.mend },
    ]
}

/// The rows, and the exit code that they mean.
private struct Diagnosis: OutputValue {
    let rows: [CheckRow]
    let isStrict: Bool

    static var schema: Schema { [CheckRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode {
        rows.contains { $0.state == "failed" || isStrict && $0.state == "warning" } ? .failed : .done
    }
}
